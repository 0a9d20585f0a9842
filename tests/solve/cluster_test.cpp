// SPDX-License-Identifier: MIT
// Broadcasts on tiny clusters: what trying everything finds, held against bounds and plans.
#include "chasqui/solve/cluster.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/clusters.hpp"
#include "chasqui/verify/verify.hpp"

namespace chasqui::solve {
namespace {

/// Calls visit(cluster) for equal nodes of at least two ranks: all small machines, node gaps and boards.
template <typename Visit>
void for_tiny_clusters(std::int64_t most_nodes, std::int64_t most_ranks, std::int64_t most_lambda, Visit visit) {
  for (std::int64_t N = 2; N <= most_nodes; ++N) {
    for (std::int64_t n = 2; N * n <= most_ranks; ++n) {
      for (std::int64_t o = 0; o <= 1; ++o) {
        for (std::int64_t L = o == 0 ? 2 : 0; L + 2 * o <= most_lambda; ++L) {
          for (std::int64_t g = 1; g <= 3; ++g) {
            for (std::int64_t gamma = 0; gamma <= std::min<std::int64_t>(2, std::max(g, o)); ++gamma) {
              for (std::int64_t publish = 1; publish <= 2; ++publish) {
                for (std::int64_t read = 1; read <= std::min<std::int64_t>(2, L + 2 * o - publish); ++read) {
                  visit(Cluster::uniform(N, n, {1, Time{L}, Time{o}, Time{g}}, Time{gamma}, Time{publish}, Time{read}));
                }
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
    const Answer answer = solve_broadcast(cluster, Rank{0}, options);
    if (!answer.best) continue;
    EXPECT_GE(answer.best->finish, claim.bound) << to_string(cluster) << ": the bound is wrong";
    EXPECT_TRUE(verify(*answer.best).legal()) << to_string(cluster) << "\n" << to_string(verify(*answer.best));
    return T;
  }
}

TEST(TinyClusters, EqualBruteForce) {
  int clusters = 0, optimal = 0, tight = 0, single = 0;
  for_tiny_clusters(5, 12, 5, [&](const Cluster& c) {
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
    if ((n - 1) * c.nodes.gamma >= board) {
      EXPECT_EQ(best, entered + board) << to_string(c);  // clusters.md, Theorem 5
    }
    if (c.nodes.gamma == Time{0} && board <= c.base.L + c.base.o) {
      EXPECT_EQ(best, std::min(claim.bound, entered + board)) << to_string(c);  // clusters.md, Theorem 6
    }
  });
  EXPECT_EQ(clusters, 2112);
  EXPECT_EQ(optimal, 2098);
  EXPECT_EQ(tight, 2032);
  EXPECT_EQ(single, 1249);
}

/// The bound holds, the plan states its gap, and with two ranks a node a reduction takes
/// as long as a broadcast with publishing and reading exchanged.
TEST(TinyClusters, ReductionsToo) {
  int clusters = 0, optimal = 0, tight = 0, late = 0;
  for_tiny_clusters(5, 12, 5, [&](const Cluster& c) {
    const plan::Claim claim = plan::on_cluster(c, {.kind = Kind::reduce})->claim();
    const Answer answer = solve_reduce(c, Rank{0});
    ASSERT_EQ(answer.status, Status::optimal);
    EXPECT_GE(answer.bound, claim.bound) << to_string(c);
    EXPECT_LE(answer.bound, claim.finish) << to_string(c);
    EXPECT_EQ(answer.best.has_value(), answer.bound == claim.finish) << to_string(c);
    ++clusters;
    optimal += answer.bound == claim.finish ? 1 : 0;
    tight += answer.bound == claim.bound ? 1 : 0;
    late = std::max(late, static_cast<int>((claim.finish - answer.bound).ticks));
    if (c.nodes.largest() == 2 && c.nodes.publish + c.nodes.read <= c.base.lambda()) {
      Cluster exchanged = c;
      std::swap(exchanged.nodes.publish, exchanged.nodes.read);
      EXPECT_EQ(answer.bound, solve_broadcast(exchanged, Rank{0}).bound) << to_string(c);
    }
  });
  EXPECT_EQ(clusters, 2112);
  EXPECT_EQ(optimal, 242);
  EXPECT_EQ(tight, 1251);
  EXPECT_EQ(late, 6);
}

TEST(TinyClusters, AnswerIsAScheduleWithItsBound) {
  const Cluster c = Cluster::uniform(3, 2, {1, Time{2}, Time{1}, Time{3}}, Time{0}, Time{2}, Time{2});
  const Answer answer = solve_broadcast(c, Rank{3});
  EXPECT_EQ(answer.status, Status::optimal);
  ASSERT_TRUE(answer.best.has_value());
  EXPECT_EQ(answer.best->finish, Time{9});
  EXPECT_EQ(answer.best->bound, Time{9});
  EXPECT_TRUE(verify(*answer.best).legal());
  Options options;
  options.at_most = Time{8};
  EXPECT_EQ(solve_broadcast(c, Rank{3}, options).status, Status::infeasible);
}

TEST(TinyClusters, UnequalNodesHaveAnOptimumToo) {
  Cluster c{{6, Time{3}, Time{1}, Time{2}}, {}};
  for (const std::int64_t size : {1, 3, 2}) c.nodes.add(size);
  c.nodes.gamma = c.nodes.publish = c.nodes.read = Time{1};
  const Answer answer = solve_broadcast(c, Rank{0});
  EXPECT_EQ(answer.status, Status::optimal);
  EXPECT_EQ(answer.best->finish, plan::on_cluster(c, {.kind = Kind::broadcast})->claim().finish);
}

TEST(TinyClusters, LargeOnesAreRefused) {
  const LogP base{1, Time{3}, Time{1}, Time{2}};
  EXPECT_THROW(solve_broadcast(Cluster::uniform(9, 2, base, {}, Time{1}, Time{1}), Rank{0}), Error);
  EXPECT_THROW(solve_broadcast(Cluster::uniform(2, 2, base, {}, Time{0}, Time{1}), Rank{0}), Error);
}

}  // namespace
}  // namespace chasqui::solve
