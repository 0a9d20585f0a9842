// SPDX-License-Identifier: MIT
#include <limits>
#include <optional>

#include "run/call/aligned_buffer.hpp"
#include "run/messages/builders.hpp"

namespace chasqui::run {
namespace {

/// One message of an item: when it goes, and which bytes of the buffer it is.
struct Move {
  Step step;
  std::size_t offset;
  std::size_t bytes;
  std::int32_t post = 0;
};

/// All of this rank, in order, but those of no bytes; a single item of no bytes travels, as others wait for it.
std::vector<Move> moves_of(const LocalPlan& plan, const Items& items) {
  const auto begin = [&](std::int64_t item) {
    return share_begin(items.count, static_cast<int>(items.items), static_cast<int>(item)) * items.element;
  };
  std::vector<Move> moves;
  for (const Step& step : steps_of(plan)) {
    const std::size_t offset = begin(step.part.lo);
    const std::size_t bytes = begin(step.part.lo + 1) - offset;
    if (bytes != 0 || items.items == 1) moves.push_back({step, offset, bytes});
  }
  return moves;
}

/// When the plan's time 0 is: now where this rank sends first (backwards in time it begins at the end), else messages tell.
void begin_paced(Program& program, const LocalPlan& plan, const std::vector<Move>& moves) {
  if (plan.pace.tick <= 0) return;
  const bool sends_first = !moves.empty() && !moves[0].step.receives;
  const double ahead = plan.reversed ? plan.pace.tick * static_cast<double>(plan.pace.finish.ticks) : 0;
  program.begin(sends_first ? ahead : std::numeric_limits<double>::infinity());
}

void send_paced(Program& program, const LocalPlan& plan, const Move& move, Address from) {
  if (plan.pace.tick > 0) program.pause(plan.pace.tick * static_cast<double>(move.step.at.ticks));
  program.send(move.step.peer, {from, move.bytes});
}

void arrive_paced(Program& program, const LocalPlan& plan, const Move& move) {
  program.arrive(move.post);
  if (plan.pace.tick <= 0) return;
  const Time sent = move.step.at - plan.machine.lambda();
  program.align(plan.pace.flight + plan.pace.tick * static_cast<double>(sent.ticks));
}

}  // namespace

void add_items(Program& program, const LocalPlan& plan, const Items& items, Address data,
               const std::function<void(std::int64_t item)>& known) {
  auto moves = moves_of(plan, items);
  for (Move& move : moves) {
    if (move.step.receives) move.post = program.post(move.step.peer, {data + move.offset, move.bytes});
  }
  begin_paced(program, plan, moves);
  std::vector<bool> seen(static_cast<std::size_t>(items.items), false);
  std::optional<std::int64_t> latest;
  const auto tell = [&] {
    if (latest && known) known(*latest);
    latest.reset();
  };
  for (const Move& move : moves) {
    const std::int64_t item = move.step.part.lo;
    const bool first = !seen[static_cast<std::size_t>(item)];
    if (first) tell();
    if (move.step.receives) arrive_paced(program, plan, move);
    else send_paced(program, plan, move, data + move.offset);
    if (first) latest = item;
    seen[static_cast<std::size_t>(item)] = true;
  }
  tell();
}

void add_item_folds(Program& program, const LocalPlan& plan, const Items& items, Address own,
                    std::optional<Address> result, const std::function<void(std::int64_t item)>& wanted) {
  auto moves = moves_of(plan, items);
  std::vector<Address> arrivals(moves.size(), own);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    if (!moves[i].step.receives) continue;
    arrivals[i] = program.more_scratch(moves[i].bytes);
    moves[i].post = program.post(moves[i].step.peer, {arrivals[i], moves[i].bytes});
  }
  std::vector<std::optional<Address>> folds(static_cast<std::size_t>(items.items));
  std::vector<bool> seen(folds.size(), false);
  const auto want = [&](const Move& move) {
    const auto item = static_cast<std::size_t>(move.step.part.lo);
    if (!seen[item] && wanted) wanted(move.step.part.lo);
    seen[item] = true;
  };
  if (!moves.empty()) want(moves.front());  // the plan's time begins when there is something to send
  begin_paced(program, plan, moves);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const Move& move = moves[i];
    want(move);
    auto& fold = folds[static_cast<std::size_t>(move.step.part.lo)];
    const Address so_far = fold.value_or(own + move.offset);
    if (!move.step.receives) {
      send_paced(program, plan, move, so_far);
      continue;
    }
    arrive_paced(program, plan, move);
    fold = result ? *result + move.offset : arrivals[i];
    if (move.bytes != 0) program.fold(so_far, arrivals[i], *fold, move.bytes / items.element);
  }
}

}  // namespace chasqui::run
