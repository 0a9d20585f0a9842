// SPDX-License-Identifier: MIT
// Reductions on lanes and in items, played in time for all ranks together: each has a port, the messages to a node go over its link one
// after another, and a step on a board takes its time, half of it before the leader reads.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <queue>
#include <utility>

#include "run/choose/board_cost.hpp"
#include "run/choose/lane_cost.hpp"
#include "run/messages/lanes.hpp"
#include "run/messages/piped.hpp"

namespace chasqui::run {
namespace {

struct Played {
  double o, L, link;  ///< link: what a message takes of it
};

/// Every event is one instruction of one rank, and they come in the order of time.
class OnLanes {
 public:
  OnLanes(std::vector<Program> programs, int n, const LaneCosts& costs, const Played& machine)
      : programs_(std::move(programs)), n_(n), costs_(costs), machine_(machine), ranks_(programs_.size()) {}

  /// When the last rank has ended; nan: somebody waits for ever.
  double finish() {
    for (std::size_t r = 0; r < ranks_.size(); ++r) events_.emplace(0, r);
    double last = 0;
    std::size_t ended = 0;
    while (!events_.empty()) {
      const auto [time, r] = events_.top();
      events_.pop();
      if (ranks_[r].next == programs_[r].list.size()) {
        last = std::max(last, time);
        ++ended;
      } else {
        step(time, r);
      }
    }
    return ended == ranks_.size() ? last : std::numeric_limits<double>::quiet_NaN();
  }

 private:
  struct One {
    std::size_t next = 0;
    double origin = 0;
    std::vector<std::pair<std::size_t, std::size_t>> posts{};  ///< from whom, and its how many-th message to this rank
    double waits_from = -1;                                    ///< for a message
    std::size_t boards = 0;
  };
  struct Fold {
    int brought = 0;
    double last = 0, leader_came = -1;
  };
  using Pair = std::pair<std::size_t, std::size_t>;

  void go_on(std::size_t r, double time) {
    ++ranks_[r].next;
    events_.emplace(time, r);
  }

  void step(double time, std::size_t r) {
    One& one = ranks_[r];
    const Instruction& now = programs_[r].list[one.next];
    const auto other = static_cast<std::size_t>(now.other);
    using What = Instruction::What;
    switch (now.what) {
      case What::post: one.posts.emplace_back(other, asked_[{other, r}]++); return go_on(r, time);
      case What::begin: one.origin = time + programs_[r].times[other]; return go_on(r, time);
      case What::align: one.origin = std::min(one.origin, time - programs_[r].times[other]); return go_on(r, time);
      case What::pause: return go_on(r, std::max(time, one.origin + programs_[r].times[other]));
      case What::send: {
        double& link = links_[other / static_cast<std::size_t>(n_)];
        link = std::max(link, time + machine_.o + machine_.L) + machine_.link;
        there_[{r, other}].push_back(link);
        go_on(r, time + machine_.o);
        if (ranks_[other].waits_from >= 0) arrive(other);
        return;
      }
      case What::arrive: one.waits_from = time; return arrive(r);
      case What::board: return board(time, r, programs_[r].steps[other]);
      default: return go_on(r, time);
    }
  }

  void arrive(std::size_t r) {
    One& one = ranks_[r];
    const auto [from, number] = one.posts[static_cast<std::size_t>(programs_[r].list[one.next].other)];
    const auto& there = there_[{from, r}];
    if (there.size() <= number) return;
    go_on(r, std::max(one.waits_from, there[number]) + machine_.o);
    one.waits_from = -1;
  }

  void board(double time, std::size_t r, const BoardStep& step) {
    const auto node = r / static_cast<std::size_t>(n_);
    const int place = static_cast<int>(r % static_cast<std::size_t>(n_));
    const int wanted = step.contributors != 0 ? step.contributors : n_;
    const double total = step.contributors != 0 ? costs_.one_read + (wanted - 1) * costs_.more_reads : costs_.reduce;
    Fold& fold = folds_[{node, ranks_[r].boards++}];
    const bool leads = place == step.root;
    if (place < wanted) {
      ++fold.brought;
      fold.last = std::max(fold.last, leads ? time : time + total / 2);
    }
    if (leads) fold.leader_came = time;
    else go_on(r, place < wanted ? time + total / 2 : time);
    if (fold.leader_came >= 0 && fold.brought == wanted)
      go_on(node * static_cast<std::size_t>(n_) + static_cast<std::size_t>(step.root), fold.last + total / 2);
  }

  std::vector<Program> programs_;
  int n_;
  const LaneCosts& costs_;
  Played machine_;
  std::vector<One> ranks_;
  using Event = std::pair<double, std::size_t>;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::map<Pair, std::size_t> asked_;
  std::map<Pair, std::vector<double>> there_;
  std::map<std::size_t, double> links_;
  std::map<Pair, Fold> folds_;
};

/// N nodes of n ranks, numbered node by node.
struct EqualNodes {
  EqualNodes(int N, int n) : ranks(static_cast<std::size_t>(N * n)) {
    topology.ranks = N * n;
    topology.nodes = N;
    topology.largest_node = topology.smallest_node = n;
    topology.board = true;
    nodes.add(n, N);
    std::iota(ranks.begin(), ranks.end(), 0);
  }
  /// `program_of(shape)` of every rank in a reduction of so many values of 8 bytes.
  template <typename ProgramOf>
  std::vector<Program> reduction(std::size_t count, const ProgramOf& program_of) const {
    std::vector<Program> programs;
    for (const int rank : ranks) {
      programs.push_back(
          program_of(Shape{.kind = Kind::reduce, .rank = rank, .size = topology.ranks, .count = count, .element = 8}));
    }
    return programs;
  }

  Topology topology;
  Nodes nodes;
  std::vector<int> ranks;
};

/// Both networks of docs/clusters.md, Computed evidence 13.
std::vector<std::pair<Profile, Played>> simulated_networks() {
  std::vector<std::pair<Profile, Played>> machines;
  for (const auto& [L, o, G] : {std::tuple(1000.0, 300.0, 0.08), std::tuple(25'000.0, 3000.0, 0.8)}) {
    Profile profile = default_profile();
    for (Level& level : profile.levels) {
      if (level.name == "node") {
        level.publish = Estimate::exactly(243);
        level.publish_per_rank = Estimate::exactly(42);
        level.copy = Estimate::exactly(0.04213);
        continue;
      }
      level.L = Estimate::exactly(L + 16 * G);
      level.o_s = level.o_r = level.g = Estimate::exactly(o);
      level.G = Estimate::exactly(G);
      level.node_g = Estimate::exactly(16 * G);
      level.node_G = Estimate::exactly(G);
      level.shares_bandwidth = true;
    }
    machines.emplace_back(std::move(profile), Played{o, L, 16 * G});
  }
  return machines;
}

/// A sender waits for its turn, so that its message shares the link with none that is wanted earlier. Nobody ends later for it than
/// predicted, or than without turns on a link that costs nothing, but by what the messages to the lanes of one node share. (Turns at the
/// last moment, or counted from the time of another fold than the one that the nodes begin with, fail here.)
TEST(LanesInTime, TurnsMakeNobodyLate) {
  for (const auto& [profile, machine] : simulated_networks()) {
    for (const int n : {4, 8, 16}) {
      for (const int N : {9, 16, 27, 40, 64, 100}) {
        const EqualNodes cluster(N, n);
        const LaneCosts costs = lane_costs({Kind::reduce, 8, 8, true}, cluster.topology, profile);
        const std::vector<Program> programs = cluster.reduction(
            1, [&](const Shape& shape) { return lane_program(shape, n, cluster.nodes, cluster.ranks, costs); });
        const double link = 1.5 * machine.link;  // a value of 8 bytes and its envelope
        std::vector<Program> at_once = programs;
        for (Program& program : at_once) std::fill(program.times.begin(), program.times.end(), 0.0);
        const double alone = OnLanes(at_once, n, costs, {machine.o, machine.L, 0}).finish();
        const double predicted = lane_plan(Kind::reduce, cluster.nodes, 0, costs).nanoseconds;
        const double rounding =
            1 + 5e-5 * predicted;  // of times in ticks; a turn that is wrong makes a node late by 50 ns and more
        EXPECT_LE(OnLanes(programs, n, costs, {machine.o, machine.L, link}).finish(),
                  std::max(alone, predicted) + (n - 1) * link + rounding)
            << N << " nodes of " << n << ", latency " << machine.L << ", predicted " << predicted << ", without turns "
            << alone;
      }
    }
  }
}

/// Boards fold the items of a long reduction while messages are under way, and make nobody late: a leader, who has nothing to spare where
/// the board takes longer than the link, turns to the next item between two sends, whatever arrives meanwhile, and the root while it waits
/// for its first message. (With items on the board only when they are sent or arrive, nodes of 16 end 8 to 10 % later, nodes of 4 a quarter.)
TEST(LanesInTime, BoardsMakeNoItemLate) {
  constexpr std::size_t kBytes = 1 << 20;
  for (const auto& [profile, machine] : simulated_networks()) {
    for (const int n : {4, 16}) {
      for (const int N : {2, 5, 16}) {
        const EqualNodes cluster(N, n);
        const Query query{Kind::reduce, kBytes, 8, true};
        const auto piped = piped_leaders(query, cluster.topology, profile);
        ASSERT_TRUE(piped);
        const double item = static_cast<double>(kBytes) / static_cast<double>(piped->items);
        LaneCosts costs;
        costs.reduce = board_time(profile, Kind::reduce, item, n, false);
        const auto busy = [&](Kind) { return costs.reduce / 2; };
        std::vector<Program> programs = cluster.reduction(kBytes / 8, [&](const Shape& shape) {
          return piped_program(shape, cluster.nodes, cluster.ranks, piped->items, profile.levels.back(), busy);
        });
        const double link = profile.levels.back().G.value * item + machine.link;
        const double taken = OnLanes(std::move(programs), n, costs, {machine.o, machine.L, link}).finish();
        EXPECT_NEAR(taken, piped->nanoseconds, 0.005 * taken) << N << " nodes of " << n << ", latency " << machine.L;
      }
    }
  }
}

}  // namespace
}  // namespace chasqui::run
