// SPDX-License-Identifier: MIT
#include "chasqui/plan/broadcast.hpp"

#include "chasqui/plan/universal_tree.hpp"
#include "plan/trees/rotation.hpp"
#include "plan/trees/tree_sends.hpp"

namespace chasqui::plan {
namespace {

class Broadcast final : public Plan {
 public:
  Broadcast(const LogP& machine, Rank root, const UniversalTree& tree)
      : Plan(machine, Problem{.kind = Kind::broadcast, .root = root},
             Claim{tree.finish(), tree.finish(), "universal tree: no rank can be reached earlier", "universal tree"}),
        tree_(tree), rotation_{machine.P, root} {}

  LocalForm local(Rank rank) const override {
    const auto node = tree_.node(rotation_.index(rank));
    LocalForm form{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    if (node.parent >= 0) {
      form.receives.push_back(send_item(node.label - tree_.shape().lambda, rotation_.rank(node.parent), rank, 0));
    }
    form.sends.reserve(static_cast<std::size_t>(node.children));
    for (std::int64_t i = 0; i < node.children; ++i) {
      const std::int64_t child = node.index + 1 + tree_.size_before_child(node, i);
      form.sends.push_back(send_item(node.label + i * tree_.shape().gap, rank, rotation_.rank(child), 0));
    }
    return form;
  }

  Schedule schedule() const override {
    Schedule schedule = empty_schedule();
    schedule.sends = tree_sends(tree_);
    if (rotation_.root == Rank{0}) return schedule;  // already in canonical order
    for (Send& send : schedule.sends) {
      send.from = rotation_.rank(send.from.index);
      send.to = rotation_.rank(send.to.index);
    }
    normalise(schedule);
    return schedule;
  }

 private:
  UniversalTree tree_;
  Rotation rotation_;
};

}  // namespace

PlanPtr broadcast(const LogP& machine, Rank root) {
  validate(machine);
  validate(Problem{.kind = Kind::broadcast, .root = root}, machine);
  return std::make_shared<Broadcast>(machine, root, UniversalTree(broadcast_shape(machine), machine.P));
}

}  // namespace chasqui::plan
