// SPDX-License-Identifier: MIT
// Reduction: a broadcast run backwards (trees.md, Theorem 7).
#include "chasqui/plan/reduce.hpp"

#include <algorithm>

#include "chasqui/plan/universal_tree.hpp"
#include "plan/trees/rotation.hpp"
#include "plan/trees/tree_sends.hpp"

namespace chasqui::plan {
namespace {

class Reduce final : public Plan {
 public:
  Reduce(const LogP& machine, Rank root, bool commutative, const UniversalTree& tree)
      : Plan(machine, Problem{.kind = Kind::reduce, .root = root, .commutative = commutative},
             Claim{tree.finish(), tree.finish(), "a reduction run backwards is a broadcast",
                   "universal tree, reversed"}),
        tree_(tree), rotation_{machine.P, root} {}

  LocalForm local(Rank rank) const override {
    const auto node = tree_.node(rotation_.index(rank));
    LocalForm form{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    for_children(tree_, node, [&](std::int64_t child, std::int64_t size, Time label) {
      form.receives.push_back(message(child, size, label, node.index));
    });
    if (node.parent >= 0) form.sends.push_back(message(node.index, node.size, node.label, node.parent));
    return form;
  }

  Schedule schedule() const override {
    Schedule schedule = empty_schedule();
    std::vector<Send> edges = tree_sends(tree_);
    // Later edges are nearer to the leaves or on their right: sizes add up from the back.
    std::vector<std::int32_t> size(static_cast<std::size_t>(tree_.size()), 1);
    for (auto edge = edges.rbegin(); edge != edges.rend(); ++edge) {
      size[static_cast<std::size_t>(edge->from.index)] += size[static_cast<std::size_t>(edge->to.index)];
    }
    schedule.sends.reserve(edges.size());
    for (const Send& edge : edges) {
      schedule.sends.push_back(message(edge.to.index, size[static_cast<std::size_t>(edge.to.index)],
                                       edge.begin + tree_.shape().lambda, edge.from.index));
    }
    normalise(schedule);
    return schedule;
  }

 private:
  /// What the node `index` with a subtree of `size` ranks sends to its parent.
  Send message(std::int64_t index, std::int64_t size, Time label, std::int64_t parent) const {
    Send send{tree_.finish() - label, rotation_.rank(index), rotation_.rank(parent), {}};
    const std::int32_t lo = send.from.index;
    const auto len = static_cast<std::int32_t>(size);
    const auto before_end = static_cast<std::int32_t>(std::min(size, machine_.P - lo));
    if (problem_.commutative || before_end == len) {
      send.part = {lo, len};
    } else {
      send.part = {lo, before_end};
      send.second = {0, len - before_end};
    }
    return send;
  }

  UniversalTree tree_;
  Rotation rotation_;
};

}  // namespace

PlanPtr reduce(const LogP& machine, Rank root, bool commutative) {
  validate(machine);
  validate(Problem{.kind = Kind::reduce, .root = root}, machine);
  return std::make_shared<Reduce>(machine, root, commutative, UniversalTree(broadcast_shape(machine), machine.P));
}

}  // namespace chasqui::plan
