// SPDX-License-Identifier: MIT
#include "run/messages/piped.hpp"

#include <algorithm>

#include "run/call/aligned_buffer.hpp"
#include "run/messages/builders.hpp"
#include "run/messages/message_cost.hpp"

namespace chasqui::run {

Level with_board(const Level& network, Kind kind, double busy) {
  Level level = network;
  level.o_s.value += busy;
  if (network.shares_bandwidth) level.L.value -= busy;  // boards work between sends that have their times
  else if (kind == Kind::reduce) level.L.value += busy;
  return level;
}

namespace {

/// The items in the order in which they go on the board of a node, and how many of them have before each step of its leader.
struct BoardOrder {
  std::vector<std::int64_t> items{};
  std::vector<std::size_t> before{};
};

/// An item goes on the board of a broadcast when it is there and has been sent on, before the next one is waited for; on that of a
/// reduction before it is sent, at the root before it arrives.
BoardOrder order_on_board(const std::vector<Step>& steps, const Shape& between, std::int64_t items) {
  const bool folds = between.kind == Kind::reduce, at_root = between.rank == between.root;
  BoardOrder order;
  std::vector<bool> met(static_cast<std::size_t>(items), false);
  for (const Step& step : steps) {
    const auto item = static_cast<std::size_t>(step.part.lo);
    const bool first = !met[item] && (!folds || at_root || !step.receives);
    const std::size_t others = order.items.size() - (first || order.items.empty() ? 0 : 1);
    if (first) {
      met[item] = true;
      order.items.push_back(step.part.lo);
    }
    order.before.push_back(folds ? order.items.size() : others);
  }
  order.before.push_back(order.items.size());
  return order;
}

/// A board folds, too, where its leader would wait for the time of a step: later there may be no time.
void fold_ahead(BoardOrder& order, const std::vector<Step>& steps, const LocalPlan& plan, double tick,
                const Level& level, double busy) {
  constexpr double kRounding = 1;  // nanoseconds
  double clock = busy;             // the first one is brought
  std::size_t done = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    const double planned = plan.pace.start + tick * static_cast<double>((step.at + plan.pace.finish).ticks) -
                           (step.receives ? level.o_r.value : 0);
    while (done < order.items.size() && (done < order.before[i] || clock + busy <= planned + kRounding)) {
      clock += busy;
      ++done;
    }
    order.before[i] = done;
    clock = std::max(clock, planned) + (step.receives ? level.o_r.value : level.o_s.value);
  }
}

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
  const Level busier = with_board(level, shape.kind, busy);
  LocalPlan plan = local_plan(between, Method::items, items, busier);
  plan.pace.flight = flight_time(level, item_bytes);
  if (folds) plan.pace.start = 2 * busy;
  const Items cut{shape.count, shape.element, items};
  Program leader;
  const Address folded = folds && !at_root ? leader.more_scratch(shape.bytes()) : output;
  const auto steps = steps_of(plan);
  BoardOrder order = order_on_board(steps, between, items);
  if (folds) fold_ahead(order, steps, plan, item_machine(busier, nodes.count(), item_bytes).tick, level, busy);
  std::vector<bool> there(static_cast<std::size_t>(items), false);
  std::size_t done = 0;
  BesideItems boards;
  boards.there = [&](std::int64_t item) { return !folds || there[static_cast<std::size_t>(item)]; };
  boards.before = [&](std::size_t step) {
    for (; done < order.before[step]; ++done) {
      const auto item = static_cast<int>(order.items[done]);
      const std::size_t first = share_begin(shape.count, static_cast<int>(items), item);
      const std::size_t end = share_begin(shape.count, static_cast<int>(items), item + 1);
      const std::size_t at = first * shape.element;
      const auto place = static_cast<int>(leader_of(node) - nodes.first_rank(node));
      leader.board({shape.kind, place, 0, (folds ? input : output) + at, folded + at, end - first});
      there[static_cast<std::size_t>(item)] = true;
    }
  };
  if (folds) add_item_folds(leader, plan, cut, folded, at_root ? std::optional(output) : std::nullopt, boards);
  else add_items(leader, plan, cut, output, boards);
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
