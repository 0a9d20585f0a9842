// SPDX-License-Identifier: MIT
// No plan ends later than that of a harder collective (clusters.md, Theorem 41). Which is harder than which stands here, and nowhere else.
#include <optional>
#include <utility>
#include <vector>

#include "chasqui/base/arithmetic.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/cut.hpp"
#include "plan/earliest.hpp"
#include "plan/in_turn_plan.hpp"
#include "plan/repeated_plan.hpp"

namespace chasqui::plan {
namespace {

/// Up to here harder collectives are planned as well: on more ranks none was found that ended earlier.
constexpr std::int64_t kMostCut = 64;
/// Up to here many items are also planned as fewer and then the others, in every way.
constexpr std::int64_t kMostSplit = 16;
/// Up to here trees on unequal nodes, which are lists, are made to be compared with.
constexpr std::int64_t kMostUnequalInTurn = 1 << 16;

class NoLater {
 public:
  NoLater(const Cluster& cluster, PlanPtr plan) : cluster_(cluster), best_(std::move(plan)) {}

  PlanPtr best() && {
    const Problem problem = best_.plan()->problem();
    if (done()) return best_.plan();
    if (problem.kind == Kind::allreduce || problem.kind == Kind::barrier) trees_in_turn();
    if (problem.items > 1 && problem.kind == Kind::broadcast) items_in_turn();
    if (cluster_.base.P > kMostCut) return best_.plan();
    best_.offer(planned(problem, Lanes::leaders));
    switch (problem.kind) {
      case Kind::broadcast: broadcast(); break;
      case Kind::reduce: reduce(); break;
      case Kind::barrier: barrier(); break;
      case Kind::allreduce: break;
      case Kind::gather:
      case Kind::scan: cut_of(Kind::allgather); break;
      case Kind::reduce_scatter: reduce_scatter(); break;
      default: break;
    }
    return best_.plan();
  }

 private:
  const Problem& problem() const { return best_.plan()->problem(); }
  bool done() const { return best_.optimal(); }
  std::int64_t last() const { return cluster_.base.P - 1; }

  /// The claim for something else in the place of the best plan.
  Claim claim(std::string construction) const {
    return {Time{0}, best_.plan()->claim().bound, best_.plan()->claim().bound_source, std::move(construction)};
  }

  PlanPtr planned(const Problem& harder, Lanes lanes = Lanes::all) const {
    switch (harder.kind) {
      case Kind::broadcast:
        if (harder.items > 1) return items_on_cluster(cluster_, harder.root, harder.items, lanes);
        return broadcast_on_cluster(cluster_, harder.root, lanes);
      case Kind::reduce: return reduce_on_cluster(cluster_, harder.root, harder.commutative, lanes);
      case Kind::scan: return scan_on_cluster(cluster_, harder, lanes);
      case Kind::scatter: return scatter_on_cluster(cluster_, harder.root, lanes);
      case Kind::gather: return gather_on_cluster(cluster_, harder.root, lanes);
      case Kind::allreduce:
      case Kind::barrier: return allreduce_on_cluster(cluster_, harder, lanes);
      default: return exchange_on_cluster(cluster_, harder, lanes);
    }
  }

  /// What such a plan does, as far as it is needed.
  void cut(const Problem& harder) {
    if (done()) return;
    const PlanPtr plan = no_later_than_harder(cluster_, planned(harder));  // no rule leads back to this one
    if (plan->claim().bound >= best_.before()) return;
    std::optional<Schedule> schedule = problem().kind == Kind::broadcast
                                           ? broadcast_within(plan->schedule(), problem().root)
                                           : folds_within(plan->schedule(), problem());
    if (!schedule) return;
    schedule->bound = best_.plan()->claim().bound;
    best_.offer(std::move(schedule), best_.plan()->claim().bound_source, [&] {
      return fmt::format("part of {} {}: {}",
                         harder.kind == Kind::allgather || harder.kind == Kind::allreduce ? "an" : "a",
                         to_string(harder.kind), plan->claim().construction);
    });
  }
  void cut_of(Kind kind) {
    cut({.kind = kind, .root = has_root(kind) ? problem().root : Rank{}, .commutative = problem().commutative});
  }

  void broadcast() {
    if (problem().items > 1) return;
    cut_of(Kind::barrier);  // which ends no later than an all-reduce
    cut_of(Kind::scatter);
    if (problem().root == Rank{}) cut_of(Kind::scan);
  }
  void reduce() {
    cut_of(Kind::allreduce);
    cut_of(Kind::gather);
    if (problem().root.index == last()) cut_of(Kind::scan);
  }
  void barrier() {
    if (!done() && !cluster_.nodes.uniform())
      best_.offer(with_problem(planned({.kind = Kind::allreduce}), problem(), claim("")));
  }
  void reduce_scatter() {
    Problem straight = problem();
    straight.kind = Kind::alltoall;
    straight.commutative = true;
    best_.offer(reduce_scatter_by_alltoall(problem(), planned(straight), claim("")));
  }
  void items_in_turn() {
    const std::int64_t k = problem().items;
    const auto broadcast_of = [&](std::int64_t items) {
      Problem fewer = problem();
      fewer.items = items;
      return fewer;
    };
    const PlanPtr once = no_later_than_harder(cluster_, planned(broadcast_of(1)));
    const Time distance = turn_after(cluster_.base, once->claim().finish);
    Claim all = claim(once->claim().construction + ", once per item");
    all.finish = Time{saturating_add(saturating_multiply(k - 1, distance.ticks), once->claim().finish.ticks)};
    if (all.finish < best_.before()) best_.offer(repeated(once, problem(), all, distance));
    if (cluster_.base.P > kMostCut || k > kMostSplit) return;
    std::vector<Earliest> of{Earliest{}, Earliest(once)};
    for (std::int64_t items = 2; items <= k; ++items) {
      of.emplace_back(items < k ? planned(broadcast_of(items)) : best_.plan());
      Earliest& best = of.back();
      for (std::int64_t first = 1; first < items; ++first) {
        const PlanPtr &a = of[static_cast<std::size_t>(first)].plan(),
                      &b = of[static_cast<std::size_t>(items - first)].plan();
        if (turn_after(cluster_.base, a->claim().finish) + b->claim().finish >= best.before()) continue;
        const std::string how = a == b ? "" : ", then " + b->claim().construction;
        best.offer(std::make_shared<InTurnPlan>(
            broadcast_of(items), claim("items in turn: " + a->claim().construction + how), a, b, Part{}, first));
      }
    }
    best_ = std::move(of.back());
  }
  void trees_in_turn() {
    if (!cluster_.nodes.uniform() && cluster_.base.P > kMostUnequalInTurn) return;
    const Problem folded{.kind = Kind::reduce, .commutative = problem().commutative};
    const Part all{0, static_cast<std::int32_t>(cluster_.base.P)};
    best_.offer(std::make_shared<InTurnPlan>(problem(), claim("a reduction to rank 0, then a broadcast"),
                                             planned(folded), planned({.kind = Kind::broadcast}), all));
  }

  const Cluster& cluster_;
  Earliest best_;
};

}  // namespace

PlanPtr no_later_than_harder(const Cluster& cluster, PlanPtr plan) { return NoLater(cluster, std::move(plan)).best(); }

}  // namespace chasqui::plan
