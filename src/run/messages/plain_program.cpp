// SPDX-License-Identifier: MIT
#include <utility>

#include "chasqui/base/error.hpp"
#include "run/messages/builders.hpp"

namespace chasqui::run {
namespace {

/// This rank's part of a plain collective. Only the order of messages counts, so any machine will do.
LocalPlan plain_plan(plan::PlainTree tree, Kind kind, const Shape& shape) {
  constexpr std::int64_t kMost = std::int64_t{1} << 26;
  const LogP machine = LogP::postal(shape.size, Time{1});
  const auto made = plan::plain_schedule(tree, machine, {.kind = kind, .root = {shape.root}}, kMost);
  const auto* schedule = std::get_if<Schedule>(&made);
  CHASQUI_CHECK(schedule != nullptr, "{}: {}", to_string(kind), std::get<std::string_view>(made));
  return {restrict_to(*schedule, {shape.rank}), machine, false, {}};
}

/// The output of the root to all.
void add_spread(Program& program, plan::PlainTree tree, const Shape& shape, std::size_t count) {
  add_items(program, plain_plan(tree, Kind::broadcast, shape), {count, shape.element, 1}, kOutput);
  program.finish();
}

/// Folds in rank order are made at rank 0, which hands them over to the root.
void add_fold(Program& program, plan::PlainTree tree, Shape shape) {
  const bool hands_over = !shape.commutative && shape.root != 0;
  const int root = std::exchange(shape.root, hands_over ? 0 : shape.root);
  const Address result = hands_over ? program.more_scratch(shape.bytes()) : kOutput;
  add_folds(program, plain_plan(tree, Kind::reduce, shape), shape, result);
  if (!hands_over) return;
  if (shape.rank == 0) program.send(root, {result, shape.bytes()});
  if (shape.rank == root) program.receive(0, {kOutput, shape.bytes()});
  program.finish();
}

}  // namespace

Program plain_program(const Shape& shape, plan::PlainTree tree) {
  Program program;
  Shape from_first = shape;
  from_first.root = 0;
  switch (shape.kind) {
    case Kind::broadcast: add_spread(program, tree, shape, shape.count); break;
    case Kind::reduce: add_fold(program, tree, shape); break;
    case Kind::allreduce:
    case Kind::barrier:
      from_first.kind = Kind::reduce;
      add_fold(program, tree, from_first);
      add_spread(program, tree, from_first, shape.count);
      break;
    case Kind::gather:  // a reduction's messages name the subtree of their sender
      add_gather(program, plain_plan(tree, Kind::reduce, shape), shape);
      program.finish();
      break;
    case Kind::scatter: {
      LocalPlan plan = plain_plan(tree, Kind::reduce, shape);
      plan.reversed = true;
      add_scatter(program, plan, shape);
      program.finish();
      break;
    }
    case Kind::allgather:
      add_gather(program, plain_plan(tree, Kind::reduce, from_first), from_first);
      program.finish();
      add_spread(program, tree, from_first, shape.count * static_cast<std::size_t>(shape.size));
      break;
    case Kind::alltoall:
      add_by_distance(program, shape, tree == plan::PlainTree::binomial ? 2 : shape.size, kOutput);
      program.finish();
      break;
    case Kind::reduce_scatter: {  // the readers fold
      const Address blocks = program.more_scratch(shape.bytes() * static_cast<std::size_t>(shape.size));
      add_by_distance(program, shape, tree == plan::PlainTree::binomial ? 2 : shape.size, blocks);
      program.finish();
      add_fold_in_order(program, shape, blocks, shape.count, kOutput);
      break;
    }
    case Kind::scan: add_folds(program, plain_plan(tree, Kind::scan, shape), shape, kOutput); break;
    default: CHASQUI_CHECK(false, "no plain program for {}", to_string(shape.kind));
  }
  return program;
}

}  // namespace chasqui::run
