// SPDX-License-Identifier: MIT
#include "run/choose/line_cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "run/board/shape.hpp"

namespace chasqui::run {
namespace {

/// A method's cost: publications one after another, lines read from each source beside the data, and for each line of
/// data; the latter two in units of LineCosts::each. Fitted to 16 threads and 16 processes, 128 B to 4 KiB, broadcasts of
/// processes 1 to 16 KiB, each method forced (docs/laboratory/broadcast.md, "Data beside the line"; all-to-all and reduce-scatter of 16 processes:
/// docs/laboratory/all-to-all.md); one reader alone reads faster than all at once.
struct Cost {
  double publications, reads, lines;
};

Cost cost_of(Method method, Kind kind) {
  const bool threads = method == Method::direct;
  if (method == Method::exposed_fold) return {4.5, 0, 0.09};
  if (method == Method::shared_fold) return kind == Kind::reduce ? Cost{3.4, 0, 0.2} : Cost{4.5, 0, 0.2};
  if (method == Method::slots) {
    switch (kind) {
      case Kind::broadcast: return {1, 0, 0.8};
      case Kind::scatter: return {1, 0, 0.3};
      case Kind::reduce:
      case Kind::gather: return {1, kReadByRoot, 0.4};
      case Kind::allreduce: return {1, 1.3, 1};
      case Kind::scan: return {2, 0.5, 0.5};
      case Kind::alltoall: return {1.6, 0.8, 1.8};
      case Kind::reduce_scatter: return {1.3, 0.2, 2.4};
      default: return {1, 0.8, 0.8};
    }
  }
  switch (kind) {
    case Kind::broadcast: return threads ? Cost{3, 0, 0} : Cost{2.4, 0, 1.8};
    case Kind::scatter: return threads ? Cost{3, 0, 0} : Cost{2.4, 0, 0.55};
    case Kind::gather: return threads ? Cost{3, 0, 0} : Cost{4, 0, 0.4};
    case Kind::reduce: return threads ? Cost{4, 2, 0} : Cost{3, 0, 0.55};
    case Kind::allgather: return threads ? Cost{3, 2, 0.15} : Cost{6.7, 0, 0.38};
    case Kind::alltoall: return threads ? Cost{3, 2, 0.3} : Cost{9.5, 0.8, 1};
    case Kind::reduce_scatter: return threads ? Cost{3, 2, 0.3} : Cost{6.5, 0.8, 2.1};
    case Kind::scan: return {5, 4, 0.15};
    default: return threads ? Cost{6, 4, 0.1} : Cost{5, 0, 0.35};
  }
}

/// A method's cost between two ranks, where one reader waits for each line by itself: publications, and what each line of data takes of one.
/// Fitted to two threads and two processes of an x86-64 machine, 64 B to 8 KiB, each method in turn (docs/laboratory/memory.md,
/// "Two ranks").
struct CostOfTwo {
  double publications, line;
};

CostOfTwo cost_of_two(Method method, Kind kind) {
  const bool threads = method == Method::direct;
  if (method == Method::exposed_fold) return {2.5, 0.044};
  if (method == Method::shared_fold) return kind == Kind::reduce ? CostOfTwo{2.7, 0.075} : CostOfTwo{2.5, 0.096};
  if (method == Method::slots) {
    switch (kind) {
      case Kind::broadcast: return {1, 0.043};
      case Kind::scatter: return {1.4, 0.022};
      case Kind::gather: return {1.5, 0.036};
      case Kind::reduce: return {1.4, 0.06};
      case Kind::allreduce: return {1.7, 0.08};
      case Kind::alltoall: return {1.5, 0.088};
      case Kind::reduce_scatter: return {1.6, 0.1};
      case Kind::scan: return {1.6, 0.057};
      default: return {1.7, 0.047};
    }
  }
  switch (kind) {
    case Kind::broadcast: return threads ? CostOfTwo{2.4, 0.008} : CostOfTwo{3.6, 0.038};
    case Kind::scatter: return threads ? CostOfTwo{2.2, 0.004} : CostOfTwo{3.1, 0.023};
    case Kind::gather: return threads ? CostOfTwo{2.6, 0.003} : CostOfTwo{3.2, 0.054};
    case Kind::reduce: return threads ? CostOfTwo{3.1, 0.014} : CostOfTwo{3.6, 0.058};
    case Kind::allgather: return threads ? CostOfTwo{2.8, 0.004} : CostOfTwo{5.8, 0.052};
    case Kind::alltoall: return threads ? CostOfTwo{2.6, 0.008} : CostOfTwo{4.5, 0.054};
    case Kind::reduce_scatter: return threads ? CostOfTwo{2.6, 0.032} : CostOfTwo{5.7, 0.065};
    case Kind::scan: return threads ? CostOfTwo{3.4, 0.045} : CostOfTwo{3, 0.065};
    default: return threads ? CostOfTwo{3.5, 0.06} : CostOfTwo{4.2, 0.07};
  }
}

/// How much so many ranks are like two: 1 of two, 0 of the 16 that Cost is fitted to, and between them as a reader's share of what all
/// others write.
double like_two(int ranks) {
  constexpr double kOthers = 15;
  return std::max(0.0, (1.0 / std::max(1, ranks - 1) - 1 / kOthers) / (1 - 1 / kOthers));
}

/// What it takes to publish a line, of what is guessed for 16 ranks: between two the line has one reader.
double publishing(int ranks) {
  constexpr double kOfTwo = 0.63;  // 250 ns, measured, of the 400 of default_profile()
  return 1 - (1 - kOfTwo) * like_two(ranks);
}

}  // namespace

const Level& node_level(const Profile& profile) {
  const Level* found = profile.level("node");
  return found != nullptr ? *found : profile.levels.front();
}

namespace {

/// What a line inside each level takes of one to all ranks: as measured, or else a guess; nobody has timed them. Sharing more is no slower,
/// and until somebody has measured it a core or a second cache is no faster than what is around it.
std::array<double, kSharedKinds> inside_of(const Level& node, const Nearness& near) {
  constexpr std::array<double, kSharedKinds> kGuessed = {1, 1, 0.5, 0.65, 0.75};
  std::array<double, kSharedKinds> inside = {1, 1, 1, 1, 1};
  double most = 1;
  for (std::size_t i = near.levels().size(); i-- > 0;) {
    const Shared what = near.levels()[i].what;
    const double measured = node.near_of(what).value;
    most = std::min(most, measured > 0 ? measured : kGuessed[static_cast<std::size_t>(what)]);
    inside[static_cast<std::size_t>(what)] = most;
  }
  return inside;
}

}  // namespace

LineCosts line_costs(const Profile& profile, int ranks, const std::shared_ptr<const Nearness>& near) {
  constexpr int kGuessed = 16;  // ranks that the built-in guesses fit
  const Level& node = node_level(profile);
  const int measured = node.ranks > 1 ? static_cast<int>(node.ranks) : kGuessed;
  const double publish = node.publish.value * publishing(ranks) / publishing(measured);
  LineCosts costs{ranks, publish, node.publish_per_rank.value};
  if (near == nullptr) return costs;
  costs.near = near;
  costs.inside = inside_of(node, *near);
  return costs;
}

namespace {

/// All that have a member for each line, or several, by size.
std::vector<Grouping> groupings(const LineCosts& costs, int lines) {
  std::vector<Grouping> all;
  for (int size = 2; size <= costs.ranks; ++size) all.push_back(Grouping::neighbours(costs.ranks, size));
  std::erase_if(all, [&](const Grouping& groups) { return groups.smallest(costs.ranks) < std::min(lines, 2); });
  return all;
}

}  // namespace

double grouped_fold_time(const LineCosts& costs, int lines, const Grouping& groups) {
  if (groups.size == 0) {
    const double one_line = costs.publish + (costs.ranks - 1) * costs.each;
    return lines == 1 ? one_line : kTwoLines * one_line;
  }
  const int smallest = groups.smallest(costs.ranks);
  if (lines > 2) {
    const double folding = kFoldedLine * (groups.size - 1) + kSecondLine * std::max(0, lines - smallest);
    return 2 * costs.publish + (folding + kReadByAll * lines * groups.count) * costs.each;
  }
  const int folded = (lines + smallest - 1) / smallest;  // by a member
  return 2 * costs.publish + (folded * (groups.size - 1) + lines * groups.count - 1) * costs.each;
}

Grouping best_groups(const LineCosts& costs, int lines) {
  Grouping best;
  double least = lines > 2 ? std::numeric_limits<double>::infinity() : grouped_fold_time(costs, lines, {});
  for (const Grouping& groups : groupings(costs, lines)) {
    const double time = grouped_fold_time(costs, lines, groups);
    if (time < least || (time == least && best.size != 0)) {  // of equal ones the largest: fewer results to read
      best = groups;
      least = time;
    }
  }
  return best;
}

Grouping groups_of_many(const LineCosts& costs) {
  return most_lines(costs.ranks) > 2 ? best_groups(costs, most_lines(costs.ranks)) : Grouping{};
}

double beside_line_time(const LineCosts& costs, double bytes) {
  if (bytes <= static_cast<double>(kSlotPayload)) return 0;  // the first comes with what announces it
  return cost_of(Method::slots, Kind::broadcast).lines * std::ceil(bytes / static_cast<double>(kLine)) * costs.each;
}

double pipeline_time(const LineCosts& costs, double work) {
  const double steps = costs.ranks * costs.publish;
  return steps + work + 2 * std::sqrt(steps * work);
}

double beside_lines_time(const LineCosts& costs, Method method, Kind kind, double bytes) {
  if (method == Method::grouped_fold)
    return grouped_fold_time(costs, static_cast<int>(std::ceil(bytes / static_cast<double>(kLinePayload))),
                             groups_of_many(costs));
  const bool one_source = kind == Kind::broadcast || kind == Kind::scatter;
  const double read = exchanges(kind) ? bytes / costs.ranks : bytes;  // of each slot
  const double lines = std::ceil(read / static_cast<double>(kLine));
  const auto of_many = [&] {
    if (method == Method::staged && kind == Kind::scan) return pipeline_time(costs, lines * kLineAlong * costs.each);
    const double sources = one_source ? 1 : costs.ranks - 1;
    const Cost cost = cost_of(method, kind);
    return cost.publications * costs.publish + sources * (cost.reads + cost.lines * lines) * costs.each;
  };
  const double two = like_two(costs.ranks);
  if (two == 0) return of_many();
  const CostOfTwo cost = cost_of_two(method, kind);
  return two * (cost.publications + cost.line * lines) * costs.publish + (1 - two) * of_many();
}

}  // namespace chasqui::run
