// SPDX-License-Identifier: MIT
#include "chasqui/run/comm.hpp"

#include <algorithm>
#include <exception>

#include "chasqui/base/error.hpp"
#include "run/board/collectives.hpp"
#include "run/board/slots.hpp"
#include "run/call/alone.hpp"
#include "run/comm/operation.hpp"
#include "run/comm/plan_cache.hpp"
#include "run/wait/backoff.hpp"

namespace chasqui::run {
namespace {

constexpr std::uint64_t kForever = ~std::uint64_t{0} >> 1;

Task passing_by(Board& board, Called call) {
  board.pass_by(call);
  co_return;
}

}  // namespace

Comm::Comm(Fabric fabric)
    : fabric_(std::move(fabric)), stall_(fabric_.rank, fabric_.size, fabric_.patience),
      exceptions_(std::uncaught_exceptions()), cached_(std::make_unique<Cached>()) {
  CHASQUI_CHECK(fabric_.size >= 1 && fabric_.rank >= 0 && fabric_.rank < fabric_.size, "rank={} size={}", fabric_.rank,
                fabric_.size);
  if (fabric_.profile == nullptr) fabric_.profile = std::make_shared<const Profile>(default_profile());
  auto& nodes = fabric_.node_of;
  if (nodes.empty()) nodes.assign(static_cast<std::size_t>(fabric_.size), 0);
  place_.resize(nodes.size());
  for (int r = 0; r < fabric_.size; ++r) {
    const auto node = static_cast<std::size_t>(nodes[static_cast<std::size_t>(r)]);
    if (node >= nodes_.size()) nodes_.resize(node + 1);
    place_[static_cast<std::size_t>(r)] = static_cast<int>(nodes_[node].size());
    nodes_[node].push_back(r);
  }
  if (fabric_.board != nullptr) {
    const Level* node = profile().level("node");
    fabric_.board->arrange(node != nullptr ? node->publish.value : 0,
                           node != nullptr ? node->publish_per_rank.value : 0, fabric_.shares_memory);
  }
  terrain_.ranks = fabric_.size;
  terrain_.nodes = static_cast<int>(nodes_.size());
  terrain_.board = fabric_.board != nullptr;
  spans_ = terrain_.board && terrain_.nodes == 1;
  terrain_.shares_memory = fabric_.shares_memory;
  terrain_.reaches = board_spans_all() && fabric_.reach != nullptr;
  terrain_.messages = fabric_.messages != nullptr;
  terrain_.ordered = std::is_sorted(nodes.begin(), nodes.end());
  for (const auto& members : nodes_) {
    terrain_.largest_node = std::max(terrain_.largest_node, static_cast<int>(members.size()));
  }
  if (fabric_.board != nullptr && !fabric_.shares_memory) {  // of several boards the least that any has
    const auto stage = board_spans_all() ? fabric_.board->shape().stage
                                         : BoardShape::for_ranks(terrain_.largest_node, 256 * 1024).stage;
    terrain_.largest_element = stage / 4;
  }
  if (fabric_.board != nullptr && !board_spans_all()) {
    fabric_.board->name_ranks(nodes_[static_cast<std::size_t>(nodes[static_cast<std::size_t>(fabric_.rank)])]);
  }
}

Comm::~Comm() {
  in_flight_.leave();
  rest();
  if (std::uncaught_exceptions() <= exceptions_ || !broken_.empty()) return;
  try {
    leave("an exception");
  } catch (...) {  // nobody is left to tell
  }
}

void Comm::throw_broken() const { throw Error("this communicator failed before: {}", broken_); }

void Comm::check_arguments(const Call& call) {
  try {
    validate(call, fabric_.rank, fabric_.size);
  } catch (const Error& error) {
    refuse(error.what());
  }
}

void Comm::refuse(const std::string& why) {
  const std::uint64_t number = ++number_;
  note(number, {});
  if (fabric_.board != nullptr && !board_spans_all())
    pass_by(number, {});  // so does nobody else on this node, or all fail
  refused_.push_back(number);
  if (fabric_.board != nullptr) fabric_.board->refuse(number);
  if (fabric_.messages != nullptr && !board_spans_all()) {
    fabric_.messages->refuse(number, fmt::format("rank {}: {}", fabric_.rank, why));
  }
  throw Error("{}", why);
}

/// A board that spans all ranks remembers all calls, in their order: those that go over it when they begin there.
void Comm::note(std::uint64_t number, const Called& call, bool on_board) {
  if (!board_spans_all()) calls_.note(number, call);
  else if (!on_board) pass_by(number, call);
}

/// The board counts this call too, after those under way on it.
void Comm::pass_by(std::uint64_t number, const Called& call) {
  if (nothing_in_flight()) return fabric_.board->pass_by(call);
  auto operation = std::make_shared<Operation>();
  operation->number = number;
  operation->uses_board = true;
  operation->activity.emplace(passing_by(*fabric_.board, call));
  take_in_flight(std::move(operation));
}

void Comm::report(std::uint64_t first, std::uint64_t last, const std::string& why) {
  if (fabric_.size == 1) return;
  if (fabric_.board != nullptr) {
    fabric_.board->report(first, last, why);
    fabric_.board->withdraw();
  }
  if (board_spans_all()) return;
  if (fabric_.messages != nullptr) fabric_.messages->report(first, last, why);
}

/// A collective failed here: this communicator is of no use any more, anywhere. REQUIRES the exception being handled.
void Comm::give_up(std::uint64_t number) {
  try {
    throw;
  } catch (const std::exception& error) {
    broken_ = error.what();
  } catch (...) {
    broken_ = "an operator threw something that is no std::exception";
  }
  report(number, kForever, fmt::format("rank {}: {}", fabric_.rank, broken_));
}

void Comm::leave(const std::string& why) {
  if (broken_.empty()) broken_ = why;
  report(number_, kForever, fmt::format("rank {} left: {}", fabric_.rank, why));
}

void Comm::rest() {
  if (fabric_.departures != nullptr) fabric_.departures->leave(rank(), number_);
}

void Comm::resume() {
  if (fabric_.departures != nullptr) fabric_.departures->back(rank());
}

void Comm::retire(const std::string& why) {
  if (broken_.empty()) broken_ = why;
  for (const auto& operation : pending_) {
    if (!operation->finished) operation->error = std::make_exception_ptr(Error("{}", why));
    operation->finished = true;
  }
}

void Comm::look_for_failure(std::uint64_t number) {
  if (fabric_.idle) fabric_.idle();
  InFlight::advance_beside(*this);
  // Asked first and said last: why a rank has left is a better answer than that it has.
  const bool alone = fabric_.departures != nullptr && fabric_.departures->concerns(number);
  if (fabric_.board != nullptr && fabric_.board->failed(number, refused_)) throw Error("{}", fabric_.board->failure());
  if (fabric_.board != nullptr && (alone || ++looks_ % 16 == 0)) fabric_.board->compare_calls();
  if (fabric_.messages == nullptr) return;
  if (!board_spans_all() && fabric_.messages->failed(number, refused_)) throw Error("{}", fabric_.messages->failure());
  if (alone) fabric_.departures->fail(number);
  if (!stall_.due()) return;
  // Nothing moves, and another call failed: whoever this one waits for may have left.
  if (!broken_.empty()) throw Error("{}", broken_);
  if (fabric_.board != nullptr && fabric_.board->broken()) throw Error("{}", fabric_.board->failure());
  if (fabric_.messages->broken()) throw Error("{}", fabric_.messages->failure());
  if (const auto found = compare_calls(number)) throw Error("{}", found->what);
  if (fabric_.elsewhere) fabric_.elsewhere(*this);
}

/// Everybody hears of what is found: those who wait in that call, too, when this rank has got further.
std::optional<Disagreement> Comm::compare_calls(std::uint64_t number) {
  std::vector<std::uint64_t> waiting;
  for (const auto& operation : pending_) waiting.push_back(operation->number);
  if (waiting.empty() && number != 0) waiting.push_back(number);
  auto found = board_spans_all()
                   ? stall_.look(*fabric_.messages, fabric_.board->calls(), fabric_.board->current(), waiting)
                   : stall_.look(*fabric_.messages, calls_, number_, waiting);
  if (found) report(found->number, kForever, fmt::format("rank {}: {}", fabric_.rank, found->what));
  return found;
}

void Comm::answer() {
  if (!broken_.empty() || fabric_.messages == nullptr || !stall_.due()) return;
  if (const auto found = compare_calls(0)) broken_ = found->what;
}

template <typename Small>
void Comm::wait_for(Small& small, std::uint64_t number) {
  stall_.moved();
  const bool crowded = fabric_.board->crowded();
  for (Backoff backoff(crowded, Backoff::looks(crowded)); !small.poll();) {
    if (backoff.pause()) look_for_failure(number);
  }
}

/// The fast path: no allocation, no table.
template <typename Small>
void Comm::run_small(const Call& call) {
  const std::uint64_t number = ++number_;
  try {
    Small small(*fabric_.board, call);
    if (!small.poll()) wait_for(small, number);
  } catch (...) {
    give_up(number);
    throw;
  }
}

void Comm::run(const Call& call) {
  check_usable();
  if (!acceptable(call, fabric_.rank, fabric_.size)) check_arguments(call);
  if (!call.contiguous()) return run_packed(call);
  // What runs follows from arguments and profile alone: other ranks may have something else in flight.
  const bool here = nothing_in_flight();
  if (fabric_.size == 1 && here) {
    ++number_;
    return run_alone(call);
  }
  if (board_spans_all() && !forced_) {
    // The board is the choice, unless the library's own collective was measured to be faster.
    const auto asks = [&] {
      const bool measured = fabric_.native && !profile().native.empty();
      return measured || (terrain_.reaches && call.bytes() >= kReachFrom) || call.element > terrain_.largest_element;
    };
    const Method method = call.bytes() > kSlotPayload && asks() ? choose(call).method : Method::staged;
    if (method == Method::native) return run_native(call);
    if (here && method == Method::across) return run_on_board(call, true);
    if (here && (method == Method::staged || method == Method::slots || method == Method::direct)) {
      switch (way_of(*fabric_.board, call)) {
        case Way::slots: return run_small<SmallCall>(call);
        case Way::led: return run_small<LedFold>(call);
        case Way::dealt:
        case Way::lent: return run_small<DealtFold>(call);
        default: return run_on_board(call, false);
      }
    }
  } else {
    if (here && !forced_ && run_rehearsed(call)) return;
    if (fabric_.native && choose(call).method == Method::native) return run_native(call);
  }
  start(call).wait();
}

void Comm::run_packed(const Call& call) {
  const Packed packed(call, rank(), size());
  run(packed.call);
  try {
    packed.deliver(rank(), size());
  } catch (...) {
    give_up(number_);
    throw;
  }
}

/// The same for long calls: a task, but no table, no queue.
void Comm::run_on_board(const Call& call, bool reaching) {
  const std::uint64_t number = ++number_;
  stall_.moved();
  try {
    Activity activity(reaching ? across(*fabric_.board, *fabric_.reach, call) : on_board(call));
    Backoff backoff(fabric_.board->crowded());
    for (auto resumed = activity.resumed(); !activity.poll();) {
      if (activity.resumed() != resumed) {
        resumed = activity.resumed();
        backoff.reset();
        stall_.moved();
      } else if (backoff.pause()) {
        look_for_failure(number);
      }
    }
  } catch (...) {
    give_up(number);
    throw;
  }
}

Request Comm::start(const Call& call, std::shared_ptr<const void> kept) {
  check_usable();
  check_arguments(call);
  auto operation = std::make_shared<Operation>(call, rank(), size());
  operation->kept = std::move(kept);
  operation->number = ++number_;
  const Call& packed = operation->packed.call;
  const Choice& chosen = choose(packed, true);
  const Choice choice{
      chosen.method, chosen.nanoseconds, chosen.parts, {}};  // its words would be copied from task to task
  operation->uses_board =
      fabric_.board != nullptr &&
      (choice.method == Method::slots || choice.method == Method::staged || choice.method == Method::direct ||
       choice.method == Method::across || choice.method == Method::two_level);
  note(operation->number, called(call), operation->uses_board);
  operation->activity.emplace(task_of(packed, choice, tag_of(operation->number, call.kind)));
  take_in_flight(operation);
  return {this, operation};
}

Request Comm::launch(const std::function<Task(Group)>& make, std::shared_ptr<const void> kept) {
  check_usable();
  if (fabric_.messages == nullptr) refuse("this communicator has no messages between its ranks");
  auto operation = std::make_shared<Operation>();
  operation->number = ++number_;
  operation->kept = std::move(kept);
  note(operation->number, Called::own());
  operation->activity.emplace(
      make({fabric_.messages.get(), {}, fabric_.rank, fabric_.size, tag_of_own(operation->number)}));
  take_in_flight(operation);
  return {this, operation};
}

void Comm::fail(Operation& operation, std::exception_ptr error) {
  operation.finished = true;
  operation.error = error;
  operation.activity.reset();  // abandons its messages
  try {
    std::rethrow_exception(error);
  } catch (...) {
    give_up(operation.number);
  }
}

bool Comm::advance(Operation& operation) {
  const auto before = operation.activity->resumed();
  try {
    if (operation.activity->poll()) {
      operation.finished = true;
      operation.packed.deliver(rank(), size());
    }
  } catch (...) {
    fail(operation, std::current_exception());
  }
  return operation.finished || operation.activity->resumed() != before;
}

void Comm::wait(Operation& operation) {
  Backoff backoff(crowded());
  const bool may_sleep = board_spans_all() || fabric_.shares_memory;
  stall_.moved();
  while (!operation.finished) {
    if (progress()) {
      backoff.reset();
    } else if (fabric_.messages != nullptr && fabric_.messages->blocks()) {
      if (auto* waiting = operation.activity->waiting()) waiting->block();
    } else if (backoff.pause(may_sleep)) {
      try {
        look_for_failure(operation.number);
      } catch (...) {
        fail(operation, std::current_exception());
        std::erase_if(pending_, [&](const auto& other) { return other.get() == &operation; });
      }
    }
  }
}

std::unique_ptr<Comm> Comm::split(int colour, int key) {
  check_usable();
  if (!fabric_.split) throw Error("this communicator cannot be split");
  finish_in_flight();
  check_usable();
  return fabric_.split(*this, colour, key);
}

Request::Request() = default;
Request::Request(Comm* comm, std::shared_ptr<Operation> operation) : comm_(comm), operation_(std::move(operation)) {}

bool Request::test() {
  if (operation_ == nullptr) return true;
  if (!operation_->finished) {
    comm_->progress();
    if (!operation_->finished) {
      try {
        comm_->look_for_failure(operation_->number);
      } catch (...) {
        comm_->fail(*operation_, std::current_exception());
      }
    }
  }
  if (!operation_->finished) return false;
  const auto operation = std::move(operation_);
  operation_ = nullptr;
  if (operation->error) std::rethrow_exception(operation->error);
  return true;
}

void Request::wait() {
  if (operation_ == nullptr) return;
  comm_->wait(*operation_);
  const auto operation = std::move(operation_);
  operation_ = nullptr;
  if (operation->error) std::rethrow_exception(operation->error);
}

}  // namespace chasqui::run
