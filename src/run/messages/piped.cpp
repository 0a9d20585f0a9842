// SPDX-License-Identifier: MIT
#include "run/messages/piped.hpp"

#include <algorithm>

#include "run/call/aligned_buffer.hpp"
#include "run/messages/builders.hpp"
#include "run/messages/message_cost.hpp"

namespace chasqui::run {

Level with_board(const Level& network, Kind kind, double busy, double item) {
  Level level = network;
  level.o_s.value += busy;
  if (kind != Kind::reduce) return level;
  level.L.value += busy;
  if (!network.shares_bandwidth) return level;
  // Where the link is nearly full, a message that a board delays shares it with the next one, and all that follow are late.
  const double nearly_full = 1.1 * port_time(network, item);
  level.o_s.value += std::clamp(nearly_full - level.o_s.value - level.o_r.value, 0.0, busy / 2);
  return level;
}

namespace {

/// Broadcast or reduce.
Program one_way(const Shape& shape, const Nodes& nodes, const std::vector<int>& ranks, std::int64_t items,
                const Level& level, double busy) {
  constexpr Address input = kInput, output = kOutput;
  const std::int64_t node = nodes.node_of({shape.rank}), root_node = nodes.node_of({shape.root});
  const auto leader_of = [&](std::int64_t each) { return each == root_node ? shape.root : nodes.first_rank(each); };
  const bool folds = shape.kind == Kind::reduce, at_root = node == root_node, leads = leader_of(node) == shape.rank;
  Shape between = shape;
  between.rank = static_cast<int>(node);
  between.size = static_cast<int>(nodes.count());
  between.root = static_cast<int>(root_node);
  const double item_bytes = static_cast<double>(shape.bytes()) / static_cast<double>(items);
  LocalPlan plan = local_plan(between, Method::items, items, with_board(level, shape.kind, busy, item_bytes));
  plan.pace.flight = flight_time(level, item_bytes);
  const Items cut{shape.count, shape.element, items};
  Program leader;
  const Address folded = folds && !at_root ? leader.more_scratch(shape.bytes()) : output;
  const auto on_board = [&](std::int64_t item) {
    const std::size_t first = share_begin(shape.count, static_cast<int>(items), static_cast<int>(item));
    const std::size_t end = share_begin(shape.count, static_cast<int>(items), static_cast<int>(item) + 1);
    const std::size_t at = first * shape.element;
    const auto place = static_cast<int>(leader_of(node) - nodes.first_rank(node));
    leader.board({shape.kind, place, 0, (folds ? input : output) + at, folded + at, end - first});
  };
  if (folds) add_item_folds(leader, plan, cut, folded, at_root ? std::optional(output) : std::nullopt, on_board);
  else add_items(leader, plan, cut, output, on_board);
  leader.finish();
  Program program;
  const auto peer = [&](int each) { return ranks[static_cast<std::size_t>(leader_of(each))]; };
  if (leads) append(program, leader, input, output, peer);
  for (BoardStep step : leads ? std::vector<BoardStep>() : leader.steps) {
    if (folds) step.out = output;  // which nobody else gets
    program.board(step);
  }
  return program;
}

}  // namespace

Program piped_program(const Shape& shape, const Nodes& nodes, const std::vector<int>& ranks, std::int64_t items,
                      const Level& level, const std::function<double(Kind)>& busy) {
  if (shape.kind != Kind::allreduce) return one_way(shape, nodes, ranks, items, level, busy(shape.kind));
  Shape part = shape;
  part.root = 0;
  part.kind = Kind::reduce;
  Program program = one_way(part, nodes, ranks, items, level, busy(Kind::reduce));
  part.kind = Kind::broadcast;
  append(program, one_way(part, nodes, ranks, items, level, busy(Kind::broadcast)), kOutput, kOutput,
         [](int rank) { return rank; });
  return program;
}

}  // namespace chasqui::run
