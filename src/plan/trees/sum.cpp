// SPDX-License-Identifier: MIT
#include "chasqui/plan/sum.hpp"

#include <algorithm>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/plan/universal_tree.hpp"
#include "plan/trees/tree_sends.hpp"

namespace chasqui::plan {
namespace {

/// A received value costs its receiver o to take in and 1 to add, so messages travel as if one tick longer
/// (trees.md, Definition 9).
TreeShape sum_shape(const LogP& machine) {
  return {machine.lambda() + Time{1}, std::max(machine.g, machine.o + Time{1})};
}

class Sum final : public SumPlan {
 public:
  Sum(const LogP& machine, Time t, std::int64_t n, std::int64_t surplus, bool commutative, const UniversalTree& tree)
      : SumPlan(machine, Problem{.kind = Kind::sum, .commutative = commutative},
                Claim{t, t, "no summation folds more operands in less time (sum-optimal tree)",
                      "sum-optimal universal tree, reversed"}),
        n_(n), surplus_(surplus), tree_(tree) {}

  std::int64_t operands() const override { return n_; }
  std::int64_t participants() const override { return tree_.size(); }

  LocalForm local(Rank rank) const override {
    LocalForm form{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    if (rank.index >= tree_.size()) return form;
    const auto node = tree_.node(rank.index);
    const Time end = claim_.finish - node.label;  // when it sends, or has the result
    for_children(tree_, node, [&](std::int64_t child, std::int64_t size, Time label) {
      form.receives.push_back(message(child, size, label, node.index));
    });
    if (node.parent >= 0) form.sends.push_back(message(node.index, node.size, node.label, node.parent));
    form.adds = additions(rank, end, form.receives);
    form.operands = own_operands(node.index, end, node.children);
    return form;
  }

  Schedule schedule() const override {
    Schedule schedule = empty_schedule();
    const auto participants = static_cast<std::size_t>(tree_.size());
    std::vector<Send> edges = tree_sends(tree_);
    std::vector<std::int32_t> size(participants, 1);
    std::vector<Time> label(participants);
    for (const Send& edge : edges) {
      label[static_cast<std::size_t>(edge.to.index)] = edge.begin + tree_.shape().lambda;
    }
    std::vector<std::vector<Send>> receives(participants);
    for (auto edge = edges.rbegin(); edge != edges.rend(); ++edge) {
      const auto child = static_cast<std::size_t>(edge->to.index);
      size[static_cast<std::size_t>(edge->from.index)] += size[child];
      const Send send = message(edge->to.index, size[child], label[child], edge->from.index);
      receives[static_cast<std::size_t>(edge->from.index)].push_back(send);
      schedule.sends.push_back(send);
    }
    schedule.operands.assign(static_cast<std::size_t>(machine_.P), 0);
    for (std::size_t r = 0; r < participants; ++r) {
      const Time end = claim_.finish - label[r];
      const auto adds = additions(Rank{static_cast<std::int32_t>(r)}, end, receives[r]);
      schedule.adds.insert(schedule.adds.end(), adds.begin(), adds.end());
      schedule.operands[r] =
          own_operands(static_cast<std::int64_t>(r), end, static_cast<std::int64_t>(receives[r].size()));
    }
    normalise(schedule);
    return schedule;
  }

  std::vector<OperandRange> placement(Rank rank) const override {
    std::vector<OperandRange> ranges;
    if (rank.index >= tree_.size()) return ranges;
    const auto target = tree_.node(rank.index);
    const std::int64_t first = first_position(target);
    // Folding goes from right to left: the first child reports last and stands left-most, the operands that were
    // added first stand right-most (trees.md, Theorem 12).
    std::int64_t own_left = own_operands(target.index, claim_.finish - target.label, target.children);
    const auto append = [&](std::int64_t children_before, std::int64_t own_before, std::int64_t count) {
      if (count > 0) ranges.push_back({first + operands_before_child(target, children_before) + own_before, count});
      own_left -= count;
    };
    for (std::int64_t i = 1; i < target.children; ++i) append(i, (i - 1) * between_receptions(), between_receptions());
    append(target.children, std::max<std::int64_t>(target.children - 1, 0) * between_receptions(), own_left);
    return ranges;
  }

 private:
  /// Local additions that fit between two receptions.
  std::int64_t between_receptions() const { return tree_.shape().gap.ticks - machine_.o.ticks - 1; }

  /// The first `surplus_` ranks hold one operand less, so that exactly n are folded.
  std::int64_t own_operands(std::int64_t index, Time end, std::int64_t children) const {
    return end.ticks - (machine_.o.ticks + 1) * children + 1 - (index < surplus_ ? 1 : 0);
  }

  Send message(std::int64_t index, std::int64_t size, Time label, std::int64_t parent) const {
    const auto from = static_cast<std::int32_t>(index);
    return {claim_.finish - label,
            Rank{from},
            Rank{static_cast<std::int32_t>(parent)},
            {from, static_cast<std::int32_t>(size)}};
  }

  /// Local additions until a message comes, its overhead, its addition, and so on; `receives` by time.
  std::vector<Add> additions(Rank rank, Time end, const std::vector<Send>& receives) const {
    std::vector<Add> adds;
    Time now{rank.index < surplus_ ? 1 : 0};
    const auto local_until = [&](Time until) {
      if (now < until) adds.push_back({now, rank, rank, (until - now).ticks});
      now = until;
    };
    for (const Send& receive : receives) {
      local_until(reception_begin(machine_, receive));
      now = available(machine_, receive);
      adds.push_back({now, rank, receive.from, 1});
      now += Time{1};
    }
    local_until(end);
    return adds;
  }

  /// How many operands the subtrees of the first i children hold together: Σ (S + 1 - (o+1)·children) over their
  /// nodes, with S = finish - label.
  std::int64_t operands_before_child(const UniversalTree::Node& parent, std::int64_t i) const {
    const Time left = tree_.finish() - parent.label;
    const auto times_below = [&](Time remaining) {  // Σ (B - label) over the proper descendants
      return remaining < Time{1} ? 0 : cumulative_reach(tree_.shape(), remaining - Time{1}) - remaining.ticks;
    };
    const std::int64_t times = times_below(left) - times_below(left - i * tree_.shape().gap);
    const Time slack = claim_.finish - tree_.finish();  // every S is that much more than B - label
    const std::int64_t nodes = tree_.size_before_child(parent, i);
    const std::int64_t lost = std::clamp<std::int64_t>(surplus_ - parent.index - 1, 0, nodes);
    return times + nodes * (slack.ticks + 1) - (machine_.o.ticks + 1) * (nodes - i) - lost;
  }

  /// The left-most operand of the node's subtree: what lies left of it belongs to the elder siblings on the way from
  /// the root, or to their parents between two receptions.
  std::int64_t first_position(const UniversalTree::Node& node) const {
    std::int64_t position = 0;
    for (auto at = node; at.parent >= 0;) {
      const auto parent = tree_.parent(at);
      position += operands_before_child(parent, at.sibling) + at.sibling * between_receptions();
      at = parent;
    }
    return position;
  }

  std::int64_t n_;
  std::int64_t surplus_;
  UniversalTree tree_;
};

std::shared_ptr<const SumPlan> make(const LogP& machine, Time t, std::int64_t n, bool commutative) {
  const std::int64_t most = most_operands(machine, t);
  if (most == kSaturated) throw Error("t={} allows more than 2^63 operands: choose a shorter time", t.ticks);
  // A rank that would send before it had time for o additions costs its parent more than it brings: trees.md,
  // Theorem 10 (if all take part: trees.md, Corollary 11).
  const TreeShape shape = sum_shape(machine);
  const std::int64_t worthwhile = std::max<std::int64_t>(reach(shape, t - machine.o - Time{1}), 1);
  const UniversalTree tree(shape, std::min(machine.P, worthwhile));
  return std::make_shared<Sum>(machine, t, n, most - n, commutative, tree);
}

}  // namespace

std::int64_t most_operands(const LogP& machine, Time t) {
  if (t <= machine.o) return t.ticks + 1;
  // n(t) = t + 1 + Σ max(0, t - o - label) over all nodes but the root, summed tick by tick: min(P(τ), P) nodes gain
  // an operand at each τ = 0 .. t-o-1.
  const TreeShape shape = sum_shape(machine);
  const Time last = t - machine.o - Time{1};
  const Time full = broadcast_time(shape, machine.P);
  const std::int64_t growing = cumulative_reach(shape, std::min(last, full - Time{1}));
  const std::int64_t steady = last < full ? 0 : saturating_multiply(machine.P, (last - full).ticks + 1);
  return saturating_add(saturating_add(growing, steady), machine.o.ticks + 1);
}

Time least_sum_time(const LogP& machine, std::int64_t n) {
  CHASQUI_CHECK(n >= 1, "n={}", n);
  Time low{-1};
  Time high{n - 1};  // one rank alone manages that
  while (high - low > Time{1}) {
    const Time middle{low.ticks + (high.ticks - low.ticks) / 2};
    (most_operands(machine, middle) < n ? low : high) = middle;
  }
  return high;
}

std::shared_ptr<const SumPlan> sum(const LogP& machine, Time t, bool commutative) {
  validate(machine);
  if (t < Time{0}) throw Error("time={} is negative: a summation needs at least 0 ticks", t.ticks);
  return make(machine, t, most_operands(machine, t), commutative);
}

std::shared_ptr<const SumPlan> sum_operands(const LogP& machine, std::int64_t n, bool commutative) {
  validate(machine);
  if (n < 1) throw Error("operands={} is too small: it must be at least 1", n);
  return make(machine, least_sum_time(machine, n), n, commutative);
}

}  // namespace chasqui::plan
