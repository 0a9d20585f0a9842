// SPDX-License-Identifier: MIT
#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/schedule/unroll.hpp"
#include "chasqui/show/draw.hpp"
#include "show/drawable.hpp"

namespace chasqui::show {
namespace {

/// Messages as edges from parent to child, grouped by parent.
struct Edge {
  std::int32_t parent;
  std::int32_t child;
  Time label;
  Part part;
  std::int64_t order;  ///< among the children of one parent
};

using Edges = std::unordered_map<std::int32_t, std::vector<Edge>>;

int add_node(Tree& tree, const Schedule& schedule, Rank rank, Time label, int parent) {
  const int index = static_cast<int>(tree.nodes.size());
  TreeNode node{rank, label, parent, 0, -1, {}};
  if (parent >= 0) {
    TreeNode& above = tree.nodes[static_cast<std::size_t>(parent)];
    node.depth = above.depth + 1;
    above.children.push_back(index);
  }
  const auto at = static_cast<std::size_t>(rank.index);
  if (schedule.problem.kind == Kind::sum && at < schedule.operands.size()) node.operands = schedule.operands[at];
  tree.nodes.push_back(std::move(node));
  return index;
}

/// Breadth first from the root; a rank enters once, so cycles and repetitions end.
void grow(Tree& tree, const Schedule& schedule, Edges& edges, Rank root, Time root_label) {
  std::unordered_map<std::int32_t, bool> seen{{root.index, true}};
  add_node(tree, schedule, root, root_label, -1);
  for (std::size_t next = 0; next < tree.nodes.size(); ++next) {
    const auto found = edges.find(tree.nodes[next].rank.index);
    if (found == edges.end()) continue;
    std::sort(found->second.begin(), found->second.end(),
              [](const Edge& a, const Edge& b) { return std::tie(a.order, a.child) < std::tie(b.order, b.child); });
    for (const Edge& edge : found->second) {
      if (!seen.emplace(edge.child, true).second) continue;
      add_node(tree, schedule, Rank{edge.child}, edge.label, static_cast<int>(next));
    }
  }
}

/// The first reception of every rank, of `count` items from `item` on.
void spread(Tree& tree, const Schedule& schedule, Rank root, std::int64_t item, std::int64_t count) {
  std::unordered_map<std::int32_t, Send> first;
  for (const Send& send : schedule.sends) {
    if (!drawable(schedule, send) || send.part.lo < item || send.part.lo - item >= count) continue;
    const auto [entry, added] = first.emplace(send.to.index, send);
    if (!added && send.begin < entry->second.begin) entry->second = send;
  }
  Edges edges;
  for (const auto& [rank, send] : first) {
    edges[send.from.index].push_back(
        {send.from.index, rank, available(schedule.machine, send), send.part, send.begin.ticks});
  }
  tree.label_meaning = "time at which the rank has the item";
  const Time born = schedule.problem.kind == Kind::stream ? Time{item * schedule.machine.gap().ticks} : Time{0};
  grow(tree, schedule, edges, root, born);
}

/// The last send of every rank (of one item, if item >= 0) points at its parent; children in the order of reception.
void flow_together(Tree& tree, const Schedule& schedule, Rank root, std::int64_t item) {
  std::unordered_map<std::int32_t, Send> last;
  for (const Send& send : schedule.sends) {
    if (!drawable(schedule, send) || (item >= 0 && send.part.lo != item)) continue;
    const auto [entry, added] = last.emplace(send.from.index, send);
    if (!added && send.begin > entry->second.begin) entry->second = send;
  }
  Edges edges;
  for (const auto& [rank, send] : last) {
    edges[send.to.index].push_back({send.to.index, rank, send.begin, send.part, -send.begin.ticks});
  }
  tree.label_meaning = "time at which the rank sends what it has gathered";
  grow(tree, schedule, edges, root, schedule.finish);
}

bool contains(const Part& outer, const Part& inner, std::int64_t P) {
  const std::int64_t offset = ((std::int64_t{inner.lo} - outer.lo) % P + P) % P;
  return outer.len >= P || offset + inner.len <= outer.len;
}

bool contains(const Send& outer, const Send& inner, std::int64_t P) {
  const auto held = [&](const Part& part) {
    return part.len == 0 || contains(outer.part, part, P) || (outer.second.len > 0 && contains(outer.second, part, P));
  };
  return held(inner.part) && held(inner.second);
}

/// What flows into `rank`: each message brings the receptions of its sender that it contains.
void flow_into(Tree& tree, const Schedule& schedule, Rank rank) {
  std::unordered_map<std::int32_t, std::vector<Send>> received;
  for (const Send& send : schedule.sends) {
    if (drawable(schedule, send)) received[send.to.index].push_back(send);
  }
  for (auto& [to, sends] : received) std::sort(sends.rbegin(), sends.rend());
  std::unordered_map<std::int32_t, bool> seen{{rank.index, true}};
  add_node(tree, schedule, rank, schedule.finish, -1);
  std::vector<const Send*> brought = {nullptr};
  for (std::size_t next = 0; next < tree.nodes.size(); ++next) {
    const Send* outer = brought[next];
    for (const Send& send : received[tree.nodes[next].rank.index]) {
      if (outer != nullptr &&
          (available(schedule.machine, send) > outer->begin || !contains(*outer, send, schedule.machine.P))) {
        continue;
      }
      if (!seen.emplace(send.from.index, true).second) continue;
      add_node(tree, schedule, send.from, send.begin, static_cast<int>(next));
      brought.push_back(&send);
    }
  }
  tree.label_meaning = "time at which the rank sends what flows on";
}

}  // namespace

Trees trees_in(const Schedule& schedule) {
  const std::int64_t items = std::max<std::int64_t>(1, schedule.problem.items);
  switch (schedule.problem.kind) {
    case Kind::broadcast:
    case Kind::stream:
    case Kind::reduce: return {items, "item"};
    case Kind::allgather:
    case Kind::reduce_scatter: return {saturating_multiply(items, schedule.machine.P), "item"};
    case Kind::alltoall: return {schedule.machine.P, "from rank"};
    case Kind::allreduce:
    case Kind::scan:
    case Kind::barrier: return {schedule.machine.P, "into rank"};
    default: return {};
  }
}

Tree tree_of(const Schedule& listed, std::optional<std::int64_t> of) {
  const Schedule schedule = unroll_first_items(listed);
  const Kind kind = schedule.problem.kind;
  const Rank root = schedule.problem.root;
  const std::int64_t P = schedule.machine.P;
  const std::int64_t items = std::max<std::int64_t>(1, schedule.problem.items);
  const Trees trees = trees_in(schedule);
  const std::int64_t one = of.value_or(kind == Kind::scan ? P - 1 : 0);
  if (one < 0 || one >= trees.count) {
    const std::string_view what = trees.each == "item" ? "item" : "rank";
    throw Error("{} {} does not exist in this {}: choose 0..{}", what, one, to_string(kind), trees.count - 1);
  }
  Tree tree;
  tree.title = title_of(listed);
  const Rank rank{static_cast<std::int32_t>(one)};
  switch (kind) {
    case Kind::broadcast:
    case Kind::stream:
      if (items > 1) tree.title += fmt::format(", item {}", one);
      spread(tree, schedule, root, one, 1);
      break;
    case Kind::allgather:
      tree.title += fmt::format(", item {}", one);
      spread(tree, schedule, Rank{static_cast<std::int32_t>(one / items)}, one, 1);
      break;
    case Kind::scatter: spread(tree, schedule, root, 0, kSaturated); break;
    case Kind::alltoall:
      tree.title += fmt::format(", what rank {} gives", one);
      spread(tree, schedule, rank, saturating_multiply(one, saturating_multiply(P, items)),
             saturating_multiply(P, items));
      break;
    case Kind::gather:
    case Kind::sum: flow_together(tree, schedule, root, -1); break;
    case Kind::reduce:
      if (items > 1) tree.title += fmt::format(", item {}", one);
      flow_together(tree, schedule, root, items > 1 ? one : -1);
      break;
    case Kind::reduce_scatter:
      tree.title += fmt::format(", item {}", one);
      flow_together(tree, schedule, Rank{static_cast<std::int32_t>(one / items)}, one);
      break;
    case Kind::allreduce:
    case Kind::scan:
    case Kind::barrier:
      tree.title += fmt::format(", what flows into rank {}", one);
      flow_into(tree, schedule, rank);
      break;
  }
  tree.unreached = P - static_cast<std::int64_t>(tree.nodes.size());
  return tree;
}

}  // namespace chasqui::show
