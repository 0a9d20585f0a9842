// SPDX-License-Identifier: MIT
// Scan by leaders: every board works, the last ranks of the nodes do what the ranks of a plain machine do, and publish what they have for the
// others of their nodes (clusters.md, Theorem 42).
#include <fmt/core.h>

#include <algorithm>

#include "chasqui/plan/scan.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/node_index.hpp"
#include "plan/clusters/scan/board_rounds.hpp"

namespace chasqui::plan {
namespace {

PlanPtr between_leaders(const Cluster& cluster) {
  LogP leaders = cluster.base;
  leaders.P = cluster.nodes.count();
  return scan(leaders, false);
}

/// All nodes wait for the slowest board. One rank's part: what it does on its board and, for a leader, its part among N ranks.
class LeaderScan final : public Plan {
 public:
  LeaderScan(const Cluster& cluster, const Problem& problem, std::int64_t factor, Claim claim)
      : Plan(cluster, problem, std::move(claim)), where_(cluster.nodes), factor_(factor),
        between_(between_leaders(cluster)), folded_(board(nodes_.largest()).time()),
        done_(folded_ + between_->claim().finish) {
    claim_.finish = led_nodes() ? done_ + nodes_.publish + nodes_.read : done_;
  }

  LocalForm local(Rank rank) const override {
    LocalForm form{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    const std::int64_t node = where_.node_of(rank), size = where_.size(node), first = where_.first_rank(node);
    on_board(node, size, first, rank.index - first, form.publications, form.readings);
    if (rank.index - first < size - 1) return in_order(std::move(form));
    const LocalForm leader = between_->local(Rank{static_cast<std::int32_t>(node)});
    for (const Send& send : leader.sends) form.sends.push_back(of_nodes(send));
    for (const Send& send : leader.receives) form.receives.push_back(of_nodes(send));
    return in_order(std::move(form));
  }

  Schedule schedule() const override {
    require_listable({machine_, nodes_}, problem_,
                     saturating_multiply(machine_.P, board(nodes_.largest()).most_events() + 2));
    Schedule s = empty_schedule();
    s.sends = between_->schedule().sends;
    for (Send& send : s.sends) send = of_nodes(send);
    std::int64_t first = 0;
    for (std::int64_t node = 0; node < nodes_.count(); ++node) {
      const std::int64_t size = where_.size(node);
      for (std::int64_t place = 0; place < size; ++place)
        on_board(node, size, first, place, s.publications, s.readings);
      first += size;
    }
    normalise(s);
    return s;
  }

 private:
  BoardRounds board(std::int64_t size) const { return {nodes_, size, factor_}; }
  /// Is there somebody whom a leader tells? Nobody in the first node, which has nothing below it.
  bool led_nodes() const {
    for (std::size_t i = 0; i < nodes_.runs.size(); ++i) {
      if (nodes_.runs[i].size > 1 && (i > 0 || nodes_.runs[i].count > 1)) return true;
    }
    return false;
  }

  /// A message between two of N ranks as one between leaders.
  Send of_nodes(const Send& send) const {
    const auto leader = [&](Rank node) {
      return Rank{static_cast<std::int32_t>(where_.first_rank(node.index + 1) - 1)};
    };
    const std::int64_t first = where_.first_rank(send.part.lo), end = where_.first_rank(send.part.lo + send.part.len);
    return {send.begin + folded_, leader(send.from), leader(send.to),
            Part{static_cast<std::int32_t>(first), static_cast<std::int32_t>(end - first)}};
  }

  /// The scan of the node, and in the end what lies below it.
  void on_board(std::int64_t node, std::int64_t size, std::int64_t first, std::int64_t place,
                std::vector<Publication>& publications, std::vector<Reading>& readings) const {
    if (size == 1) return;
    board(size).events(first, place, publications, readings);
    if (node == 0) return;
    const Part below{0, static_cast<std::int32_t>(first)};
    const auto rank = [&](std::int64_t at) { return Rank{static_cast<std::int32_t>(first + at)}; };
    if (place == size - 1) publications.push_back({done_, rank(place), below});
    else readings.push_back({done_ + nodes_.publish, rank(place), rank(size - 1), below});
  }

  NodeIndex where_;
  std::int64_t factor_;
  PlanPtr between_;  ///< on N ranks
  Time folded_;      ///< when every board has done its scan
  Time done_;        ///< when every leader has what lies below its node
};

}  // namespace

PlanPtr scan_by_leaders(const Cluster& cluster, const Problem& problem, const Bound& bound) {
  const std::int64_t factor = best_board_factor(cluster.nodes);
  return std::make_shared<LeaderScan>(cluster, problem, factor,
                                      Claim{Time{0}, bound.time, bound.source,
                                            fmt::format("boards of radix {}; leaders: one rank a node talks", factor)});
}

}  // namespace chasqui::plan
