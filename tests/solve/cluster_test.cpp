// SPDX-License-Identifier: MIT
// Collectives on tiny clusters: what trying everything finds, held against bounds and plans.
#include "chasqui/solve/cluster.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/clusters.hpp"
#include "chasqui/plan/kitem.hpp"
#include "chasqui/verify/verify.hpp"
#include "solve/clusters/climb.hpp"
#include "solve/clusters/interval_names.hpp"
#include "sweep.hpp"

namespace chasqui::solve {
namespace {

Problem broadcast(std::int32_t root) { return {.kind = Kind::broadcast, .root = Rank{root}}; }

/// What publishing and reading take, in ticks.
struct Board {
  std::int64_t publish, read;
};
const std::vector<Board> kBoards{{1, 1}, {1, 2}, {2, 1}, {2, 2}};
const std::vector<Board> kBoardsInNoTime{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {2, 0}};

/// Calls visit(cluster) for equal nodes of at least two ranks: all small machines and node gaps with these boards.
template <typename Visit>
void for_tiny_clusters(std::int64_t most_nodes, std::int64_t most_ranks, std::int64_t most_lambda, Visit visit,
                       const std::vector<Board>& boards = kBoards) {
  for (std::int64_t N = 2; N <= most_nodes; ++N) {
    for (std::int64_t n = 2; N * n <= most_ranks; ++n) {
      for (std::int64_t o = 0; o <= 1; ++o) {
        for (std::int64_t L = o == 0 ? 2 : 0; L + 2 * o <= most_lambda; ++L) {
          for (std::int64_t g = 1; g <= 3; ++g) {
            for (std::int64_t gamma = 0; gamma <= std::min<std::int64_t>(2, std::max(g, o)); ++gamma) {
              for (const auto& [publish, read] : boards) {
                if (publish + read > L + 2 * o) continue;
                visit(Cluster::uniform(N, n, {1, Time{L}, Time{o}, Time{g}}, Time{gamma}, Time{publish}, Time{read}));
              }
            }
          }
        }
      }
    }
  }
}

/// The least T within which there is a broadcast, found upwards from one tick below the claimed bound.
Time optimum(const Cluster& cluster, const plan::Claim& claim) {
  Options options;
  options.warm_start = false;
  for (Time T = claim.bound - Time{1};; T += Time{1}) {
    options.at_most = T;
    const Answer answer = solve_on_cluster(cluster, broadcast(0), options);
    if (!answer.best) continue;
    EXPECT_GE(answer.best->finish, claim.bound) << to_string(cluster) << ": the bound is wrong";
    EXPECT_TRUE(verify(*answer.best).legal()) << to_string(cluster) << "\n" << to_string(verify(*answer.best));
    return T;
  }
}

/// Trying everything takes longest on the most ranks: those of twelve are for whole sweeps.
constexpr std::int64_t kMostRanks = kWholeSweeps ? 12 : 9;

TEST(TinyClusters, EqualBruteForce) {
  int clusters = 0, optimal = 0, tight = 0, single = 0;
  for_tiny_clusters(5, kMostRanks, 5, [&](const Cluster& c) {
    const plan::Claim claim = plan::on_cluster(c, {.kind = Kind::broadcast})->claim();
    const Time best = optimum(c, claim);
    ++clusters;
    optimal += claim.finish == best ? 1 : 0;
    tight += claim.bound == best ? 1 : 0;
    const std::int64_t n = c.nodes.largest();
    const Time board = c.nodes.publish + c.nodes.read;
    Time entered{0};
    while (plan::nodes_entered(c, entered) < c.nodes.count()) entered += Time{1};
    single += best == entered + board ? 1 : 0;
    EXPECT_EQ(
        best == entered + board,
        search_one_item(c, broadcast(0), NodeEntries::one)->within(best, [] { return false; }) == Verdict::satisfiable)
        << to_string(c);  // clusters.md, Theorem 5: with one entry a node nothing is faster
    if ((n - 1) * c.nodes.gamma >= board) {
      EXPECT_EQ(best, entered + board) << to_string(c);  // clusters.md, Theorem 5
    }
    if (c.nodes.gamma == Time{0} && board <= c.base.L + c.base.o) {
      EXPECT_EQ(best, std::min(claim.bound, entered + board)) << to_string(c);  // clusters.md, Theorem 6
    }
  });
  EXPECT_EQ(clusters, kWholeSweeps ? 2112 : 1152);
  EXPECT_EQ(optimal, kWholeSweeps ? 2098 : 1144);
  EXPECT_EQ(tight, kWholeSweeps ? 2032 : 1094);
  EXPECT_EQ(single, kWholeSweeps ? 1249 : 591);
}

/// The bound holds, what is found is a schedule, and with two ranks a node a reduction takes as long as a broadcast with publishing and
/// reading exchanged. If one message leaves each node nothing is faster than the plan of clusters.md, Theorem 9. (`solve_atlas` has how many optima it meets.)
TEST(TinyClusters, ReductionsToo) {
  const Stop never = [] { return false; };
  Sweep sweep;
  for_tiny_clusters(5, kMostRanks, 5, [&](const Cluster& c) {
    if (!sweep.takes_next()) return;
    const plan::Claim claim = plan::on_cluster(c, {.kind = Kind::reduce})->claim();
    Options below;
    below.warm_start = false;
    below.at_most = claim.bound - Time{1};
    EXPECT_EQ(solve_on_cluster(c, {.kind = Kind::reduce}, below).status, Status::infeasible)
        << to_string(c) << ": the bound is wrong";
    const Answer answer = solve_on_cluster(c, {.kind = Kind::reduce});
    ASSERT_EQ(answer.status, Status::optimal);
    ASSERT_TRUE(answer.best.has_value());
    EXPECT_EQ(answer.best->finish, answer.bound) << to_string(c);
    EXPECT_TRUE(verify(*answer.best).legal()) << to_string(c) << "\n" << to_string(verify(*answer.best));
    const ClusterSearchPtr one_exit = search_one_item(c, {.kind = Kind::reduce}, NodeEntries::one);
    const Time one = plan::on_cluster(c, {.kind = Kind::reduce}, plan::Lanes::one_entry)->claim().finish;
    EXPECT_EQ(one_exit->within(one, never), Verdict::satisfiable) << to_string(c);
    EXPECT_EQ(one_exit->within(one - Time{1}, never), Verdict::unsatisfiable) << to_string(c);
    EXPECT_LE(claim.finish, one) << to_string(c);
    if (c.nodes.largest() == 2 && c.nodes.publish + c.nodes.read <= c.base.lambda()) {
      Cluster exchanged = c;
      std::swap(exchanged.nodes.publish, exchanged.nodes.read);
      EXPECT_EQ(answer.bound, solve_on_cluster(exchanged, broadcast(0)).bound) << to_string(c);
    }
  });
}

/// N nodes of two ranks; one rank of each node but the first is below the first of them, all others are below rank 0.
std::optional<NamedTree> one_rank_of_each_node_together(std::int64_t N) {
  Nodes nodes;
  std::vector<Rank> parent(static_cast<std::size_t>(2 * N), Rank{0});
  for (std::int64_t node = 0; node < N; ++node) nodes.add(2);
  for (std::size_t rank = 4; rank < parent.size(); rank += 2) parent[rank] = Rank{2};
  return interval_names(nodes, Rank{0}, parent);
}

/// Neighbouring nodes turn their ranks towards each other: one interval for two of them, two for four, and for five there are no names.
TEST(TinyClusters, NamesMakeIntervalsOfWhatIsFolded) {
  const std::optional<NamedTree> one = one_rank_of_each_node_together(3);
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->name[0], Rank{0});
  EXPECT_EQ(one->subtree[2], std::pair(Part{3, 2}, Part{}));
  const std::optional<NamedTree> two = one_rank_of_each_node_together(5);
  ASSERT_TRUE(two.has_value());
  EXPECT_EQ(two->subtree[2], std::pair(Part{3, 2}, Part{7, 2}));
  EXPECT_FALSE(one_rank_of_each_node_together(6).has_value());
}

TEST(TinyClusters, AnswerIsAScheduleWithItsBound) {
  const Cluster c = Cluster::uniform(3, 2, {1, Time{2}, Time{1}, Time{3}}, Time{0}, Time{2}, Time{2});
  const Answer answer = solve_on_cluster(c, broadcast(3));
  EXPECT_EQ(answer.status, Status::optimal);
  ASSERT_TRUE(answer.best.has_value());
  EXPECT_EQ(answer.best->finish, Time{9});
  EXPECT_EQ(answer.best->bound, Time{9});
  EXPECT_TRUE(verify(*answer.best).legal());
  Options options;
  options.at_most = Time{8};
  EXPECT_EQ(solve_on_cluster(c, broadcast(3), options).status, Status::infeasible);
}

/// `plan --exact`: a faster schedule, or a better bound.
TEST(TinyClusters, APlanIsImprovedByTheAnswer) {
  const Cluster c = Cluster::uniform(2, 2, {1, Time{2}, Time{1}, Time{2}}, Time{1}, Time{1}, Time{1});
  int faster = 0, bounds = 0;
  for (const Kind kind : {Kind::allgather, Kind::reduce_scatter, Kind::allreduce, Kind::reduce, Kind::scan}) {
    const plan::PlanPtr plan = plan::on_cluster(c, {.kind = kind});
    const Answer answer = solve_on_cluster(c, {.kind = kind});
    const plan::PlanPtr better = with_answer(plan, answer);
    EXPECT_EQ(better->claim().bound, answer.bound) << to_string(kind);
    EXPECT_EQ(better->claim().optimal(), answer.best && answer.best->finish == answer.bound) << to_string(kind);
    EXPECT_TRUE(verify(better->schedule()).legal()) << to_string(kind);
    EXPECT_EQ(verify(better->schedule()).finish, better->claim().finish) << to_string(kind);
    faster += better->claim().finish < plan->claim().finish ? 1 : 0;
    bounds += better->claim().bound > plan->claim().bound ? 1 : 0;
  }
  EXPECT_GE(faster, 1);
  EXPECT_GE(bounds, 1);
}

TEST(TinyClusters, UnequalNodesHaveAnOptimumToo) {
  Cluster c{{6, Time{3}, Time{1}, Time{2}}, {}};
  for (const std::int64_t size : {1, 3, 2}) c.nodes.add(size);
  c.nodes.gamma = c.nodes.publish = c.nodes.read = Time{1};
  const Answer answer = solve_on_cluster(c, broadcast(0));
  EXPECT_EQ(answer.status, Status::optimal);
  EXPECT_EQ(answer.best->finish, plan::on_cluster(c, {.kind = Kind::broadcast})->claim().finish);
}

/// Two searches that share nothing but the rules: tick by tick over states, and a formula.
TEST(TinyClusters, TheFormulaAgreesWithTryingEverything) {
  int clusters = 0;
  const auto compare = [&](const Cluster& c) {
    ++clusters;
    for (const Kind kind : {Kind::broadcast, Kind::reduce}) {
      const Problem problem{.kind = kind, .root = Rank{1}};
      const Time best = solve_on_cluster(c, problem).bound;
      const ClusterSearchPtr formula = search_items(c, problem);
      const Stop never = [] { return false; };
      EXPECT_EQ(formula->within(best, never), Verdict::satisfiable) << to_string(kind) << " on " << to_string(c);
      EXPECT_EQ(formula->within(best - Time{1}, never), Verdict::unsatisfiable)
          << to_string(kind) << " on " << to_string(c);
    }
  };
  for_tiny_clusters(3, 6, 4, compare);
  EXPECT_GT(clusters, 100);
  for_tiny_clusters(3, 6, 4, compare, kBoardsInNoTime);
  EXPECT_GT(clusters, 200);
}

/// States are told apart by times of up to a hundred ticks; a gap may be longer.
TEST(TinyClusters, LongGapsAreNoShortOnes) {
  const Stop never = [] { return false; };
  for (const std::int64_t g : {100, 128, 130, 255, 256, 257, 260, 300}) {
    for (const std::int64_t gamma : {std::int64_t{0}, std::int64_t{2}, g}) {
      const Cluster c = Cluster::uniform(3, 2, {1, Time{2}, Time{1}, Time{g}}, Time{gamma}, Time{1}, Time{1});
      for (const Kind kind : {Kind::broadcast, Kind::reduce}) {
        const Problem problem{.kind = kind};
        const ClusterSearchPtr states = search_one_item(c, problem), formula = search_items(c, problem);
        for (Time T{0}; T <= Time{14}; T += Time{1})
          EXPECT_EQ(states->within(T, never), formula->within(T, never)) << to_string(kind) << " on " << to_string(c);
      }
    }
  }
}

/// With every other time so many times as long, boards of a tick are nearly free: what takes no time is their limit.
TEST(TinyClusters, NoTimeIsTheLimitOfShortTimes) {
  constexpr std::int64_t kScale = 8;
  constexpr std::array kKinds{Kind::broadcast, Kind::reduce,         Kind::scatter,   Kind::gather, Kind::allgather,
                              Kind::barrier,   Kind::reduce_scatter, Kind::allreduce, Kind::scan};
  Sweep sweep;
  for_tiny_clusters(
      2, 4, 2,
      [&](const Cluster& c) {
        if (c.nodes.publish + c.nodes.read > Time{1} || c.base.g > Time{2}) return;
        Cluster fine = c;
        for (Time* time : {&fine.base.L, &fine.base.o, &fine.base.g, &fine.nodes.gamma}) *time = kScale * *time;
        fine.nodes.publish = std::max(Time{1}, kScale * c.nodes.publish);
        fine.nodes.read = std::max(Time{1}, kScale * c.nodes.read);
        for (const Kind kind : kKinds) {
          if (!sweep.takes_next()) continue;
          Options cold;
          cold.warm_start = false;
          const Answer free = solve_on_cluster(c, {.kind = kind}, cold);
          ASSERT_EQ(free.status, Status::optimal) << to_string(kind) << " on " << to_string(c);
          ASSERT_TRUE(free.best.has_value()) << to_string(kind) << " on " << to_string(c);
          EXPECT_TRUE(verify(*free.best).legal()) << to_string(verify(*free.best));
          EXPECT_EQ(free.best->finish, free.bound) << to_string(kind) << " on " << to_string(c);
          EXPECT_EQ(solve_on_cluster(fine, {.kind = kind}).bound.ticks / kScale, free.bound.ticks)
              << to_string(kind) << " on " << to_string(c);
        }
      },
      kBoardsInNoTime);
}

/// One rank a node: the formula of folds on clusters and the one without nodes have the rules in common, and no code.
TEST(TinyClusters, FoldsWithOneRankANodeAreThoseWithoutNodes) {
  for (const auto& [P, L, o, g] : std::vector<std::array<std::int64_t, 4>>{
           {2, 2, 1, 3}, {3, 1, 1, 1}, {3, 3, 0, 2}, {4, 2, 0, 1}, {4, 0, 1, 2}, {4, 1, 1, 3}, {5, 2, 0, 1}}) {
    const LogP base{P, Time{L}, Time{o}, Time{g}};
    const Cluster c = Cluster::uniform(P, 1, base, Time{0}, Time{1}, Time{1});
    for (const Problem& problem : {Problem{.kind = Kind::allreduce}, Problem{.kind = Kind::scan},
                                   Problem{.kind = Kind::scan, .exclusive = true}}) {
      const Answer answer = solve_on_cluster(c, problem);
      ASSERT_EQ(answer.status, Status::optimal);
      EXPECT_EQ(answer.bound, solve({.machine = base, .problem = problem}).bound)
          << to_string(problem.kind) << " on " << to_string(c);
      ASSERT_TRUE(answer.best.has_value());
      EXPECT_EQ(answer.best->finish, answer.bound);
      EXPECT_TRUE(verify(*answer.best).legal()) << to_string(verify(*answer.best));
    }
  }
}

/// What is found, below the plan or not, is a schedule that the verifier takes, and no all-reduce is faster than a barrier.
TEST(TinyClusters, BarriersAllReducesAndScansAreSchedules) {
  for_tiny_clusters(2, 4, 3, [&](const Cluster& c) {
    Options cold;
    cold.warm_start = false;
    Time barrier{0};
    for (const Kind kind : {Kind::barrier, Kind::allreduce, Kind::scan}) {
      const Answer answer = solve_on_cluster(c, {.kind = kind}, cold);
      ASSERT_EQ(answer.status, Status::optimal);
      ASSERT_TRUE(answer.best.has_value()) << to_string(kind) << " on " << to_string(c);
      EXPECT_EQ(answer.best->finish, answer.bound) << to_string(kind) << " on " << to_string(c);
      EXPECT_TRUE(verify(*answer.best).legal()) << to_string(c) << "\n" << to_string(verify(*answer.best));
      if (kind == Kind::barrier) barrier = answer.bound;
      if (kind == Kind::allreduce) {
        EXPECT_GE(answer.bound, barrier) << to_string(c);
      }
    }
  });
}

struct Tally {
  int clusters = 0, optimal = 0, tight = 0, late = 0;
  friend bool operator==(const Tally&, const Tally&) = default;
};

std::ostream& operator<<(std::ostream& out, const Tally& t) {
  return out << t.clusters << " clusters, plan optimal in " << t.optimal << ", bound in " << t.tight << ", at most "
             << t.late << " ticks late";
}

/// No optimum is below the bound or above the plan. `clusters(visit)` calls visit(cluster) for each of them.
template <typename Clusters>
Tally tally(const Problem& problem, Clusters clusters) {
  Tally t;
  clusters([&](const Cluster& c) {
    const plan::Claim claim = plan::on_cluster(c, problem)->claim();
    Options options;
    options.warm_start = false;
    options.at_most = claim.bound - Time{1};
    EXPECT_EQ(solve_on_cluster(c, problem, options).status, Status::infeasible)
        << to_string(c) << ": the bound is wrong";
    const Answer answer = solve_on_cluster(c, problem);
    EXPECT_EQ(answer.status, Status::optimal) << to_string(c);
    EXPECT_LE(answer.bound, claim.finish) << to_string(c);
    ++t.clusters;
    t.optimal += answer.bound == claim.finish ? 1 : 0;
    t.tight += answer.bound == claim.bound ? 1 : 0;
    t.late = std::max(t.late, static_cast<int>((claim.finish - answer.bound).ticks));
  });
  return t;
}

/// A collective, the clusters it is tried on, and what comes out (clusters.md, Computed evidence 21).
struct Family {
  Problem problem;
  std::int64_t most_nodes, most_ranks, most_lambda;
  Tally expected;
};

TEST(TinyClusters, OtherCollectives) {
  const std::vector<Family> families{
      {{.kind = Kind::scatter}, 3, 6, 3, {192, 188, 163, 1}},
      {{.kind = Kind::gather}, 3, 6, 3, {192, 188, 163, 1}},
      {{.kind = Kind::allgather}, 2, 4, 4, {128, 75, 48, 2}},
      {{.kind = Kind::reduce_scatter}, 2, 4, 4, {128, 68, 54, 3}},
      {{.kind = Kind::alltoall}, 2, 4, 3, {64, 40, 43, 2}},
      {{.kind = Kind::broadcast, .items = 2}, 2, 6, 4, {256, 85, 109, 3}},
      {{.kind = Kind::broadcast, .items = 3}, 2, 4, 4, {128, 36, 27, 3}},
      {{.kind = Kind::barrier}, 2, 4, 4, {128, 89, 42, 2}},
      {{.kind = Kind::allreduce}, 2, 4, 4, {128, 89, 42, 2}},
      {{.kind = Kind::scan}, 2, 4, 4, {128, 73, 55, 2}},
      {{.kind = Kind::scan, .exclusive = true}, 2, 4, 4, {128, 73, 55, 2}},
  };
  Sweep sweep;
  for (const Family& f : families) {
    if (!sweep.takes_next()) continue;
    const auto clusters = [&](auto visit) { for_tiny_clusters(f.most_nodes, f.most_ranks, f.most_lambda, visit); };
    EXPECT_EQ(tally(f.problem, clusters), f.expected) << to_string(f.problem.kind) << " of " << f.problem.items;
  }
}

/// Calls visit(cluster) for nodes that are not all of one size, in every order, on three machines.
template <typename Visit>
void for_unequal_clusters(std::int64_t most_nodes, std::int64_t most_ranks, Visit visit) {
  std::vector<std::vector<std::int64_t>> open{{}};
  while (!open.empty()) {
    const std::vector<std::int64_t> sizes = open.back();
    open.pop_back();
    Cluster c;
    for (const std::int64_t size : sizes) c.nodes.add(size);
    c.base.P = c.nodes.ranks();
    if (c.nodes.count() < most_nodes) {
      for (std::int64_t size = 1; c.base.P + size <= most_ranks; ++size) {
        open.push_back(sizes);
        open.back().push_back(size);
      }
    }
    if (c.nodes.runs.size() < 2) continue;
    for (const auto& [L, o, g, gamma, publish, read] :
         std::vector<std::array<std::int64_t, 6>>{{2, 1, 2, 1, 1, 1}, {3, 0, 1, 0, 1, 2}, {1, 1, 3, 2, 2, 1}}) {
      Cluster machine = c;
      machine.base = {c.base.P, Time{L}, Time{o}, Time{g}};
      machine.nodes.gamma = Time{gamma};
      machine.nodes.publish = Time{publish};
      machine.nodes.read = Time{read};
      visit(machine);
    }
  }
}

/// A collective on unequal nodes, and what comes out (clusters.md, Computed evidence 36).
struct UnequalFamily {
  Problem problem;
  std::int64_t most_nodes, most_ranks;
  Tally expected;
};

TEST(TinyClusters, UnequalNodesNearTheirOptimum) {
  const std::vector<UnequalFamily> families = sweep_of<UnequalFamily>(
      {
          {{.kind = Kind::broadcast}, 3, 5, {51, 48, 47, 1}},
          {{.kind = Kind::reduce, .root = Rank{2}}, 3, 5, {51, 48, 39, 1}},
          {{.kind = Kind::barrier}, 3, 5, {51, 50, 30, 1}},
          {{.kind = Kind::allreduce}, 3, 5, {51, 47, 30, 1}},
          {{.kind = Kind::scan}, 3, 5, {51, 45, 32, 1}},
      },
      {
          {{.kind = Kind::broadcast}, 5, 8, {603, 487, 540, 2}},
          {{.kind = Kind::reduce}, 5, 8, {603, 420, 490, 2}},
          {{.kind = Kind::reduce, .root = Rank{2}}, 5, 8, {603, 464, 468, 2}},
      });
  for (const UnequalFamily& f : families) {
    const auto clusters = [&](auto visit) {
      for_unequal_clusters(f.most_nodes, f.most_ranks, [&](const Cluster& c) {
        if (f.problem.root.index < c.base.P) visit(c);
      });
    };
    EXPECT_EQ(tally(f.problem, clusters), f.expected) << to_string(f.problem.kind) << " to " << f.problem.root.index;
  }
}

/// Where the work of all ranks is the bound, no broadcast is faster.
TEST(TinyClusters, ManyItemsKeepEverybodyBusy) {
  for (const std::int64_t L : {0, 1}) {
    const Cluster c = Cluster::uniform(2, 2, {1, Time{L}, Time{2}, Time{2}}, Time{0}, Time{1}, Time{2});
    const Problem problem{.kind = Kind::broadcast, .items = 3};
    const plan::Claim claim = plan::on_cluster(c, problem)->claim();
    EXPECT_EQ(claim.bound_source, "the work of all ranks together");
    Options below;
    below.warm_start = false;
    below.at_most = claim.bound - Time{1};
    EXPECT_EQ(solve_on_cluster(c, problem, below).status, Status::infeasible) << to_string(c);
    const Answer answer = solve_on_cluster(c, problem);
    EXPECT_EQ(answer.status, Status::optimal) << to_string(c);
    EXPECT_LE(answer.bound, claim.finish) << to_string(c);
  }
}

/// Nodes of one rank: a plain machine, on which items.md, Theorem 16, says what cannot be.
TEST(TinyClusters, ItemsTakeTheWorkOfAllRanks) {
  int above_counting = 0;
  for (const auto& [P, L, o, k] :
       std::vector<std::array<std::int64_t, 4>>{{2, 1, 2, 2}, {3, 0, 1, 5}, {3, 1, 1, 4}, {4, 0, 1, 5}, {4, 1, 1, 3}}) {
    const LogP base{P, Time{L}, Time{o}, Time{1}};
    const Time work = plan::kitem_work_bound(base, k);
    above_counting += work > plan::kitem_bound(base, k) ? 1 : 0;
    Options below;
    below.warm_start = false;
    below.at_most = work - Time{1};
    const Cluster c = Cluster::uniform(P, 1, base, Time{0}, Time{1}, Time{1});
    EXPECT_EQ(solve_on_cluster(c, {.kind = Kind::broadcast, .items = k}, below).status, Status::infeasible)
        << to_string(base) << " of " << k;
  }
  EXPECT_GE(above_counting, 2);
}

TEST(TinyClusters, LargeOnesAreRefused) {
  const LogP base{1, Time{3}, Time{1}, Time{2}};
  EXPECT_THROW(solve_on_cluster(Cluster::uniform(9, 2, base, {}, Time{1}, Time{1}), broadcast(0)), Error);
  EXPECT_THROW(
      solve_on_cluster(Cluster::uniform(2, 2, {1, Time{300}, Time{1}, Time{2}}, {}, Time{1}, Time{1}), broadcast(0)),
      Error);
}

}  // namespace
}  // namespace chasqui::solve
