// SPDX-License-Identifier: MIT
// A broadcast of one item, repeated for every item (clusters.md, Theorem 30).
#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "chasqui/base/arithmetic.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/items/items_by_lanes.hpp"
#include "plan/repeated_plan.hpp"

namespace chasqui::plan {
namespace {

/// From the first to the last time at which a rank has to do with one item; nothing yet.
struct Activity {
  std::int64_t begin = kSaturated, end = 0;

  void add(std::int64_t from, std::int64_t length) {
    begin = std::min(begin, from);
    end = std::max(end, from + length);
  }
  std::int64_t length() const { return begin == kSaturated ? 0 : end - begin; }
};

/// So far apart that no rank and no adapter has to do with two items at a time: what the root's node does is looked up, the others have at
/// least lambda less to do it in.
Time distance_of_items(const Cluster& cluster, const Spread& tree) {
  const SpreadShape& s = tree.shape();
  const Spread::Node root = tree.root();
  const Habit& habit = tree.habit(root.left);
  const std::vector<Spread::Node> children = tree.children(root);
  std::vector<Activity> lanes_sends(static_cast<std::size_t>(habit.lanes));  // of sends, as far as the gap is concerned
  Activity adapter;
  Activity first;   // of the root
  Activity others;  // of all its neighbours
  std::int64_t last_send = 0;
  for (const Spread::Node& child : children) {
    lanes_sends[static_cast<std::size_t>(child.parent_lane)].add(child.parent_begin, s.gap);
    adapter.add(child.parent_begin, s.gamma);
    (child.parent_lane == 0 ? first : others).add(child.parent_begin, s.overhead);
    last_send = std::max(last_send, child.parent_begin);
  }
  if (s.lanes > 1) {
    const std::int64_t begin = habit.lanes > 1 ? inform_begin(s, habit) : children.empty() ? 0 : last_send + s.overhead;
    first.add(begin, s.publish);
    others.add(begin + cluster.nodes.publish.ticks, s.read);
  }
  std::int64_t distance = std::max({adapter.length(), first.length(), others.length()});
  for (const Activity& lane : lanes_sends) distance = std::max(distance, lane.length());
  if (children.empty()) return Time{distance};
  // Any other node begins with a reception, earlier than the tree has it where the tree's latency is longer than the machine's, and sends
  // last 2 lambda before the end; then or after the reception it publishes.
  const std::int64_t early = s.lambda - cluster.base.lambda().ticks, publish = s.lanes > 1 ? s.publish : 0;
  distance = std::max(distance, early + s.overhead + publish);
  if (const std::int64_t sends = tree.time() - 2 * s.lambda; sends >= 0)
    distance = std::max({distance, sends + s.gap, early + sends + 2 * s.overhead + publish});
  return Time{distance};
}

}  // namespace

PlanPtr repeated_on_cluster(const Cluster& cluster, const Problem& problem, Lanes lanes, const Bound& bound,
                            std::int64_t most_lanes) {
  Spread tree = one_entry_tree(cluster, lanes, most_lanes);
  const Time distance = distance_of_items(cluster, tree);
  PlanPtr once = one_entry_broadcast(cluster, problem.root, lanes, bound, std::move(tree));
  const std::int64_t later = checked_multiply(problem.items - 1, distance.ticks, "a broadcast of several items");
  const Time finish{checked_add(once->claim().finish.ticks, later, "a broadcast of several items")};
  std::string how = once->claim().construction;
  if (problem.items > 1) how += fmt::format(", once per item, {} ticks apart", distance.ticks);
  Claim claim{finish, bound.time, bound.source, std::move(how)};
  return repeated(std::move(once), problem, std::move(claim), distance);
}

}  // namespace chasqui::plan
