// SPDX-License-Identifier: MIT
#include "run/comm/engine.hpp"

#include <algorithm>
#include <exception>

#include "chasqui/base/error.hpp"
#include "run/board/collectives.hpp"
#include "run/board/process_memory.hpp"
#include "run/board/slots.hpp"
#include "run/call/alone.hpp"
#include "run/comm/operation.hpp"
#include "run/faults/departures.hpp"
#include "run/messages/builders.hpp"
#include "run/wait/backoff.hpp"

namespace chasqui::run {
namespace {

template <typename State>
Task small(Board& board, Call call) {
  State state(board, call);
  co_await until([&] { return state.poll(); });
}

Task passing_by(Board& board, Called call) {
  board.pass_by(call);
  co_return;
}

Fabric completed(Fabric fabric) {
  CHASQUI_CHECK(fabric.size >= 1 && fabric.rank >= 0 && fabric.rank < fabric.size, "rank={} size={}", fabric.rank,
                fabric.size);
  if (fabric.profile == nullptr) fabric.profile = std::make_shared<const Profile>(default_profile());
  if (fabric.node_of.empty()) fabric.node_of.assign(static_cast<std::size_t>(fabric.size), 0);
  return fabric;
}

}  // namespace

Engine::Engine(Fabric fabric)
    : Comm(fabric.rank, fabric.size), fabric_(completed(std::move(fabric))), nodes_(fabric_.node_of),
      spans_(fabric_.board != nullptr && nodes_.count() == 1), board_faults_(fabric_.board.get()),
      health_(rank_, size_, fabric_.patience,
              {fabric_.board != nullptr ? &board_faults_ : nullptr, spans_, fabric_.messages.get(),
               fabric_.departures.get()}),
      exceptions_(std::uncaught_exceptions()) {
  if (fabric_.board != nullptr) {
    const Level* node = fabric_.profile->level("node");
    fabric_.board->arrange(node != nullptr ? node->publish.value : 0,
                           node != nullptr ? node->publish_per_rank.value : 0, fabric_.shares_memory);
  }
  terrain_.ranks = size_;
  terrain_.nodes = nodes_.count();
  terrain_.board = fabric_.board != nullptr;
  terrain_.shares_memory = fabric_.shares_memory;
  terrain_.reaches = spans_ && fabric_.reach != nullptr;
  terrain_.messages = fabric_.messages != nullptr;
  terrain_.ordered = nodes_.ordered();
  terrain_.largest_node = nodes_.largest();
  if (fabric_.board != nullptr && !fabric_.shares_memory) {  // of several boards the least that any has
    const auto stage =
        spans_ ? fabric_.board->shape().stage : BoardShape::for_ranks(terrain_.largest_node, 256 * 1024).stage;
    terrain_.largest_element = stage / 4;
  }
  if (fabric_.board != nullptr && !spans_) fabric_.board->name_ranks(nodes_.members(nodes_.node_of(rank_)));
}

Engine::~Engine() {
  progress_.leave();
  rest();
  if (std::uncaught_exceptions() <= exceptions_ || !health_.usable()) return;
  try {
    leave("an exception");
  } catch (...) {  // nobody is left to tell
  }
}

void Engine::check_arguments(const Call& call) {
  try {
    validate(call, rank_, size_);
  } catch (const Error& error) {
    refuse(error.what());
  }
}

void Engine::refuse_call(const std::string& why) {
  const std::uint64_t number = health_.next();
  note(number, {});
  if (fabric_.board != nullptr && !spans_) pass_by(number, {});  // so does nobody else on this node, or all fail
  health_.refuse(number, why);
}

/// A board that spans all ranks remembers all calls, in their order: those that go over it when they begin there.
void Engine::note(std::uint64_t number, const Called& call, bool on_board) {
  health_.note(number, call);
  if (spans_ && !on_board) pass_by(number, call);
}

/// The board counts this call too, after those under way on it.
void Engine::pass_by(std::uint64_t number, const Called& call) {
  if (nothing_in_flight()) return fabric_.board->pass_by(call);
  auto operation = std::make_shared<Operation>();
  operation->number = number;
  operation->uses_board = true;
  operation->activity.emplace(passing_by(*fabric_.board, call));
  take_in_flight(std::move(operation));
}

void Engine::retire(const std::string& why) {
  health_.retire(why);
  for (const auto& operation : pending_) {
    if (!operation->finished) operation->error = std::make_exception_ptr(Error("{}", why));
    operation->finished = true;
  }
}

void Engine::look_for_failure(std::uint64_t number) {
  if (fabric_.idle) fabric_.idle();
  ThreadProgress::advance_beside(*this);
  if (!health_.look(number)) return;
  if (const std::string found = compare_calls(number); !found.empty()) throw Error("{}", found);
  if (fabric_.answer_others) fabric_.answer_others(*this);
}

std::string Engine::compare_calls(std::uint64_t number) {
  std::vector<std::uint64_t> waiting;
  for (const auto& operation : pending_) waiting.push_back(operation->number);
  if (waiting.empty() && number != 0) waiting.push_back(number);
  return spans_ ? health_.compare(fabric_.board->calls(), fabric_.board->current(), waiting)
                : health_.compare(health_.history(), health_.last(), waiting);
}

void Engine::answer() {
  if (!health_.may_answer()) return;
  if (const std::string found = compare_calls(0); !found.empty()) health_.retire(found);
}

/// own: the library's collective is left out, as it cannot be started.
const Choice& Engine::choose(const Call& call, bool own) {
  const auto native = [](const Choice& choice) { return choice.method == Method::native; };
  if (forced_ && !(own && native(*forced_))) return *forced_;
  const PlanCache::ChoiceKey key{call.kind, call.bytes(), call.element, call.op.commutative, own};
  if (const auto found = plans_.choices.find(key); found != plans_.choices.end()) return found->second;
  if (plans_.choices.size() >= PlanCache::kMost) plans_.choices.clear();
  const auto list = choices_for(call);
  const auto chosen = own ? std::find_if_not(list.begin(), list.end(), native) : list.begin();
  return plans_.choices.emplace(key, chosen != list.end() ? *chosen : Choice{}).first->second;
}

Task Engine::on_board(Call call) {
  switch (way_of(*fabric_.board, call)) {
    case Way::slots: return small<SmallCall>(*fabric_.board, call);
    case Way::led: return small<LedFold>(*fabric_.board, call);
    case Way::dealt:
    case Way::lent: return small<DealtFold>(*fabric_.board, call);
    case Way::direct: return direct(*fabric_.board, call);
    default: return staged(*fabric_.board, call);
  }
}

Task Engine::task_of(Call call, Choice choice, std::uint32_t tag) {
  switch (choice.method) {
    case Method::slots:
    case Method::staged:
    case Method::direct:
      if (fabric_.board != nullptr) return on_board(call);
      break;
    case Method::across:  // forced, maybe, for a call that has no such way
      if (terrain_.reaches && goes_across(call.kind) && call.bytes() > kSlotPayload) {
        return across(*fabric_.board, *fabric_.reach, call);
      }
      if (fabric_.board != nullptr) return on_board(call);
      break;
    case Method::two_level: return two_level(call, tag);
    default: break;
  }
  Group group{fabric_.messages.get(), {}, rank_, size_, tag};
  return by_messages(std::move(group), call, choice);
}

std::shared_ptr<const Program> Engine::program_for(const Group& group, const Call& call, const Choice& choice) {
  const Shape shape = shape_of(call, group.rank, group.size);
  return plans_.program({shape, choice.method, choice.parts, false}, [&] {
    return program_of(shape, choice.method, choice.parts, message_level(terrain_, *fabric_.profile), *fabric_.profile);
  });
}

Task Engine::by_messages(Group group, Call call, Choice choice) {
  if (group.size == 1) {
    run_alone(call);
    co_return;
  }
  const Buffers buffers = buffers_of(call, group.rank);
  auto program = program_for(group, call, choice);
  co_await play(std::move(group), std::move(program), buffers, call.op);
}

/// The same for long calls: a task, but no table, no queue.
void Engine::run_on_board(const Call& call, bool reaching) {
  const std::uint64_t number = health_.next();
  health_.moved();
  try {
    Activity activity(reaching ? across(*fabric_.board, *fabric_.reach, call) : on_board(call));
    Backoff backoff(fabric_.board->crowded());
    for (auto resumed = activity.resumed(); !activity.poll();) {
      if (activity.resumed() != resumed) {
        resumed = activity.resumed();
        backoff.reset();
        health_.moved();
      } else if (backoff.pause()) {
        look_for_failure(number);
      }
    }
  } catch (...) {
    health_.fail(number);
    throw;
  }
}

/// REQUIRES contiguous layouts. All ranks come here, whatever else each has in flight. The library knows nothing of that and waits for its own
/// messages only, so it is finished first: the others wait for this rank's part of it before they come.
void Engine::run_native(const Call& call) {
  finish_in_flight();
  check_usable();
  const std::uint64_t number = health_.next();
  note(number, called(call));
  try {
    fabric_.native(call);
  } catch (...) {
    health_.fail(number);
    throw;
  }
}

Request Engine::launch(const std::function<Task(Group)>& make, std::shared_ptr<const void> kept) {
  check_usable();
  if (fabric_.messages == nullptr) refuse("this communicator has no messages between its ranks");
  auto operation = std::make_shared<Operation>();
  operation->number = health_.next();
  operation->kept = std::move(kept);
  note(operation->number, Called::own());
  operation->activity.emplace(make({fabric_.messages.get(), {}, rank_, size_, tag_of_own(operation->number)}));
  take_in_flight(operation);
  return {this, operation};
}

void Engine::fail(Operation& operation, std::exception_ptr error) {
  operation.finished = true;
  operation.error = error;
  operation.activity.reset();  // abandons its messages
  try {
    std::rethrow_exception(error);
  } catch (...) {
    health_.fail(operation.number);
  }
}

bool Engine::advance(Operation& operation) {
  const auto before = operation.activity->resumed();
  try {
    if (operation.activity->poll()) {
      operation.finished = true;
      operation.packed.deliver(rank_, size());
    }
  } catch (...) {
    fail(operation, std::current_exception());
  }
  return operation.finished || operation.activity->resumed() != before;
}

void Engine::wait(Operation& operation) {
  Backoff backoff(crowded());
  const bool may_sleep = spans_ || fabric_.shares_memory;
  health_.moved();
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

void Engine::look_at(Operation& operation) {
  try {
    look_for_failure(operation.number);
  } catch (...) {
    fail(operation, std::current_exception());
  }
}

std::unique_ptr<Comm> make_comm(Fabric fabric) { return std::make_unique<Engine>(std::move(fabric)); }
const Fabric& fabric_of(const Comm& comm) { return Engine::of(comm).fabric(); }
int node_of(const Comm& comm, int rank) { return fabric_of(comm).node_of[static_cast<std::size_t>(rank)]; }
bool crowded(const Comm& comm) { return Engine::of(comm).crowded(); }
Request launch(Comm& comm, const std::function<Task(Group)>& make, std::shared_ptr<const void> kept) {
  return Engine::of(comm).launch(make, std::move(kept));
}
void answer(Comm& comm) { Engine::of(comm).answer(); }
void rest(Comm& comm) { Engine::of(comm).rest(); }
void resume(Comm& comm) { Engine::of(comm).resume(); }
void retire(Comm& comm, const std::string& why) { Engine::of(comm).retire(why); }

}  // namespace chasqui::run
