// SPDX-License-Identifier: MIT
// From a collective and a method to the program that runs it.
#include "run/call/aligned_buffer.hpp"
#include "run/messages/builders.hpp"
#include "run/messages/message_cost.hpp"

namespace chasqui::run {
namespace {

LocalPlan plan_of(const Machine& machine, const Shape& shape, Method method, std::int64_t parts) {
  if (method == Method::exchange || (method == Method::windows && parts > 0))
    return circulant(shape.size, shape.rank, static_cast<int>(parts));
  const bool everybody = !has_root(shape.kind);
  const bool alone = method == Method::items || (method == Method::tree && parts == 1);
  if (alone || !everybody) return local_plan(shape, method, parts, machine.level);
  const Senders senders = Senders::of(shape.size, machine.nodes);
  return local_plan(shape, method, parts, with_everybody_sending(machine.level, machine.profile, senders));
}

LocalPlan tree_of(const Machine& machine, Shape shape, Kind kind) {
  shape.kind = kind;
  return plan_of(machine, shape, Method::tree, 1);
}

std::vector<std::size_t> shares(const Shape& shape) {
  std::vector<std::size_t> offsets(static_cast<std::size_t>(shape.size) + 1);
  for (int r = 0; r <= shape.size; ++r)
    offsets[static_cast<std::size_t>(r)] = share_begin(shape.count, shape.size, r) * shape.element;
  return offsets;
}

/// Scattered along the tree, then all-gathered.
void add_broadcast_of_shares(Program& program, const LocalPlan& windows, const Shape& shape, const Machine& machine) {
  const auto offsets = shares(shape);
  add_blocks(program, tree_of(machine, shape, Kind::scatter), kOutput, offsets);
  program.finish();
  add_blocks(program, windows, kOutput, offsets);
}

/// Reduce-scatter, then gathered where the fold is wanted.
void add_fold_of_shares(Program& program, const LocalPlan& windows, const Shape& shape, const Machine& machine) {
  const bool gets = shape.kind != Kind::reduce || shape.rank == shape.root;
  const Address data = gets ? kOutput : program.more_scratch(shape.bytes());
  const auto offsets = shares(shape);
  LocalPlan folding = windows;
  folding.reversed = true;
  program.copy(data, {kInput, shape.bytes()});
  add_block_folds(program, folding, data, offsets, shape.element);
  program.finish();
  if (shape.kind == Kind::reduce) add_blocks(program, tree_of(machine, shape, Kind::gather), data, offsets);
  else add_blocks(program, windows, data, offsets);
}

/// The windows of an all-gather backwards, on a copy of the input.
void add_reduce_scatter(Program& program, const LocalPlan& windows, const Shape& shape) {
  std::vector<std::size_t> offsets(static_cast<std::size_t>(shape.size) + 1);
  for (std::size_t r = 0; r < offsets.size(); ++r) offsets[r] = r * shape.bytes();
  const Address data = program.more_scratch(offsets.back());
  LocalPlan folding = windows;
  folding.reversed = true;
  program.copy(data, {kInput, offsets.back()});
  add_block_folds(program, folding, data, offsets, shape.element);
  program.copy(kOutput, {data + offsets[static_cast<std::size_t>(shape.rank)], shape.bytes()});
}

/// Folded along the trees of a broadcast backwards; all-reduce: then spread along them.
void add_fold_by_items(Program& program, const LocalPlan& there, const Shape& shape, std::int64_t parts,
                       const Machine& machine) {
  const Items items{shape.count, shape.element, parts};
  Shape back = shape;
  if (shape.kind != Kind::reduce) back.root = 0;
  const bool at_root = shape.rank == back.root;
  back.kind = Kind::broadcast;
  if (shape.kind != Kind::reduce && parts == 1 && there.pace.tick == 0)
    return add_there_and_back(program, there, plan_of(machine, back, Method::items, parts), shape);
  add_item_folds(program, there, items, kInput, at_root ? std::optional(kOutput) : std::nullopt);
  if (shape.kind == Kind::reduce) return;
  program.finish();
  add_items(program, plan_of(machine, back, Method::items, parts), items, kOutput);
}

}  // namespace

Shape shape_of(const Call& call, int rank, int size) {
  Shape shape{.kind = call.kind, .rank = rank, .size = size};
  if (has_root(call.kind)) shape.root = static_cast<int>(call.root);
  if (call.kind != Kind::barrier) shape.count = static_cast<std::size_t>(call.count);
  shape.element = call.element;
  shape.commutative = call.op.combine == nullptr || call.op.commutative;
  shape.exclusive = call.exclusive;
  return shape;
}

Program block_program(const Shape& shape, Method method, std::int64_t parts, const Machine& machine,
                      const std::vector<std::size_t>& offsets) {
  Program program;
  LocalPlan plan = plan_of(machine, shape, method, parts);
  if (shape.kind == Kind::reduce_scatter) {
    plan.reversed = true;
    add_block_folds(program, plan, kOutput, offsets, shape.element);
  } else {
    add_blocks(program, plan, kOutput, offsets);
  }
  program.finish();
  return program;
}

Program program_of(const Shape& shape, Method method, std::int64_t parts, const Machine& machine) {
  const bool all_to_all = shape.kind == Kind::alltoall || shape.kind == Kind::reduce_scatter;
  const std::int64_t radix = method == Method::windows ? parts : shape.size;  // of an exchange
  const LocalPlan plan =
      all_to_all && method != Method::exchange ? LocalPlan{} : plan_of(machine, shape, method, parts);
  Program program;
  switch (shape.kind) {
    case Kind::broadcast:
      if (method == Method::exchange) add_broadcast_of_shares(program, plan, shape, machine);
      else add_items(program, plan, {shape.count, shape.element, method == Method::tree ? 1 : parts}, kOutput);
      break;
    case Kind::gather: add_gather(program, plan, shape); break;
    case Kind::scatter: add_scatter(program, plan, shape); break;
    case Kind::allgather: add_all_gather(program, plan, shape); break;
    case Kind::alltoall: add_by_distance(program, shape, radix, kOutput); break;
    case Kind::reduce_scatter:
      if (method == Method::exchange) {
        add_reduce_scatter(program, plan, shape);
      } else {
        const Address blocks = program.more_scratch(shape.bytes() * static_cast<std::size_t>(shape.size));
        add_by_distance(program, shape, radix, blocks);
        add_fold_in_order(program, shape, blocks, shape.count, kOutput);
      }
      break;
    default:
      if (method == Method::tree) return add_folds(program, plan, shape, kOutput), program;
      if (method == Method::items) add_fold_by_items(program, plan, shape, parts, machine);
      else add_fold_of_shares(program, plan, shape, machine);
  }
  program.finish();
  return program;
}

}  // namespace chasqui::run
