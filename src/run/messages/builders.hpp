// SPDX-License-Identifier: MIT
// Programs for everything that goes by messages. The functions named add_… append to a program; between two of them that
// use the same memory stands a finish().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "chasqui/plan/plain_trees.hpp"
#include "chasqui/run/call.hpp"
#include "run/messages/local_plan.hpp"
#include "run/messages/message_cost.hpp"
#include "run/messages/program.hpp"

namespace chasqui::run {

/// Whole contributions, folded by intervals of ranks (reduce, all-reduce, scan, barrier). The fold
/// that this rank is to get lies at `result` in the end; nothing is under way then.
void add_folds(Program& program, const LocalPlan& plan, const Shape& shape, Address result);

/// All-reduce or barrier of whole contributions along a tree: `there` to its root, `back` from it. In the
/// end nothing is under way.
void add_there_and_back(Program& program, const LocalPlan& there, const LocalPlan& back, const Shape& shape);

/// `items` segments of `count` elements travel along the plan's trees. Segment i holds elements
/// i*count/items .. (i+1)*count/items - 1. Those that hold none travel only where they are the only one.
struct Items {
  std::size_t count = 0;
  std::size_t element = 1;
  std::int64_t items = 1;
};
/// What else a rank does while it plays its part of a plan. REQUIRES that no item is empty.
struct BesideItems {
  /// May append something before each of steps_of(), and behind the last.
  std::function<void(std::size_t step)> before{};
  /// Is what this rank has of an item there by now? Missing: from the beginning.
  std::function<bool(std::int64_t item)> there{};
};
/// From the root to all, in `data` everywhere.
void add_items(Program& program, const LocalPlan& plan, const Items& items, Address data,
               const BesideItems& beside = {});
/// Along the reversed plan: what lies at `own` on all ranks is folded on the way, in any order, to `result` at the root. What arrives
/// before that is there waits for it. REQUIRES that it is there before the item is sent, and in the end.
void add_item_folds(Program& program, const LocalPlan& plan, const Items& items, Address own,
                    std::optional<Address> result, const BesideItems& beside = {});

/// Intervals of blocks travel (all-gather, gather; reversed: scatter, reduce-scatter). Block b is bytes
/// offsets[b] .. offsets[b+1]-1 of `data`; intervals wrap around. Blocks of no bytes do not travel.
void add_blocks(Program& program, const LocalPlan& plan, Address data, const std::vector<std::size_t>& offsets);
/// What arrives is folded into what is there, in elements of so many bytes, in any order.
void add_block_folds(Program& program, const LocalPlan& plan, Address data, const std::vector<std::size_t>& offsets,
                     std::size_t element);

/// Equal blocks, one a rank, from the inputs to the output of the root, or the other way round along a reversed plan.
/// Ranks on the way pass on through scratch memory.
void add_gather(Program& program, const LocalPlan& plan, const Shape& shape);
void add_scatter(Program& program, const LocalPlan& plan, const Shape& shape);
/// Equal blocks, one a rank, from the inputs to all outputs.
void add_all_gather(Program& program, const LocalPlan& plan, const Shape& shape);

/// All-to-all of equal blocks, by the digits of their distances: block r of the input goes to rank r, what rank r sends here
/// becomes block r of `out`.
void add_by_distance(Program& program, const Shape& shape, std::int64_t radix, Address out);
/// All-to-all of blocks of any size, every one straight; those of no bytes do not travel. REQUIRES a block for each rank.
struct BlockRange {
  std::size_t begin, bytes;
};
void add_straight(Program& program, const Shape& shape, Address in, const std::vector<BlockRange>& given, Address out,
                  const std::vector<BlockRange>& gotten);
/// out = the fold of one block of `count` elements from each rank, side by side at `blocks`, in rank order.
void add_fold_in_order(Program& program, const Shape& shape, Address blocks, std::size_t count, Address out);

Shape shape_of(const Call& call, int rank, int size);

/// A collective as the method says. REQUIRES at least two ranks and a method that goes by messages.
Program program_of(const Shape& shape, Method method, std::int64_t parts, const Machine& machine);

/// Gather, all-gather or scatter of blocks of any size, which all lie in the output; offsets as in add_blocks. Or a
/// reduce-scatter on circulant windows, which folds what is there on the way.
Program block_program(const Shape& shape, Method method, std::int64_t parts, const Machine& machine,
                      const std::vector<std::size_t>& offsets);

/// All-to-all or reduce-scatter of uneven blocks, on the call's own buffers.
Program uneven_program(const Call& call, int rank, int size);

/// The collective on a tree that needs no planning, as a library without a planner would do it.
Program plain_program(const Shape& shape, plan::PlainTree tree);

/// Summation of operands that a plan has placed (plan::SumPlan): the input holds form.operands of them, the output gets
/// their fold and that of the subtree. A fold of the program is total = left[0] o … o left[count-1] o total, with the
/// total at `right` and at `to`. Ranks without operands do nothing.
Program sum_program(const LocalForm& form, std::size_t element);

}  // namespace chasqui::run
