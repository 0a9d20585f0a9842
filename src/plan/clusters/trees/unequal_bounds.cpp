// SPDX-License-Identifier: MIT
// Bounds that know of each node how large it is: after the root's the largest nodes are entered first (clusters.md, Theorem 33).
#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <vector>

#include "chasqui/base/arithmetic.hpp"
#include "plan/clusters/cluster_plans.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kMostCounted = 1 << 17;  ///< ranks of a cluster on which this is played

/// Entries, the earliest with the most ranks. Of the ranks that an entry may reach the i-th is reached reached[i] later. It may enter something else
/// sending[i] after the entry and every `gap` from then on, if it is one of the first `senders`; what it enters is entered `lambda` later.
struct Entries {
  std::vector<std::int64_t>
      caps;  ///< how many ranks: first the root's entry, then the others, descending; after them all have one
  std::vector<std::int64_t> reached, sending;
  std::int64_t lambda, gap, senders;

  struct Times {
    std::int64_t entered = -1, reached = -1;
  };
  /// When there are so many entries, and when they have reached so many ranks. Time: O(log) for each of both.
  Times until(std::int64_t entries, std::int64_t ranks) const;
};

struct NextEvent {
  std::int64_t time;
  bool sends, first;
  std::size_t lane;
  std::int64_t entry, cap;
  bool operator>(const NextEvent& b) const { return time > b.time; }
};

Entries::Times Entries::until(std::int64_t entries, std::int64_t ranks) const {
  std::priority_queue<NextEvent, std::vector<NextEvent>, std::greater<>> open;
  std::int64_t entered = 0, count = 0;
  Times times;
  const auto enter = [&](std::int64_t at) {
    const auto k = static_cast<std::size_t>(entered);
    const std::int64_t cap = k < caps.size() ? caps[k] : 1;
    if (++entered == entries) times.entered = at;
    open.push({at, false, true, 0, at, cap});
    open.push({at + lambda, true, true, 0, at, cap});
  };
  enter(0);
  while (times.entered < 0 || times.reached < 0) {
    NextEvent event = open.top();
    open.pop();
    const std::size_t next = event.lane + 1;
    if (event.first && static_cast<std::int64_t>(next) < (event.sends ? std::min(event.cap, senders) : event.cap)) {
      const std::int64_t later = event.sends ? sending[next] + lambda : reached[next];
      open.push({event.entry + later, event.sends, true, next, event.entry, event.cap});
    }
    if (!event.sends) {
      if (++count == ranks) times.reached = event.time;
      continue;
    }
    enter(event.time);
    event.time += gap;
    event.first = false;
    open.push(event);
  }
  return times;
}

/// Of all nodes, the largest first.
std::vector<std::int64_t> sizes_of(const Nodes& nodes) {
  std::vector<std::int64_t> sizes;
  for (const Nodes::Run& run : nodes.runs) sizes.insert(sizes.end(), static_cast<std::size_t>(run.count), run.size);
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  return sizes;
}

/// A gap between the sends of a rank, and how many lanes of an entry beside the first can be of use: in a gap no more than these may send.
struct GapOfLanes {
  std::int64_t gap, lanes;
};

/// Whoever keeps a gap keeps each shorter one, too. If it is a little more than a multiple of the node gap, that multiple says more.
std::vector<GapOfLanes> gaps_of_lanes(const Cluster& cluster) {
  const std::int64_t gap = cluster.base.gap().ticks, gamma = cluster.nodes.gamma.ticks;
  if (gamma == 0) return {{gap, cluster.nodes.largest()}};
  std::vector<GapOfLanes> gaps{{gap, divide_up(gap, gamma)}};
  if (gap % gamma != 0 && gap > gamma) gaps.push_back({gap / gamma * gamma, gap / gamma});
  return gaps;
}

bool few_enough(const Cluster& cluster) {
  return !cluster.nodes.uniform() && cluster.nodes.count() > 1 && cluster.base.P <= kMostCounted;
}

}  // namespace

std::optional<UnequalTimes> unequal_broadcast_times(const Cluster& cluster, std::int64_t root_size) {
  if (!few_enough(cluster)) return std::nullopt;
  const Nodes& nodes = cluster.nodes;
  std::vector<std::int64_t> caps = sizes_of(nodes);
  caps.erase(std::find(caps.begin(), caps.end(), root_size));
  caps.insert(caps.begin(), root_size);
  std::vector<std::int64_t> labels(static_cast<std::size_t>(nodes.largest()), (nodes.publish + nodes.read).ticks);
  labels[0] = 0;
  Entries all{std::move(caps), labels, labels, cluster.base.lambda().ticks, 0, 0};
  UnequalTimes most{Time{0}, Time{0}};
  for (const auto& [gap, lanes] : gaps_of_lanes(cluster)) {
    all.gap = gap;
    all.senders = 1 + lanes;
    const Entries::Times times = all.until(nodes.count(), nodes.ranks());
    most = {std::max(most.entered, Time{times.entered}), std::max(most.informed, Time{times.reached})};
  }
  return most;
}

Time unequal_flow_time(const Cluster& cluster, std::int64_t root_size) {
  if (!few_enough(cluster)) return Time{0};
  const Nodes& nodes = cluster.nodes;
  // Ranks of one node may leave it one by one: how many pieces of i + 1 ranks or more there can be.
  std::vector<std::int64_t> caps{root_size};
  std::vector<std::int64_t> pieces;
  std::map<std::int64_t, std::int64_t> count_of;  // by size: few, where the ranks are not very many
  for (const Nodes::Run& run : nodes.runs) count_of[run.size] += run.count;
  for (std::int64_t size = 1; size <= nodes.largest(); ++size) {
    pieces.push_back(0);
    for (const auto& [of, count] : count_of) pieces.back() += count * (of / size);
  }
  for (std::size_t size = pieces.size(); size-- > 1;) {
    if (const auto count = static_cast<std::size_t>(pieces[size]) + 1; caps.size() < count)
      caps.resize(count, static_cast<std::int64_t>(size) + 1);
  }
  std::vector<std::int64_t> labels = board_labels(nodes, nodes.largest());
  Entries all{std::move(caps), labels, labels, cluster.base.lambda().ticks, cluster.base.gap().ticks, nodes.largest()};
  std::int64_t least = all.until(nodes.count(), nodes.ranks()).reached;
  for (const auto& [gap, lanes] : gaps_of_lanes(cluster)) {
    if (1 + lanes >= nodes.largest()) continue;
    all.gap = gap;
    all.senders = 1 + lanes;
    std::fill(all.sending.begin() + 1, all.sending.end(), labels[1]);
    least = std::max(least, all.until(nodes.count(), nodes.ranks()).reached);
  }
  return Time{least};
}

}  // namespace chasqui::plan
