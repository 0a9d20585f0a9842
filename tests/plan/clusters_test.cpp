// SPDX-License-Identifier: MIT
// Plans on clusters: legal on random clusters, as good as claimed, equal to what brute force finds on tiny ones.
#include "chasqui/plan/clusters.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/allgather.hpp"
#include "chasqui/plan/allreduce.hpp"
#include "chasqui/plan/alltoall.hpp"
#include "chasqui/plan/barrier.hpp"
#include "chasqui/plan/broadcast.hpp"
#include "chasqui/plan/kitem.hpp"
#include "chasqui/plan/reduce.hpp"
#include "chasqui/plan/reduce_scatter.hpp"
#include "chasqui/plan/scan.hpp"
#include "chasqui/plan/scatter.hpp"
#include "chasqui/plan/universal_tree.hpp"
#include "chasqui/verify/verify.hpp"
#include "plan/cluster_samples.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/exchange/exchange_in_step.hpp"
#include "plan/clusters/node_index.hpp"
#include "plan/local_equals_schedule.hpp"
#include "sweep.hpp"

namespace chasqui::plan {
namespace {

/// Any small cluster, equal nodes or not, and a collective on it.
struct Any {
  Cluster cluster;
  Problem problem;
  Lanes lanes = Lanes::all;
};

Any any() {
  Any made;
  LogP& base = made.cluster.base;
  base = logp(any_of(0, 20), any_of(0, 5), any_of(1, 9));
  if (base.lambda() == Time{0}) base.L = Time{1};
  Nodes& nodes = made.cluster.nodes;
  nodes.gamma = Time{any_of(0, base.gap().ticks)};
  nodes.publish = Time{any_of(0, std::min<std::int64_t>(6, base.lambda().ticks))};
  nodes.read = Time{any_of(0, std::min<std::int64_t>(6, (base.lambda() - nodes.publish).ticks))};
  const std::int64_t N = any_of(1, 12);
  const bool equal = any_of(0, 1) == 0;
  const std::int64_t size = any_of(1, 7);
  for (std::int64_t i = 0; i < N; ++i) nodes.add(equal ? size : any_of(1, 7));
  base.P = nodes.ranks();
  made.problem.kind =
      *rc::gen::element(Kind::broadcast, Kind::reduce, Kind::allreduce, Kind::barrier, Kind::scatter, Kind::gather,
                        Kind::allgather, Kind::alltoall, Kind::scan, Kind::reduce_scatter);
  const Kind kind = made.problem.kind;
  if (kind == Kind::broadcast || kind == Kind::allgather || kind == Kind::alltoall || kind == Kind::reduce_scatter)
    made.problem.items = any_of(1, 3);
  if (kind == Kind::scan) made.problem.exclusive = any_of(0, 1) == 0;
  const bool combining = kind == Kind::reduce || kind == Kind::allreduce || kind == Kind::reduce_scatter;
  made.problem.commutative = !combining || any_of(0, 1) == 0;
  if (has_root(made.problem.kind)) made.problem.root = Rank{static_cast<std::int32_t>(any_of(0, base.P - 1))};
  if (any_of(0, 3) == 0) made.lanes = Lanes::leaders;
  return made;
}

RC_GTEST_PROP(Clusters, PlansAreLegalOnRandomClusters, ()) {
  const Any it = any();
  const PlanPtr plan = on_cluster(it.cluster, it.problem, it.lanes);
  const Schedule schedule = plan->schedule();
  const Report report = verify(schedule);
  if (!report.legal())
    RC_FAIL(to_string(it.cluster) + " " + std::string(to_string(it.problem.kind)) + " root " +
            std::to_string(it.problem.root.index) + ": " + plan->claim().construction + "\n" + to_string(report));
  RC_ASSERT(plan->claim().bound <= plan->claim().finish);
  RC_ASSERT(report.finish == plan->claim().finish);
  RC_ASSERT(schedule.nodes == it.cluster.nodes);
}

RC_GTEST_PROP(Clusters, LocalFormsTogetherAreTheSchedule, ()) {
  const Any it = any();
  expect_local_forms_equal_schedule(*on_cluster(it.cluster, it.problem, it.lanes));
}

/// Beyond few ranks less is tried, by other ways.
RC_GTEST_PROP(Clusters, ManyUnequalNodesAreLegal, ()) {
  static Sweep sweep;
  if (!sweep.takes_next()) return;
  Any it = any();
  it.problem = {.kind = *rc::gen::element(Kind::reduce, Kind::allreduce, Kind::barrier, Kind::scan)};
  const bool folds = it.problem.kind == Kind::reduce || it.problem.kind == Kind::allreduce;
  it.problem.commutative = !folds || any_of(0, 1) == 0;
  if (it.problem.kind == Kind::scan) it.problem.exclusive = any_of(0, 1) == 0;
  const std::int64_t largest = any_of(2, 12);
  for (std::int64_t N = any_of(0, 25); N > 0; --N) it.cluster.nodes.add(any_of(1, largest));
  it.cluster.base.P = it.cluster.nodes.ranks();
  if (has_root(it.problem.kind)) it.problem.root = Rank{static_cast<std::int32_t>(any_of(0, it.cluster.base.P - 1))};
  if (any_of(0, 15) == 0) it.cluster = in_fine_ticks(it.cluster);
  const PlanPtr plan = on_cluster(it.cluster, it.problem);
  const Schedule schedule = plan->schedule();
  const Report report = verify(schedule);
  if (!report.legal()) RC_FAIL(to_string(it.cluster) + "\n" + to_string(report));
  RC_ASSERT(report.finish == plan->claim().finish);
  RC_ASSERT(plan->claim().bound <= plan->claim().finish);
  RC_ASSERT(plan->claim().finish <= on_cluster(it.cluster, it.problem, Lanes::leaders)->claim().finish);
  expect_local_forms_equal_schedule(*plan);
}

/// Sizes from 1 to 16, in an order that has no pattern.
TEST(Clusters, AThousandUnequalNodes) {
  Cluster c{logp(28, 2, 6), {}};
  for (std::int64_t i = 0; i < 1000; ++i) c.nodes.add(1 + i * i * 7919 % 1009 % 16);
  c.base.P = c.nodes.ranks();
  c.nodes.gamma = Time{1};
  c.nodes.publish = c.nodes.read = Time{2};
  for (const auto& [kind, most] : sweep_of<std::pair<Kind, double>>({{Kind::reduce, 1.2}, {Kind::scan, 1.6}},
                                                                    {{Kind::allreduce, 1.5}, {Kind::barrier, 1.5}})) {
    const Claim claim = on_cluster(c, {.kind = kind})->claim();
    EXPECT_LE(static_cast<double>(claim.finish.ticks), most * static_cast<double>(claim.bound.ticks))
        << to_string(kind) << " takes " << claim.finish.ticks << ", at least " << claim.bound.ticks;
  }
}

/// What looks through the list for each of its nodes takes minutes here.
TEST(Clusters, ThirtyThousandUnequalNodes) {
  Cluster c{logp(28, 2, 6), {}};
  for (std::int64_t i = 0; i < 30'000; ++i) c.nodes.add(1 + i * i * 7919 % 1009 % 16);
  c.base.P = c.nodes.ranks();
  c.nodes.gamma = Time{1};
  c.nodes.publish = c.nodes.read = Time{2};
  for (const Kind kind :
       {Kind::broadcast, Kind::reduce, Kind::allreduce, Kind::barrier, Kind::scan, Kind::scatter, Kind::gather}) {
    const PlanPtr plan = on_cluster(c, {.kind = kind});
    EXPECT_LE(plan->claim().finish.ticks, 2 * plan->claim().bound.ticks) << to_string(kind);
    if (kind == Kind::reduce) {
      EXPECT_LE(plan->claim().gap().ticks, plan->claim().bound.ticks / 3) << "by pieces, not by leaders";
    }
    for (const std::int32_t rank : {1, 123'456, static_cast<std::int32_t>(c.base.P - 1)}) {
      const LocalForm form = plan->local(Rank{rank});
      EXPECT_GE(form.sends.size() + form.receives.size() + form.publications.size() + form.readings.size(), 1U);
    }
  }
}

RC_GTEST_PROP(Clusters, NodesAreFoundInTheirIndex, ()) {
  Nodes nodes;
  for (std::int64_t runs = any_of(1, 9); runs > 0; --runs) nodes.add(any_of(1, 4), any_of(1, 20));
  const NodeIndex index(nodes);
  RC_ASSERT(index.count() == nodes.count());
  RC_ASSERT(index.ranks() == nodes.ranks());
  RC_ASSERT(index.largest() == nodes.largest());
  for (std::int64_t node = 0; node < nodes.count(); ++node) RC_ASSERT(index.size(node) == nodes.size(node));
  for (std::int64_t node = 0; node <= nodes.count(); ++node)
    RC_ASSERT(index.first_rank(node) == nodes.first_rank(node));
  for (std::int32_t rank = 0; rank < nodes.ranks(); ++rank)
    RC_ASSERT(index.node_of(Rank{rank}) == nodes.node_of(Rank{rank}));
}

/// clusters.md, Theorem 37: windows of ranks, and of nodes, whose pieces come in any order, also from boards that take no time.
RC_GTEST_PROP(Clusters, WindowsThatGrowPieceByPieceAreScans, ()) {
  Any it = any();
  it.problem = {.kind = Kind::scan, .exclusive = any_of(0, 1) == 0};
  if (any_of(0, 3) == 0) it.cluster.nodes.read = Time{0};
  if (any_of(0, 3) == 0) it.cluster.nodes.publish = Time{0};
  const Time never{kMaxTime};
  int found = 0;
  for (const auto& scan : {earliest_scan_by_nodes(it.cluster, it.problem, Time{0}, never),
                           earliest_windows_by_ranks(it.cluster, it.problem, Time{0}, never)}) {
    if (!scan) continue;
    ++found;
    const Report report = verify(*scan);
    if (!report.legal()) RC_FAIL(to_string(it.cluster) + "\n" + to_string(report));
    RC_ASSERT(report.finish == scan->finish);
  }
  RC_ASSERT(found > 0 || it.cluster.nodes.count() == 1);
}

/// clusters.md, Theorem 39: the same round the ring.
RC_GTEST_PROP(Clusters, WindowsRoundTheRingReachEverybody, ()) {
  Any it = any();
  it.problem = {.kind = *rc::gen::element(Kind::allreduce, Kind::barrier)};
  if (it.problem.kind == Kind::allreduce) it.problem.commutative = any_of(0, 1) == 0;
  if (any_of(0, 3) == 0) it.cluster.nodes.read = Time{0};
  if (any_of(0, 3) == 0) it.cluster.nodes.publish = Time{0};
  if (any_of(0, 3) == 0) it.cluster.nodes.add(any_of(20, 30));
  it.cluster.base.P = it.cluster.nodes.ranks();
  const Time never{kMaxTime};
  int found = 0;
  const bool by_ranks = any_of(0, 3) == 0 || it.cluster.nodes.count() == 1;  // many orders take long
  for (const auto& ring :
       {earliest_ring_by_nodes(it.cluster, it.problem, Time{0}, never),
        by_ranks ? earliest_windows_by_ranks(it.cluster, it.problem, Time{0}, never) : std::nullopt}) {
    if (!ring) continue;
    ++found;
    const Report report = verify(*ring);
    if (!report.legal()) RC_FAIL(to_string(it.cluster) + "\n" + to_string(report));
    RC_ASSERT(report.finish == ring->finish);
  }
  RC_ASSERT(found > 0);
}

/// One more than the latency need not fit into 32 bits, and may be a multiple of 2^32.
TEST(Clusters, OrdersAreDrawnWhateverTheLatency) {
  for (const std::int64_t lambda : {(std::int64_t{1} << 32) - 1, (std::int64_t{1} << 33) - 1, std::int64_t{1} << 40}) {
    Cluster c{logp(lambda - 2, 1, 2), {}};
    for (const std::int64_t size : {2, 1, 1, 3}) c.nodes.add(size);
    c.base.P = c.nodes.ranks();
    c.nodes.gamma = c.nodes.publish = c.nodes.read = Time{1};
    for (const Kind kind : {Kind::scan, Kind::allreduce}) {
      const PlanPtr plan = on_cluster(c, {.kind = kind});
      EXPECT_TRUE(verify(plan->schedule()).legal());
      EXPECT_LE(plan->claim().finish, Time{2 * lambda});
    }
  }
}

TEST(Clusters, OneRankANodeIsLogP) {
  for (const LogP& base : {logp(6, 2, 4), logp(3, 0, 1), logp(1, 5, 2), logp(20, 1, 30)}) {
    for (const std::int64_t N : {1, 2, 3, 8, 100, 12345}) {
      const PlanPtr plan = on_cluster(cluster(N, 1, base, 0, 0, 0), {.kind = Kind::broadcast});
      LogP machine = base;
      machine.P = N;
      EXPECT_EQ(plan->claim().finish, broadcast(machine)->claim().finish) << to_string(machine);
      EXPECT_TRUE(plan->claim().optimal()) << to_string(machine);
    }
  }
}

/// Every kind is planned as well as on the plain machine there, or better, and a gap of the node that is no longer than the rank's own changes nothing.
TEST(Clusters, OneRankANodeIsPlannedAsWellAsAProcessor) {
  for (const LogP& base : {logp(6, 2, 4), logp(3, 1, 2), logp(4, 0, 1), logp(1, 3, 2)}) {
    for (const std::int64_t N : {1, 2, 5, 9}) {
      LogP machine = base;
      machine.P = N;
      const Rank last{static_cast<std::int32_t>(N - 1)};
      const std::vector<PlanPtr> plain = {
          kitem(machine, 4, last), scatter(machine, last),       gather(machine, last), allgather(machine),
          alltoall(machine),       reduce(machine, last, false), allreduce(machine),    reduce_scatter(machine),
          scan(machine),           scan(machine, true),          barrier(machine)};
      for (const PlanPtr& alone : plain) {
        for (const std::int64_t gamma : {std::int64_t{0}, machine.gap().ticks}) {
          const PlanPtr plan = on_cluster(cluster(N, 1, base, gamma, 1, 1), alone->problem());
          const std::string what = std::string(to_string(alone->problem().kind)) + " on " + to_string(machine);
          EXPECT_LE(plan->claim().finish, alone->claim().finish) << what;
          EXPECT_GE(plan->claim().bound, alone->claim().bound) << what;
          const Schedule schedule = plan->schedule();
          const Report report = verify(schedule);
          EXPECT_TRUE(report.legal()) << what << to_string(report);
          EXPECT_EQ(report.finish, plan->claim().finish) << what;
          EXPECT_EQ(schedule.nodes.count(), N) << what;
          for (std::int32_t r = 0; r < N; ++r) EXPECT_EQ(plan->local({r}), restrict_to(schedule, {r})) << what;
        }
      }
    }
  }
  // What a rank among very many does needs no list there.
  EXPECT_TRUE(on_cluster(cluster(100'000'000, 1, logp(6, 2, 4), 0, 0, 0), {.kind = Kind::scatter})->claim().optimal());
}

/// clusters.md, Theorem 8: one node folds in the broadcast time of the universal tree of publish + read and read. Nothing is faster
/// (clusters.md, Theorem 26).
TEST(Clusters, ANodeFoldsInTheTimeOfItsTree) {
  for (std::int64_t publish = 0; publish <= 4; ++publish) {
    for (std::int64_t read = 0; publish + read <= 6; ++read) {
      if (publish + read == 0) continue;
      for (std::int64_t n = 2; n <= 20; ++n) {
        const auto plan =
            on_cluster(cluster(1, n, logp(20, 2, 3), 0, publish, read), {.kind = Kind::reduce, .commutative = false});
        const Time tree = read == 0 ? Time{publish} : broadcast_time({Time{publish + read}, Time{read}}, n);
        const Report report = verify(plan->schedule());
        ASSERT_TRUE(report.legal()) << to_string(report);
        ASSERT_EQ(report.finish, tree) << n << " ranks, publish " << publish << ", read " << read;
        ASSERT_EQ(plan->claim().finish, tree);
        ASSERT_TRUE(plan->claim().optimal()) << n << " ranks, publish " << publish << ", read " << read;
      }
    }
  }
}

TEST(Clusters, LanesAgainstLeaders) {
  struct Row {
    LogP base;
    std::int64_t gamma, N, n, leaders, lanes;
  };
  // λ = 32, G = 6; λ = 48, G = 10; λ = 600, G = 60; publish = read = 2.
  const Row rows[] = {
      {logp(28, 2, 6), 1, 16, 16, 84, 53},      {logp(28, 2, 6), 1, 1024, 16, 178, 114},
      {logp(28, 2, 6), 1, 4096, 16, 208, 131},  {logp(28, 2, 6), 2, 1024, 16, 178, 132},
      {logp(40, 4, 10), 1, 1024, 16, 274, 148}, {logp(560, 20, 60), 1, 16, 16, 1264, 621},
  };
  for (const Row& row : rows) {
    const Cluster c = cluster(row.N, row.n, row.base, row.gamma, 2, 2);
    const Claim lanes = on_cluster(c, {.kind = Kind::broadcast})->claim();
    const Claim leaders = on_cluster(c, {.kind = Kind::broadcast}, Lanes::leaders)->claim();
    EXPECT_EQ(lanes.finish, Time{row.lanes}) << to_string(c);
    EXPECT_EQ(leaders.finish, Time{row.leaders}) << to_string(c);
    EXPECT_TRUE(lanes.optimal()) << to_string(c);
    EXPECT_FALSE(leaders.optimal()) << to_string(c);
  }
}

/// (n-1)·gamma >= publish + read: nothing is gained by entering a node twice.
RC_GTEST_PROP(Clusters, SingleEntryIsOptimalWhereTheNodeGapIsLong, ()) {
  const LogP base = logp(any_of(1, 30), any_of(0, 5), any_of(1, 9));
  const std::int64_t gamma = any_of(1, base.gap().ticks), n = any_of(2, 20);
  const std::int64_t board = any_of(0, std::min(base.lambda().ticks, (n - 1) * gamma));
  const std::int64_t publish = any_of(0, board);
  const Claim claim =
      on_cluster(cluster(any_of(2, 3000), n, base, gamma, publish, board - publish), {.kind = Kind::broadcast})
          ->claim();
  RC_ASSERT(claim.optimal());
}

Claim claim_of(const Cluster& c, Kind kind, Lanes lanes = Lanes::all, std::int64_t items = 1) {
  return on_cluster(c, {.kind = kind, .items = items}, lanes)->claim();
}

TEST(Clusters, ScattersAndGathersNearTheirBound) {
  for (const Kind kind : {Kind::scatter, Kind::gather}) {
    const Claim wide = claim_of(cluster(16, 16, logp(28, 2, 6), 1, 2, 2), kind);
    EXPECT_EQ(wide.finish, Time{513});
    EXPECT_EQ(wide.bound, Time{512});
    EXPECT_EQ(claim_of(cluster(16, 16, logp(28, 2, 6), 1, 2, 2), kind, Lanes::leaders).finish, Time{1470});
    EXPECT_TRUE(claim_of(cluster(4, 16, logp(28, 2, 6), 0, 2, 2), kind).optimal());
    // One rank a node: a LogP machine, on which the root sends or receives everything.
    EXPECT_EQ(claim_of(cluster(9, 1, logp(6, 2, 4), 0, 0, 0), kind).finish, Time{7 * 4 + 10});
    EXPECT_TRUE(claim_of(cluster(9, 1, logp(6, 2, 4), 0, 0, 0), kind).optimal());
    EXPECT_TRUE(claim_of(cluster(1, 7, logp(6, 2, 4), 0, 1, 2), kind).optimal());
  }
  // What a gather reads, a scatter publishes.
  EXPECT_EQ(claim_of(cluster(5, 4, logp(40, 4, 10), 2, 3, 1), Kind::gather).finish,
            claim_of(cluster(5, 4, logp(40, 4, 10), 2, 1, 3), Kind::scatter).finish);
}

TEST(Clusters, ExchangesNearTheirBound) {
  const Cluster c = cluster(16, 16, logp(28, 2, 6), 1, 2, 2);
  EXPECT_EQ(claim_of(c, Kind::allgather).finish, Time{573});
  EXPECT_EQ(claim_of(c, Kind::allgather).bound, Time{572});
  EXPECT_EQ(claim_of(c, Kind::alltoall).finish, Time{3873});
  EXPECT_EQ(claim_of(c, Kind::alltoall).bound, Time{3871});
  EXPECT_TRUE(claim_of(cluster(4, 16, logp(28, 2, 6), 0, 2, 2), Kind::allgather).optimal());
  EXPECT_EQ(claim_of(cluster(16, 4, logp(28, 2, 6), 1, 2, 2), Kind::reduce_scatter).finish, Time{286});
  EXPECT_EQ(claim_of(cluster(16, 4, logp(28, 2, 6), 1, 2, 2), Kind::reduce_scatter).bound, Time{252});
  EXPECT_TRUE(claim_of(cluster(1, 7, logp(6, 2, 4), 0, 1, 2), Kind::allgather, Lanes::all, 3).optimal());
  EXPECT_TRUE(claim_of(cluster(1, 7, logp(6, 2, 4), 0, 1, 2), Kind::alltoall, Lanes::all, 3).optimal());
}

TEST(Clusters, SeveralItemsAreFasterOnLanes) {
  const Cluster c = cluster(16, 16, logp(28, 2, 6), 1, 2, 2);
  EXPECT_LE(claim_of(c, Kind::broadcast, Lanes::all, 32).finish, Time{162});
  EXPECT_GE(claim_of(c, Kind::broadcast, Lanes::leaders, 32).finish, Time{320});
  const plan::Claim many = claim_of(cluster(8, 4, logp(28, 2, 6), 1, 2, 2), Kind::broadcast, Lanes::all, 400);
  EXPECT_LE(many.finish.ticks * 100, many.bound.ticks * 113);
  EXPECT_LE(claim_of(c, Kind::scan).finish, Time{79});
  EXPECT_GE(claim_of(c, Kind::scan, Lanes::leaders).finish, Time{100});
  EXPECT_TRUE(claim_of(cluster(1, 9, logp(6, 2, 4), 0, 3, 2), Kind::broadcast, Lanes::all, 5).optimal());
}

/// Every time of every event of a scatter on two nodes of two ranks, by rules that are written down here once more.
class TinyScatter {
 public:
  explicit TinyScatter(const Cluster& c) : c_(c) {}

  /// Is there one that ends by T? The root is rank 0; rank 1 shares its node. Items 2 and 3 may leave by either of them.
  bool within(std::int64_t T) {
    T_ = T;
    for (const bool second : {false, true}) {
      for (const bool third : {false, true}) {
        events_.clear();
        add(1, 0, -1, p());  // item 1 is published …
        add(2, 1, 0, r());   // … and read
        route(2, second);
        route(3, third);
        begins_.assign(events_.size(), 0);
        if (place(0)) return true;
      }
    }
    return false;
  }

 private:
  struct Event {
    int kind = 0;  // 0 a send, 1 a publication, 2 a reading
    int rank = 0;
    int after = -1;  // an event that must have ended
    std::int64_t length = 0;
    int to = -1;  // sends: who receives
  };
  std::int64_t o() const { return c_.base.o.ticks; }
  std::int64_t p() const { return c_.nodes.publish.ticks; }
  std::int64_t r() const { return c_.nodes.read.ticks; }
  void add(int kind, int rank, int after, std::int64_t length, int to = -1) {
    events_.push_back({kind, rank, after, length, to});
  }
  void route(int item, bool by_lane) {
    if (!by_lane) return add(0, 0, -1, o(), item);
    add(1, 0, -1, p());
    add(2, 1, static_cast<int>(events_.size()) - 1, r());
    add(0, 1, static_cast<int>(events_.size()) - 1, o(), item);
  }
  bool fits(std::size_t i) const {
    const Event& e = events_[i];
    for (std::size_t j = 0; j < i; ++j) {
      const Event& f = events_[j];
      const std::int64_t apart = std::abs(begins_[i] - begins_[j]);
      const bool both_send = e.kind == 0 && f.kind == 0;  // all receive in the other node, at ranks of their own
      if (both_send && apart < c_.nodes.gamma.ticks) return false;
      if (e.rank != f.rank) continue;
      if (both_send && apart < c_.base.gap().ticks) return false;
      const bool overlap = begins_[i] < begins_[j] + f.length && begins_[j] < begins_[i] + e.length;
      if (e.length > 0 && f.length > 0 && overlap) return false;
    }
    return true;
  }
  bool place(std::size_t i) {
    if (i == events_.size()) return true;
    const Event& e = events_[i];
    const std::int64_t first =
        e.after < 0 ? 0
                    : begins_[static_cast<std::size_t>(e.after)] + events_[static_cast<std::size_t>(e.after)].length;
    const std::int64_t takes = e.kind == 0 ? c_.base.lambda().ticks : e.length;
    for (begins_[i] = first; begins_[i] + takes <= T_; ++begins_[i]) {
      if (fits(i) && place(i + 1)) return true;
    }
    return false;
  }

  Cluster c_;
  std::int64_t T_ = 0;
  std::vector<Event> events_;
  std::vector<std::int64_t> begins_;
};

TEST(Clusters, TinyScattersEqualBruteForce) {
  int clusters = 0, optimal = 0;
  for (std::int64_t o = 0; o <= 2; ++o) {
    for (std::int64_t L = 1; L <= 3; ++L) {
      for (std::int64_t g = 1; g <= 5; g += 2) {
        for (std::int64_t gamma = 0; gamma <= std::min<std::int64_t>(2, std::max(g, o)); ++gamma) {
          for (std::int64_t publish = 0; publish <= 2; ++publish) {
            for (std::int64_t read = 0; read <= 2 && publish + read <= L + 2 * o; ++read) {
              const Cluster c = cluster(2, 2, logp(L, o, g), gamma, publish, read);
              const Claim claim = claim_of(c, Kind::scatter);
              std::int64_t best = 0;
              while (!TinyScatter(c).within(best)) ++best;
              EXPECT_LE(claim.bound, Time{best}) << to_string(c);
              EXPECT_GE(claim.finish, Time{best}) << to_string(c);
              EXPECT_LE(claim.finish, Time{best + 1}) << to_string(c);
              ++clusters;
              optimal += claim.finish == Time{best} ? 1 : 0;
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(clusters, 587);
  EXPECT_EQ(optimal, 581);
}

TEST(Clusters, AMillionNodesAnswerForOneRank) {
  const Cluster c = cluster(1'000'000, 1000, logp(28, 2, 6), 1, 2, 2);
  for (const Kind kind :
       sweep_of<Kind>({Kind::broadcast, Kind::allreduce, Kind::scan}, {Kind::reduce, Kind::barrier})) {
    const PlanPtr plan = on_cluster(c, {.kind = kind, .root = has_root(kind) ? Rank{123'456'789} : Rank{0}});
    EXPECT_GT(plan->claim().finish, Time{32});
    for (const std::int32_t r : {0, 1, 999, 1000, 123'456'789, 999'999'999}) {
      const LocalForm form = plan->local(Rank{r});
      for (const Send& send : form.sends) {
        const auto there = plan->local(send.to).receives;
        EXPECT_TRUE(std::find(there.begin(), there.end(), send) != there.end()) << to_string(kind) << " rank " << r;
      }
      for (const Send& send : form.receives) {
        const auto there = plan->local(send.from).sends;
        EXPECT_TRUE(std::find(there.begin(), there.end(), send) != there.end()) << to_string(kind) << " rank " << r;
      }
    }
  }
}

RC_GTEST_PROP(Clusters, LeadersReduceForTheirNodes, ()) {
  Any it = any();
  it.problem = {.kind = *rc::gen::element(Kind::allreduce, Kind::barrier)};
  it.problem.commutative = it.problem.kind == Kind::barrier || any_of(0, 1) == 0;
  const PlanPtr plan = on_cluster(it.cluster, it.problem, Lanes::leaders);
  const Report report = verify(plan->schedule());
  if (!report.legal()) RC_FAIL(to_string(it.cluster) + "\n" + to_string(report));
  RC_ASSERT(report.finish == plan->claim().finish);
  expect_local_forms_equal_schedule(*plan);
  RC_ASSERT(on_cluster(it.cluster, it.problem)->claim().finish <= plan->claim().finish);
}

/// No list of ranks is made, of equal nodes or of others.
TEST(Clusters, LeadersOfTenMillionNodesAnswerForOneRank) {
  Cluster unequal = cluster(9'999'999, 100, logp(28, 2, 6), 1, 2, 2);
  unequal.nodes.add(7);
  unequal.base.P += 7;
  for (const Cluster& c : {cluster(10'000'000, 100, logp(28, 2, 6), 1, 2, 2), unequal}) {
    for (const Problem& problem : {Problem{.kind = Kind::allreduce}, Problem{.kind = Kind::barrier},
                                   Problem{.kind = Kind::allreduce, .commutative = false}}) {
      const PlanPtr plan = on_cluster(c, problem, Lanes::leaders);
      LogP leaders = c.base;
      leaders.P = c.nodes.count();
      EXPECT_EQ(plan->claim().finish, allreduce(leaders)->claim().finish + Time{BoardFold(c.nodes, 100).time() + 4});
      for (std::int64_t step = 0; step < 500; ++step) {
        const auto node = static_cast<std::int32_t>(step * 19999);
        const LocalForm form = plan->local(Rank{100 * node});
        const Send& last = form.sends.back();
        ASSERT_EQ(form.publications.size(), 1U);
        ASSERT_EQ(form.publications.back().part, (Part{0, static_cast<std::int32_t>(c.base.P)}));
        ASSERT_EQ(plan->local(last.to).receives.back(), last) << node;
        ASSERT_EQ(plan->local(Rank{100 * node + 5}).readings.back().from, Rank{100 * node});
      }
    }
  }
  const PlanPtr lanes = on_cluster(unequal, {.kind = Kind::allreduce});
  EXPECT_LE(lanes->claim().finish, on_cluster(unequal, {.kind = Kind::allreduce}, Lanes::leaders)->claim().finish);
}

/// clusters.md, Theorem 23: at most (n-2)·read late, and with two ranks a node optimal.
RC_GTEST_PROP(Clusters, TwoNodesNearTheirBarrierBound, ()) {
  const std::int64_t n = any_of(2, 6), publish = any_of(1, 4), read = any_of(1, 3), o = any_of(0, 3);
  const std::int64_t L = publish + (n - 1) * read + any_of(0, 10),
                     g = (publish + read + n - 2) / (n - 1) + any_of(0, 5);
  const Cluster c = cluster(2, n, logp(L, o, g), 0, publish, read);
  for (const Kind kind : {Kind::barrier, Kind::allreduce}) {
    const Claim claim = claim_of(c, kind);
    RC_ASSERT(claim.finish <= c.base.lambda() + Time{publish + (n - 1) * read});
    RC_ASSERT(claim.finish - claim.bound <= Time{(n - 2) * read});
  }
}

/// Legal, in the time that is claimed, and the same seen by its ranks.
void expect_good(const Plan& plan, const Any& it) {
  const Schedule schedule = plan.schedule();
  const Report report = verify(schedule);
  const std::string what = to_string(it.cluster) + " " + std::string(to_string(it.problem.kind)) + "\n";
  if (!report.legal()) RC_FAIL(what + to_string(report));
  if (report.finish != plan.claim().finish) RC_FAIL(what + "another finish");
  RC_ASSERT(plan.claim().bound <= plan.claim().finish);
  expect_local_forms_equal_schedule(plan);
}

/// Times of nanoseconds without a common unit, milliseconds long.
RC_GTEST_PROP(Clusters, FineTicksArePlanned, ()) {
  Any it;
  const LogP base = logp(any_of(300'000, 9'000'000), any_of(0, 5000), any_of(100, 20'000));
  it.cluster = cluster(any_of(1, 12), any_of(1, 6), base, any_of(0, base.gap().ticks), any_of(0, 900), any_of(0, 900));
  it.problem = {.kind = *rc::gen::element(Kind::broadcast, Kind::reduce, Kind::allreduce, Kind::barrier, Kind::scan)};
  if (has_root(it.problem.kind)) it.problem.root = Rank{static_cast<std::int32_t>(any_of(0, it.cluster.base.P - 1))};
  it.problem.commutative = it.problem.kind != Kind::reduce || any_of(0, 1) == 0;
  expect_good(*on_cluster(it.cluster, it.problem, any_of(0, 3) == 0 ? Lanes::leaders : Lanes::all), it);
}

/// Where tables of every tick would be too long a tree is made in a coarser unit (clusters.md, Lemma 32): it is hardly later than on nearly
/// the same cluster in coarse ticks, and the bound hardly lower.
RC_GTEST_PROP(Clusters, FineTicksArePlannedInACoarserUnit, ()) {
  static Sweep sweep;
  if (!sweep.takes_next()) return;
  Any it = any();
  if (any_of(0, 9) > 0 && !it.cluster.nodes.uniform()) {  // nodes of unequal size take long here: fewer of them
    const Nodes& nodes = it.cluster.nodes;
    it.cluster = cluster(nodes.count(), nodes.largest(), it.cluster.base, nodes.gamma.ticks, nodes.publish.ticks,
                         nodes.read.ticks);
  }
  it.problem = {.kind = *rc::gen::element(Kind::broadcast, Kind::reduce), .root = it.problem.root};
  if (it.lanes == Lanes::all) it.lanes = Lanes::one_entry;  // what is a list has coarser steps
  it.problem.root.index %= static_cast<std::int32_t>(it.cluster.base.P);
  const Claim coarse = on_cluster(it.cluster, it.problem, it.lanes)->claim();
  it.cluster = in_fine_ticks(it.cluster);
  const PlanPtr fine = on_cluster(it.cluster, it.problem, it.lanes);
  expect_good(*fine, it);
  const auto near = [](Time in_fine, Time in_coarse) {
    return std::abs(in_fine.ticks - 100'000'000 * in_coarse.ticks) <= 100'000 * in_coarse.ticks + 100'000;
  };
  RC_ASSERT(near(fine->claim().bound, coarse.bound));
  if (it.cluster.nodes.uniform() && it.problem.kind == Kind::reduce)
    RC_ASSERT(near(fine->claim().finish, coarse.finish));
}

/// A gap a little above a multiple of the node gap is worth what the multiple is (clusters.md, Theorem 33).
TEST(Clusters, BoundsOfUnequalNodesDoNotFallForAShorterNodeGap) {
  Cluster c{logp(200, 300, 600), {}};
  for (const std::int64_t size : {1, 2, 2, 1, 2, 4}) c.nodes.add(size);
  c.base.P = c.nodes.ranks();
  c.nodes.publish = Time{100};
  for (const Kind kind : {Kind::broadcast, Kind::reduce, Kind::barrier}) {
    c.nodes.gamma = Time{300};
    const Time bound = claim_of(c, kind).bound;
    c.nodes.gamma = Time{299};
    EXPECT_GE(claim_of(c, kind).bound + Time{20}, bound) << to_string(kind);
  }
}

TEST(Clusters, ACoarserUnitIsTakenWhereTicksAreFine) {
  const Cluster usual = cluster(300, 4, logp(28'000'001, 2'000'000, 6'000'000), 1'000'000, 2'000'000, 2'000'000);
  EXPECT_NE(one_entry_tree(usual, Lanes::all).shape(), spread_shape(usual, 4));
  const Claim claim = claim_of(usual, Kind::broadcast),
              coarse = claim_of(cluster(300, 4, logp(28, 2, 6), 1, 2, 2), Kind::broadcast);
  EXPECT_NEAR(static_cast<double>(claim.finish.ticks), 1e6 * static_cast<double>(coarse.finish.ticks), 1e4);
  EXPECT_NEAR(static_cast<double>(claim.bound.ticks), 1e6 * static_cast<double>(coarse.bound.ticks), 1e4);
}

/// Too many ranks to be planned one event after another.
TEST(Clusters, ScansInStepAreLegal) {
  for (const Cluster& c : {cluster(173, 6, logp(28, 2, 6), 1, 2, 2), cluster(129, 8, logp(6, 0, 3), 2, 1, 3),
                           cluster(1100, 1, logp(5, 2, 1), 0, 1, 1), cluster(344, 3, logp(0, 4, 1), 4, 1, 0),
                           cluster(2, 600, logp(28, 2, 6), 1, 2, 2), cluster(3, 513, logp(9, 0, 4), 0, 3, 0),
                           cluster(5, 700, logp(20, 1, 3), 1, 0, 4)}) {
    const Problem scan{.kind = Kind::scan};
    const PlanPtr plan = scan_in_step(c, scan, {Time{0}, "none"});
    const Schedule schedule = plan->schedule();
    EXPECT_TRUE(verify(schedule).legal()) << to_string(c) << "\n" << to_string(verify(schedule));
    EXPECT_EQ(actual_finish(schedule), plan->claim().finish) << to_string(c);
    expect_local_forms_equal_schedule(*plan);
  }
}

/// clusters.md, Theorem 42: nodes of any size, a first one that hears from nobody, boards that take no time.
RC_GTEST_PROP(Clusters, ScansByLeadersAreLegal, ()) {
  Any it = any();
  it.problem = {.kind = Kind::scan, .exclusive = any_of(0, 1) == 0};
  if (any_of(0, 3) == 0) it.cluster.nodes.add(any_of(1, 99));
  it.cluster.base.P = it.cluster.nodes.ranks();
  if (any_of(0, 3) == 0) it.cluster.nodes.read = Time{0};
  if (any_of(0, 3) == 0) it.cluster.nodes.publish = Time{0};
  const PlanPtr plan = on_cluster(it.cluster, it.problem, Lanes::leaders);
  const Schedule schedule = plan->schedule();
  const Report report = verify(schedule);
  if (!report.legal()) RC_FAIL(to_string(it.cluster) + "\n" + to_string(report));
  RC_ASSERT(report.finish == plan->claim().finish);
  expect_local_forms_equal_schedule(*plan);
}

/// clusters.md, Theorem 24: what one node does is legal when all do it.
RC_GTEST_PROP(Clusters, ExchangesInStepAreLegal, ()) {
  const LogP base = logp(any_of(1, 12), any_of(0, 3), any_of(1, 7));
  const std::int64_t publish = any_of(0, std::min<std::int64_t>(4, base.lambda().ticks));
  const std::int64_t read = any_of(0, std::min<std::int64_t>(4, base.lambda().ticks - publish));
  const Cluster c = cluster(any_of(2, 6), any_of(1, 5), base, any_of(0, base.gap().ticks), publish, read);
  Problem problem{.kind = *rc::gen::element(Kind::allgather, Kind::alltoall, Kind::reduce_scatter)};
  problem.items = any_of(1, 2);
  const PlanPtr plan = exchange_in_step(c, problem, {Time{0}, "none"});
  const Schedule schedule = plan->schedule();
  const Report report = verify(schedule);
  if (!report.legal()) RC_FAIL(to_string(c) + " " + std::string(to_string(problem.kind)) + "\n" + to_string(report));
  RC_ASSERT(actual_finish(schedule) == plan->claim().finish);
  expect_local_forms_equal_schedule(*plan);
}

/// Every kind on 256 nodes of 16 ranks: finish and bound (clusters.md, Computed evidence 25).
TEST(Clusters, EveryKindOnFourThousandRanks) {
  struct Row {
    Kind kind;
    std::int64_t finish, bound;
  };
  const Cluster c = cluster(256, 16, logp(28, 2, 6), 1, 2, 2);
  for (const Row& row : {Row{Kind::broadcast, 93, 93}, Row{Kind::reduce, 108, 100}, Row{Kind::allreduce, 127, 100},
                         Row{Kind::barrier, 127, 100}, Row{Kind::scan, 129, 100}, Row{Kind::scatter, 8193, 8192},
                         Row{Kind::gather, 8193, 8192}, Row{Kind::allgather, 9213, 9212},
                         Row{Kind::reduce_scatter, 16399, 16380}, Row{Kind::alltoall, 65313, 65311}}) {
    const Claim claim = claim_of(c, row.kind);
    EXPECT_EQ(claim.finish, Time{row.finish}) << to_string(row.kind);
    EXPECT_EQ(claim.bound, Time{row.bound}) << to_string(row.kind);
  }
}

/// Lanes that fold in groups before all read them: for operands in rank order, too, and where the last group is smaller.
TEST(Clusters, GroupsOfLanesFoldFirst) {
  for (const Cluster& c : {cluster(256, 16, logp(28, 2, 6), 1, 2, 2), cluster(200, 7, logp(28, 2, 6), 1, 2, 2),
                           cluster(90, 12, logp(40, 0, 9), 1, 1, 4)}) {
    for (const Problem& problem :
         {Problem{.kind = Kind::allreduce}, Problem{.kind = Kind::allreduce, .commutative = false},
          Problem{.kind = Kind::barrier}, Problem{.kind = Kind::scan}}) {
      const PlanPtr plan = on_cluster(c, problem);
      EXPECT_NE(plan->claim().construction.find("fold as one"), std::string::npos) << to_string(c);
      const Schedule schedule = plan->schedule();
      EXPECT_TRUE(verify(schedule).legal()) << to_string(c) << "\n" << to_string(verify(schedule));
      EXPECT_EQ(actual_finish(schedule), plan->claim().finish) << to_string(c);
    }
  }
}

/// Nothing is tabulated for each rank of a node: not even the lanes, of which no more are of use than there are nodes.
TEST(Clusters, FewHugeNodesAnswerForOneRank) {
  for (const std::int64_t N : {2, 4, 8}) {
    const Cluster c = cluster(N, 10'000'000, logp(28, 2, 6), 1, 2, 2);
    EXPECT_LE(one_entry_tree(c, Lanes::all).shape().lanes, N);
    for (const Kind kind : {Kind::broadcast, Kind::reduce, Kind::allreduce, Kind::barrier, Kind::scan}) {
      const PlanPtr plan = on_cluster(c, {.kind = kind});
      EXPECT_LE(plan->claim().finish.ticks, plan->claim().bound.ticks * 2) << to_string(kind);
      const LocalForm form = plan->local(Rank{12'345'678});
      EXPECT_LE(form.readings.size() + form.receives.size(), 100U) << to_string(kind);
    }
  }
  Cluster unequal = cluster(1, 1'000'000, logp(28, 2, 6), 1, 2, 2);
  for (const std::int64_t size : {3, 5}) unequal.nodes.add(size);
  unequal.base.P = unequal.nodes.ranks();
  for (const Kind kind : {Kind::broadcast, Kind::reduce, Kind::allreduce, Kind::barrier, Kind::scan}) {
    const Claim claim = claim_of(unequal, kind);
    EXPECT_LE(claim.finish.ticks, claim.bound.ticks * 2) << to_string(kind);
  }
}

std::string refusal(const Cluster& c, const Problem& problem) {
  try {
    on_cluster(c, problem);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Of the plan, which answers for one rank.
std::string refusal_to_list(const Cluster& c, const Problem& problem) {
  try {
    on_cluster(c, problem)->schedule();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// A number that does not fit into 63 bits is not named as one that does.
TEST(Clusters, WhatIsTooMuchIsNotSaidInSaturatedNumbers) {
  Cluster c = cluster(10'000'000'000, 10'000'000'000, logp(28, 2, 6), 1, 2, 2);
  EXPECT_NE(refusal(c, {}).find("2^63 or more ranks"), std::string::npos) << refusal(c, {});
  Cluster unequal = cluster(1, 1'000'000, logp(28, 2, 6), 1, 2, 2);
  unequal.nodes.add(1000);
  unequal.base.P = unequal.nodes.ranks();
  for (const Kind kind : {Kind::allgather, Kind::alltoall, Kind::reduce_scatter}) {
    const std::string said = refusal_to_list(unequal, {.kind = kind, .items = 2000});
    EXPECT_EQ(said.find("9223372036854775807"), std::string::npos) << said;
    EXPECT_NE(said.find("list"), std::string::npos) << said;
  }
  Cluster many = cluster(1'000'000, 1000, logp(28, 2, 6), 1, 2, 2);
  many.nodes.add(999);
  many.base.P = many.nodes.ranks();
  const std::string said = refusal_to_list(many, {.kind = Kind::alltoall, .items = 20});
  EXPECT_NE(said.find("2^63 or more messages"), std::string::npos) << said;
}

TEST(Clusters, RefusesWhatItDoesNotPlan) {
  const Cluster c = cluster(4, 2, logp(6, 2, 4), 1, 2, 2);
  EXPECT_THROW(on_cluster(c, {.kind = Kind::sum}), Error);
  const Cluster huge = cluster(1'000'000, 1000, logp(28, 2, 6), 1, 2, 2);
  Cluster unequal = huge;
  unequal.nodes.add(999);
  unequal.base.P += 999;
  unequal.nodes.runs.front().count -= 1;
  unequal.base.P -= 1000;
  EXPECT_THROW(on_cluster(unequal, {.kind = Kind::broadcast})->schedule(), Error);
  EXPECT_THROW(on_cluster(unequal, {.kind = Kind::broadcast, .items = 101})->schedule(), Error);
  EXPECT_THROW(on_cluster(c, {.kind = Kind::reduce, .items = 2}), Error);
  EXPECT_THROW(on_cluster(c, {.kind = Kind::allreduce, .items = 2}), Error);
  EXPECT_THROW(on_cluster(c, {.kind = Kind::broadcast, .root = Rank{8}}), Error);
}

}  // namespace
}  // namespace chasqui::plan
