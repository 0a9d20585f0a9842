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
  program.begin(sends_first ? plan.pace.start + ahead : std::numeric_limits<double>::infinity());
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

void add_items(Program& program, const LocalPlan& plan, const Items& items, Address data, const BesideItems& beside) {
  auto moves = moves_of(plan, items);
  for (Move& move : moves) {
    if (move.step.receives) move.post = program.post(move.step.peer, {data + move.offset, move.bytes});
  }
  begin_paced(program, plan, moves);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    if (beside.before) beside.before(i);
    if (moves[i].step.receives) arrive_paced(program, plan, moves[i]);
    else send_paced(program, plan, moves[i], data + moves[i].offset);
  }
  if (beside.before) beside.before(moves.size());
}

namespace {

/// What a rank has of an item: the fold of what has arrived, and of its own where that is in it.
struct ItemFold {
  std::optional<Address> value{};
  bool own = false;
};

}  // namespace

void add_item_folds(Program& program, const LocalPlan& plan, const Items& items, Address own,
                    std::optional<Address> result, const BesideItems& beside) {
  auto moves = moves_of(plan, items);
  std::vector<Address> arrivals(moves.size(), own);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    if (!moves[i].step.receives) continue;
    arrivals[i] = program.more_scratch(moves[i].bytes);
    moves[i].post = program.post(moves[i].step.peer, {arrivals[i], moves[i].bytes});
  }
  std::vector<ItemFold> folds(static_cast<std::size_t>(items.items));
  const auto add = [&](ItemFold& fold, Address value, Address to, std::size_t bytes) {
    if (fold.value && bytes != 0) program.fold(*fold.value, value, to, bytes / items.element);
    fold.value = fold.value ? to : value;
  };
  const auto add_own = [&](ItemFold& fold, const Move& move) {
    if (fold.own) return;
    fold.own = true;
    add(fold, own + move.offset, result ? *result + move.offset : fold.value.value_or(own), move.bytes);
  };
  begin_paced(program, plan, moves);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const Move& move = moves[i];
    const std::int64_t item = move.step.part.lo;
    ItemFold& fold = folds[static_cast<std::size_t>(item)];
    if (beside.before) beside.before(i);
    if (!move.step.receives || !beside.there || beside.there(item)) add_own(fold, move);
    if (!move.step.receives) {
      send_paced(program, plan, move, *fold.value);
      continue;
    }
    arrive_paced(program, plan, move);
    add(fold, arrivals[i], result && fold.own ? *result + move.offset : arrivals[i], move.bytes);
  }
  if (beside.before) beside.before(moves.size());
  for (const Move& move : moves) add_own(folds[static_cast<std::size_t>(move.step.part.lo)], move);
}

}  // namespace chasqui::run
