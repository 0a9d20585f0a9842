// SPDX-License-Identifier: MIT
// All-reduce and barrier by leaders: every board folds, the first ranks of the nodes do what the ranks of a plain machine do, and
// publish what they have.
#include <utility>

#include "chasqui/plan/allreduce.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/node_parts.hpp"

namespace chasqui::plan {
namespace {

PlanPtr between_leaders(const Cluster& cluster, bool commutative) {
  LogP leaders = cluster.base;
  leaders.P = cluster.nodes.count();
  return allreduce(leaders, commutative);
}

/// All nodes wait for the slowest fold. One rank's part: what it does on the board and, for a leader, its part among N ranks.
class LeaderAllreduce final : public Plan {
 public:
  LeaderAllreduce(const Cluster& cluster, const Problem& problem, Claim claim)
      : Plan(cluster, problem, std::move(claim)), where_(nodes_), folds_(nodes_),
        between_(between_leaders(cluster, problem.commutative)), folded_{folds_.time()},
        done_(folded_ + between_->claim().finish) {
    claim_.finish = nodes_.largest() > 1 ? done_ + nodes_.publish + nodes_.read : done_;
  }

  LocalForm local(Rank rank) const override {
    LocalForm form{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    const std::int64_t node = where_.node_of(rank);
    const std::int64_t place = rank.index - where_.first_rank(node);
    on_board(node, place, form.publications, form.readings);
    if (place > 0) return in_order(std::move(form));
    const LocalForm leader = between_->local(Rank{static_cast<std::int32_t>(node)});
    for (const Send& send : leader.sends) form.sends.push_back(of_nodes(send));
    for (const Send& send : leader.receives) form.receives.push_back(of_nodes(send));
    return in_order(std::move(form));
  }

  Schedule schedule() const override {
    Schedule s = empty_schedule();
    s.sends = between_->schedule().sends;
    for (Send& send : s.sends) send = of_nodes(send);
    for (std::int64_t node = 0; node < nodes_.count(); ++node) {
      for (std::int64_t place = 0; place < where_.size(node); ++place)
        on_board(node, place, s.publications, s.readings);
    }
    normalise(s);
    return s;
  }

 private:
  Rank leader(std::int64_t node) const { return {static_cast<std::int32_t>(where_.first_rank(node))}; }

  /// A message between two of N ranks as one between leaders.
  Send of_nodes(const Send& send) const {
    const auto whole = [&](const Part& nodes) {
      return nodes.len == 0 ? Part{} : node_parts(where_, problem_, nodes.lo, nodes.len).first;
    };
    return {send.begin + folded_, leader(send.from.index), leader(send.to.index), whole(send.part), whole(send.second)};
  }

  /// The fold of the node, and in the end the result.
  void on_board(std::int64_t node, std::int64_t place, std::vector<Publication>& publications,
                std::vector<Reading>& readings) const {
    const std::int64_t size = where_.size(node), first = where_.first_rank(node);
    if (size == 1) return;
    folds_.of(size).events(first, first, place, publications, readings);
    const Part all{0, static_cast<std::int32_t>(machine_.P)};
    if (place == 0) {
      publications.push_back({done_, leader(node), all});
    } else {
      readings.push_back({done_ + nodes_.publish, Rank{static_cast<std::int32_t>(first + place)}, leader(node), all});
    }
  }

  NodeIndex where_;
  BoardFolds folds_;
  PlanPtr between_;  ///< on N ranks
  Time folded_;      ///< when every leader has the fold of its node
  Time done_;        ///< when every leader has the result
};

}  // namespace

PlanPtr allreduce_by_leaders(const Cluster& cluster, const Problem& problem, const Bound& bound) {
  return std::make_shared<LeaderAllreduce>(cluster, problem,
                                           Claim{Time{0}, bound.time, bound.source, "leaders: one rank a node talks"});
}

}  // namespace chasqui::plan
