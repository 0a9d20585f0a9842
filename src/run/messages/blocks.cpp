// SPDX-License-Identifier: MIT
#include <algorithm>

#include "run/messages/builders.hpp"

namespace chasqui::run {
namespace {

/// The one or two ranges that an interval of blocks is.
struct Interval {
  Range ranges[2];

  std::size_t bytes() const { return ranges[0].bytes + ranges[1].bytes; }
  bool whole() const { return ranges[1].bytes == 0; }
};

Interval interval_of(Address data, const std::vector<std::size_t>& offsets, const Part& part) {
  const auto blocks = static_cast<std::int64_t>(offsets.size()) - 1;
  const auto offset = [&](std::int64_t block) { return offsets[static_cast<std::size_t>(block)]; };
  const std::int64_t end = static_cast<std::int64_t>(part.lo) + part.len;
  const std::size_t begin = offset(part.lo);
  Interval interval{
      {{data + begin, offset(std::min(end, blocks)) - begin}, {data, end > blocks ? offset(end - blocks) : 0}}};
  if (interval.ranges[0].bytes == 0) std::swap(interval.ranges[0], interval.ranges[1]);
  return interval;
}

void add(Program& program, const LocalPlan& plan, Address data, const std::vector<std::size_t>& offsets,
         std::size_t element) {
  const bool folds = element != 0;
  struct Move {
    Step step;
    Interval interval;
    Address at;  ///< where the message lies: in the blocks, or in scratch memory
    std::int32_t post = 0;
  };
  std::vector<Move> moves;
  for (const Step& step : steps_of(plan)) {
    const Interval interval = interval_of(data, offsets, step.part);
    if (interval.bytes() == 0) continue;
    Move move{step, interval, interval.ranges[0].at};
    if (!interval.whole() || (folds && step.receives)) move.at = program.more_scratch(interval.bytes());
    if (step.receives) move.post = program.post(step.peer, {move.at, interval.bytes()});
    moves.push_back(move);
  }
  if (plan.pace.tick > 0) program.begin(0);
  for (const Move& move : moves) {
    if (move.step.receives) program.arrive(move.post);
    Address message = move.at;
    for (const Range& range : move.interval.ranges) {
      if (range.bytes == 0 || range.at == message) continue;
      if (!move.step.receives) program.copy(message, range);
      else if (folds) program.fold(range.at, message, range.at, range.bytes / element);
      else program.copy(range.at, {message, range.bytes});
      message = message + range.bytes;
    }
    if (move.step.receives) continue;
    if (plan.pace.tick > 0) program.pause(plan.pace.tick * static_cast<double>(move.step.at.ticks));
    program.send(move.step.peer, {move.at, move.interval.bytes()});
  }
}

std::vector<std::size_t> equal_blocks(const Shape& shape) {
  std::vector<std::size_t> offsets(static_cast<std::size_t>(shape.size) + 1);
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = i * shape.bytes();
  return offsets;
}

/// Only the blocks that this rank has to do with take memory: its own, and those it passes on.
std::vector<std::size_t> touched_blocks(const LocalPlan& plan, const Shape& shape) {
  std::vector<bool> touched(static_cast<std::size_t>(shape.size));
  touched[static_cast<std::size_t>(shape.rank)] = true;
  for (const auto* list : {&plan.form.sends, &plan.form.receives}) {
    for (const Send& send : *list) {
      for (std::int64_t i = 0; i < send.part.len; ++i)
        touched[static_cast<std::size_t>((send.part.lo + i) % shape.size)] = true;
    }
  }
  std::vector<std::size_t> offsets = {0};
  for (const bool each : touched) offsets.push_back(offsets.back() + (each ? shape.bytes() : 0));
  return offsets;
}

/// Where a rank's blocks lie while they are gathered or scattered, and which of them is its own.
struct HeldBlocks {
  std::vector<std::size_t> offsets;
  Address data;
  Address own;

  HeldBlocks(Program& program, const LocalPlan& plan, const Shape& shape, Address at_root, Address elsewhere)
      : offsets(shape.rank == shape.root ? equal_blocks(shape) : touched_blocks(plan, shape)),
        data(shape.rank == shape.root          ? at_root
             : offsets.back() <= shape.bytes() ? elsewhere
                                               : program.more_scratch(offsets.back())),
        own(data + offsets[static_cast<std::size_t>(shape.rank)]) {}
};

}  // namespace

void add_gather(Program& program, const LocalPlan& plan, const Shape& shape) {
  constexpr Address input{Memory::input, 0}, output{Memory::output, 0};
  const HeldBlocks blocks(program, plan, shape, output, input);
  if (blocks.own != input) program.copy(blocks.own, {input, shape.bytes()});
  add_blocks(program, plan, blocks.data, blocks.offsets);
}

void add_scatter(Program& program, const LocalPlan& plan, const Shape& shape) {
  constexpr Address input{Memory::input, 0}, output{Memory::output, 0};
  const HeldBlocks blocks(program, plan, shape, input, output);
  add_blocks(program, plan, blocks.data, blocks.offsets);
  program.copy(output, {blocks.own, shape.bytes()});
}

void add_all_gather(Program& program, const LocalPlan& plan, const Shape& shape) {
  constexpr Address output{Memory::output, 0};
  const auto offsets = equal_blocks(shape);
  program.copy(output + offsets[static_cast<std::size_t>(shape.rank)], {{Memory::input, 0}, shape.bytes()});
  add_blocks(program, plan, output, offsets);
}

void add_blocks(Program& program, const LocalPlan& plan, Address data, const std::vector<std::size_t>& offsets) {
  add(program, plan, data, offsets, 0);
}

void add_block_folds(Program& program, const LocalPlan& plan, Address data, const std::vector<std::size_t>& offsets,
                     std::size_t element) {
  add(program, plan, data, offsets, element);
}

}  // namespace chasqui::run
