// SPDX-License-Identifier: MIT
// Reductions on nodes of unequal size: trees of several styles, booked one hand-over after another (clusters.md, Theorem 34).
#include <algorithm>
#include <set>

#include "chasqui/base/arithmetic.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/trees/folding_tree.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kMostFoldedRanks = 600'000;  ///< of a plan that is made so
constexpr std::int64_t kFewRanks = 64;              ///< up to here more is tried
constexpr std::int64_t kManyRanks = 1 << 16;        ///< beyond, one style is tried once
constexpr std::int64_t kMostInstants = 1024;        ///< times that a tree may tell apart
constexpr std::int64_t kMostTimesTried = 48;

/// Times that a tree may tell apart, so that it has to tell apart no more than some.
std::int64_t step_within(const Cluster& cluster, Time before) {
  const std::int64_t unit = common_unit(spread_shape(cluster, cluster.nodes.largest()));
  return std::max(unit, divide_up(divide_up(before.ticks, kMostInstants), unit) * unit);
}

/// The least multiple of `step` from low * step on, and below high * step, within which there is a tree, if trees for less time are none for more.
std::int64_t least_within(FoldingTree& trees, std::int64_t step, std::int64_t low, std::int64_t high) {
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (trees.within(middle * step)) high = middle;
    else low = middle + 1;
  }
  return low;
}

}  // namespace

std::optional<std::vector<HandOver>> quick_folding(const Cluster& cluster, Rank root, Time before) {
  const std::int64_t step = step_within(cluster, before);
  try {
    FoldingTree trees(cluster, root, {step, 2, false, cluster.base.P <= kFewRanks});
    return trees.within(step * least_within(trees, step, 0, divide_up(before.ticks, step)));
  } catch (const TableTooLong&) {
    return std::nullopt;
  }
}

std::optional<Schedule> earliest_folding(const Cluster& cluster, const Problem& problem, Time bound, Time before) {
  if (cluster.base.P > kMostFoldedRanks || bound >= before) return std::nullopt;
  const std::int64_t step = step_within(cluster, before);
  const bool few = cluster.base.P <= kFewRanks, many = cluster.base.P > kManyRanks;
  std::optional<Schedule> best;
  const auto try_style = [&](const FoldStyle& style) {
    FoldingTree trees(cluster, problem.root, style);
    const auto play = [&](std::int64_t T) {
      const auto tree = trees.within(T);
      if (!tree) return false;
      Timetable table(cluster, problem, 3 * cluster.base.P);
      std::vector<Time> has(static_cast<std::size_t>(cluster.base.P), Time{0});
      book(*tree, table, has);
      Schedule found = std::move(table).schedule(bound);
      if (found.finish < (best ? best->finish : before)) best = std::move(found);
      return true;
    };
    const auto limit = [&] { return (best ? best->finish : before).ticks + step; };
    const std::int64_t lo = divide_up(bound.ticks, step) * step;
    if (few && (limit() - lo) / step <= kMostTimesTried) {
      for (std::int64_t T = lo; T < limit() && !(best && best->finish == bound); T += step) play(T);
      return;
    }
    const std::int64_t low = least_within(trees, step, lo / step, divide_up(limit(), step));
    for (std::int64_t i = 0; i < (many ? 1 : 3); ++i) play((low + i) * step);
  };
  for (const bool parts : {true, false}) {
    for (const std::int64_t ahead : few ? std::vector<std::int64_t>{0, 2, 6} : std::vector<std::int64_t>{0, 3}) {
      try {
        try_style({step, ahead, parts, few});
      } catch (const TableTooLong&) {
      }
      if (many) return best;
    }
  }
  return best;
}

}  // namespace chasqui::plan
