// SPDX-License-Identifier: MIT
#include "run/comm/engine.hpp"

#include <unistd.h>

#include <algorithm>
#include <exception>

#include "chasqui/base/error.hpp"
#include "run/board/collectives.hpp"
#include "run/board/process_memory.hpp"
#include "run/board/slots.hpp"
#include "run/call/in_range.hpp"
#include "run/comm/operation.hpp"
#include "run/faults/departures.hpp"
#include "run/faults/kept.hpp"
#include "run/wait/backoff.hpp"

namespace chasqui::run {
namespace {

/// A call that has begun on the board.
template <typename Small>
Task going_on(Small state) {
  co_await until([&] { return state.poll(); });
}

Task passing_by(Board& board, Signature call) {
  board.pass_by(call);
  co_return;
}

Fabric completed(Fabric fabric) {
  CHASQUI_CHECK(fabric.size >= 1 && fabric.rank >= 0 && fabric.rank < fabric.size, "rank={} size={}", fabric.rank,
                fabric.size);
  if (fabric.profile == nullptr) fabric.profile = std::make_shared<const Profile>(default_profile());
  if (fabric.faults == nullptr && fabric.messages != nullptr) fabric.faults = std::make_shared<FaultChannel>();
  if (fabric.node_of.empty()) fabric.node_of.assign(static_cast<std::size_t>(fabric.size), 0);
  return fabric;
}

Topology topology_of(const Fabric& fabric, const NodeMap& nodes) {
  Topology topology;
  topology.ranks = fabric.size;
  topology.nodes = nodes.count();
  topology.largest_node = nodes.largest();
  topology.smallest_node = nodes.smallest();
  topology.ordered = nodes.ordered();
  topology.board = fabric.board != nullptr;
  topology.shares_memory = fabric.shares_memory;
  topology.cross_memory = topology.board_spans() && fabric.process_memory != nullptr;
  topology.lends_pages = topology.cross_memory && fabric.process_memory->lent() != nullptr;
  topology.messages = fabric.messages != nullptr;
  topology.native = fabric.native != nullptr;
  if (!topology.board) return topology;
  const BoardShape& shape = fabric.board->shape();
  topology.wide = shape.wide;
  if (topology.board_spans()) topology.near = shape.near;
  if (!topology.shares_memory) {  // of several boards the least that any has
    const auto stage =
        topology.board_spans() ? shape.stage : BoardShape::for_ranks(topology.largest_node, 256 * 1024).stage;
    topology.largest_element = stage / 4;
  }
  return topology;
}

/// Of the board on this rank's node.
BoardMethods board_methods_of(const Fabric& fabric, const Topology& topology) {
  if (!topology.board) return {};
  if (topology.board_spans()) return BoardMethods(topology, *fabric.profile);
  const BoardShape& shape = fabric.board->shape();
  return {line_costs(*fabric.profile, shape.ranks, shape.near), shape.wide, fabric.shares_memory};
}

Selection selection_of(const Fabric& fabric, const NodeMap& nodes) {
  const Topology topology = topology_of(fabric, nodes);
  return {topology, board_methods_of(fabric, topology), fabric.profile};
}

}  // namespace

Engine::Engine(Fabric fabric)
    : Comm(fabric.rank, fabric.size), fabric_(completed(std::move(fabric))), nodes_(fabric_.node_of),
      selection_(selection_of(fabric_, nodes_)), spans_(selection_.topology().board_spans()),
      tasks_(fabric_, nodes_, selection_, plans_), board_faults_(fabric_.board.get()),
      health_(rank_, size_, fabric_.patience,
              {fabric_.board != nullptr ? &board_faults_ : nullptr, spans_, fabric_.faults.get(),
               fabric_.departures.get()}),
      in_flight_(health_, rank_, size_, fabric_.timing.blocks), exceptions_(std::uncaught_exceptions()),
      process_(getpid()) {
  health_.skip_to(fabric_.calls_before);
  if (fabric_.board != nullptr && fabric_.calls_before != 0) fabric_.board->skip_to(fabric_.calls_before);
  if (fabric_.board != nullptr) fabric_.board->arrange(selection_.board_methods().groups());
  if (fabric_.board != nullptr && !spans_) {
    const std::vector<int> here = nodes_.members(nodes_.node_of(rank_));
    fabric_.board->name_ranks(here);
    if (fabric_.process_memory != nullptr) fabric_.process_memory->name_ranks(here);
  }
}

bool Engine::forked() const { return getpid() != process_; }

/// Of a copy in a forked process. Nothing is said to the others, and nothing is given back that both have: who closes a
/// connection, or takes back a message, does so for both.
void Engine::leave_to_parent() {
  in_flight_.keep_all();
  keep_for_ever(new Fabric(std::move(fabric_)));
}

Engine::~Engine() {
  in_flight_.leave_thread();
  if (forked()) {
    leave_to_parent();
    return;
  }
  if (std::uncaught_exceptions() > exceptions_ && health_.usable()) {
    try {
      const std::string& before = last_error_here();
      leave(before.empty() ? "an exception" : fmt::format("an exception; the last error there: {}", before));
    } catch (...) {  // nobody is left to tell
    }
  }
  rest();  // last: who sees that this rank has left sees why
}

void Engine::check_arguments(const Call& call) {
  refusing([&] { validate(call, rank_, size_); });
}

void Engine::refuse_call(const std::string& why) {
  const std::uint64_t number = health_.next();
  note(number, {});
  if (fabric_.board != nullptr && !spans_) pass_by(number, {});  // so does nobody else on this node, or all fail
  health_.refuse(number, why);
}

/// A board that spans all ranks remembers all calls, in their order: those that go over it when they begin there.
void Engine::note(std::uint64_t number, const Signature& call, bool on_board) {
  health_.note(number, call);
  if (spans_ && !on_board) pass_by(number, call);
}

/// The board counts this call too, after those under way on it.
void Engine::pass_by(std::uint64_t number, const Signature& call) {
  if (in_flight_.none()) return fabric_.board->pass_by(call);
  auto operation = std::make_shared<Operation>();
  operation->number = number;
  operation->uses_board = true;
  operation->activity.emplace(passing_by(*fabric_.board, call));
  in_flight_.add(std::move(operation));
}

void Engine::retire(const std::string& why) {
  health_.retire(why);
  in_flight_.end_all(std::make_exception_ptr(Error("{}", why)));
}

void Engine::look_for_failure(std::uint64_t number) {
  if (fabric_.idle) fabric_.idle();
  in_flight_.advance_others();
  if (!health_.look(number)) return;
  if (const std::string found = compare_calls(number); !found.empty()) throw Error("{}", found);
  if (fabric_.answer_others) fabric_.answer_others(*this);
}

std::string Engine::compare_calls(std::uint64_t number, bool leaves) {
  std::vector<std::uint64_t> waiting = in_flight_.numbers();
  if (waiting.empty() && number != 0) waiting.push_back(number);
  return spans_ ? health_.compare(fabric_.board->calls(), fabric_.board->current(), waiting, leaves)
                : health_.compare(health_.history(), health_.last(), waiting, leaves);
}

void Engine::answer(bool leaves) {
  if (!health_.may_answer()) return;
  if (const std::string found = compare_calls(0, leaves); !found.empty()) health_.retire(found);
}

/// A forced method runs as it is, or not at all.
void Engine::check_forced(const Call& call, Among among) {
  if (!selection_.forced()) return;
  const std::string why = selection_.objection(call, among);
  const auto method = to_string(selection_.choose(call, among).method);
  if (!why.empty()) refuse(fmt::format("{} by {}: {}", to_string(call.kind), method, why));
}

void Engine::forget_methods() {
  methods_run_ = 0;
  if (fabric_.board != nullptr) fabric_.board->forget_methods();
}

/// A long call on the board: a task, but it waits for nothing else that is in flight, and nobody asks for it.
void Engine::run_long(const Call& call, Method method) {
  constexpr std::size_t kSettleFrom = 256 * 1024;  // bytes: shorter ones find out while they wait
  const std::uint64_t number = health_.next();
  health_.moved();
  if (call.bytes() >= kSettleFrom) fabric_.board->settle();
  try {
    Activity activity(tasks_.on_board(call, method));
    Backoff backoff(fabric_.board->crowded());
    for (auto moved = activity.moved(); !activity.poll();) {
      if (activity.moved() != moved) {
        moved = activity.moved();
        backoff.reset();
        health_.moved();
      } else if (backoff.pause()) {
        fabric_.board->settle();
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
  note(number, signature_of(call));
  ran(Method::native);
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
  return or_broken([&]() -> Request {
    auto operation = std::make_shared<Operation>();
    operation->number = health_.next();
    operation->kept = std::move(kept);
    note(operation->number, Signature::own());
    operation->activity.emplace(make(tasks_.all_ranks(tag_of_own(operation->number))));
    in_flight_.add(operation);
    return {this, operation};
  });
}

/// REQUIRES that nothing is in flight. No allocation for a call that ends in its turns.
template <typename Small>
void Engine::begin_small(const Call& call, int turns, Request& request) {
  const std::uint64_t number = health_.next();
  try {
    Small small(*fabric_.board, call);
    for (int turn = 0; turn < turns; ++turn) {
      if (small.poll()) return;
    }
    auto operation = std::make_shared<Operation>();
    operation->number = number;
    operation->uses_board = true;
    note(number, signature_of(call), true);
    operation->activity.emplace(going_on(small));
    in_flight_.add(operation);
    request = {this, operation};
  } catch (...) {
    health_.fail(number);
    throw;
  }
}

void Engine::begin_at_once(const Call& call, int turns, bool again, Request& request) {
  check_usable();
  const bool good = call.plain() && (again || in_range(call, rank_, size_));
  if (good && !call.op.in_order && selection_.by_table() && in_flight_.none()) {
    switch (selection_.board_methods().ours(call.kind, call.bytes(), call.element).value_or(Method::native)) {
      case Method::slots: return begin_small<SlotCall>(call, turns, request);
      case Method::relay: return begin_small<Relay>(call, turns, request);
      case Method::grouped_fold: return begin_small<GroupedFold>(call, turns, request);
      case Method::level_fold: return begin_small<LevelFold>(call, turns, request);
      case Method::shared_fold: return begin_small<SharedFold>(call, turns, request);
      default: break;
    }
  }
  request = begin(call, nullptr);
}

/// All that is in flight here, to its end. A failure is its request's.
void Engine::finish_in_flight() {
  while (!in_flight_.none()) {
    const auto operation = in_flight_.oldest();
    if (operation->finished) in_flight_.forget(*operation);
    else wait(*operation);
  }
}

void Engine::wait(Operation& operation) {
  constexpr std::size_t kAskedBetweenPauses = 64;
  Backoff backoff(crowded());
  const auto moved = [&] { return fabric_.messages ? fabric_.messages->moved() : std::nullopt; };
  auto seen = moved();
  const bool may_sleep = spans_ || fabric_.shares_memory || seen;
  health_.moved();
  const bool blocks = fabric_.timing.blocks;
  std::size_t asked = 0;  // since something moved, or since the last pause
  while (!operation.finished) {
    if (advance_some(operation)) {
      backoff.reset();
      asked = 0;
      continue;
    }
    if (const auto now = moved(); now != seen) {
      seen = now;
      backoff.reset();
    }
    asked += InFlight::kOthersAtATime;
    if (asked < (blocks ? in_flight_.size() : std::min(in_flight_.size(), kAskedBetweenPauses))) continue;
    asked = 0;
    if (blocks) {
      const auto& activity =
          operation.activity->waiting() != nullptr ? operation.activity : in_flight_.oldest()->activity;
      if (activity && activity->waiting() != nullptr)
        activity->waiting()->block();  // one held back waits for the first
    } else if (backoff.pause(may_sleep)) {
      try {
        look_for_failure(operation.number);
      } catch (...) {
        in_flight_.fail(operation);
        in_flight_.forget(operation);
      }
    }
  }
}

void Engine::look_at(Operation& operation) {
  try {
    look_for_failure(operation.number);
  } catch (...) {
    in_flight_.fail(operation);
  }
}

std::unique_ptr<Comm> make_comm(Fabric fabric) { return std::make_unique<Engine>(std::move(fabric)); }
const Fabric& fabric_of(const Comm& comm) { return Engine::of(comm).fabric(); }
int node_of(const Comm& comm, int rank) { return fabric_of(comm).node_of[static_cast<std::size_t>(rank)]; }
bool crowded(const Comm& comm) { return Engine::of(comm).crowded(); }
Request launch(Comm& comm, const std::function<Task(Group)>& make, std::shared_ptr<const void> kept) {
  return Engine::of(comm).launch(make, std::move(kept));
}
void start_at_once(Comm& comm, const Call& call, int turns, bool again, Request& request) {
  Engine::of(comm).begin_at_once(call, turns, again, request);
}
void answer(Comm& comm, bool leaves) { Engine::of(comm).answer(leaves); }
void set_timeout(Comm& comm, double seconds) { Engine::of(comm).set_timeout(seconds); }
void rest(Comm& comm) { Engine::of(comm).rest(); }
void resume(Comm& comm) { Engine::of(comm).resume(); }
bool broken(const Comm& comm) { return Engine::of(comm).broken(); }
CallNumbers call_numbers(const Comm& comm) { return Engine::of(comm).call_numbers(); }
void call_elsewhere(Comm& comm) {
  if (Board* const board = fabric_of(comm).board.get(); board != nullptr) board->call_elsewhere();
}
void retire(Comm& comm, const std::string& why) { Engine::of(comm).retire(why); }

}  // namespace chasqui::run
