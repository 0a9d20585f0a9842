// SPDX-License-Identifier: MIT
// The estimator against simulated machines whose parameters are known: its intervals must hold them as often as they say.
#include "measure/estimate.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "measure/parameters.hpp"

namespace chasqui::measure {
namespace {

TEST(Supersteps, AWordIsNeverFree) {
  Level messages;
  messages.g = Estimate::exactly(310);
  Parameters round;
  round.superstep = 9000;
  round.long_superstep = 9000 + 31 * 120.0;
  EXPECT_DOUBLE_EQ(word_gap({round}, messages).value, 120);
  round.superstep = 20'000;  // disturbed
  EXPECT_DOUBLE_EQ(word_gap({round}, messages).value, 310);
}

struct Machine {
  double L = 900, o_s = 180, o_r = 260, g = 310, G = 0.12;
  std::int64_t eager = 8192;  ///< longer messages ask first
  double handshake = 2400;
};

/// Every sample is off by a few per cent, some by a lot (interrupts); a whole round is off by its placement.
class Noise {
 public:
  explicit Noise(std::mt19937_64& random) : random_(random) { round_ = std::exp(0.02 * normal_(random_)); }
  double operator()(double time) {
    const double spike = chance_(random_) < 0.03 ? 20'000 * chance_(random_) : 0;
    return time * round_ * std::exp(0.03 * normal_(random_)) + spike;
  }

 private:
  std::mt19937_64& random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> chance_;
  double round_ = 1;
};

class SimulatedProbe final : public Probe {
 public:
  SimulatedProbe(const Machine& machine, std::mt19937_64& random) : machine_(machine), noisy_(random) {}
  double half_trip(std::size_t bytes) override {
    const double m = static_cast<double>(bytes);
    const double asks = static_cast<std::int64_t>(bytes) > machine_.eager ? machine_.handshake : 0;
    return noisy_(machine_.o_s + machine_.L + machine_.G * (m - 8) + machine_.o_r + asks);
  }
  double send_overhead() override { return noisy_(machine_.o_s); }
  double receive_overhead(double patience) override {
    EXPECT_GT(patience, 2 * (machine_.o_s + machine_.L + machine_.o_r)) << "the message has not arrived";
    return noisy_(machine_.o_r);
  }
  double burst(int messages) override {
    const double trip = machine_.o_s + machine_.L + machine_.o_r;
    return noisy_((messages - 1) * std::max({machine_.g, machine_.o_s, machine_.o_r}) + 2 * trip);
  }

 private:
  Machine machine_;
  Noise noisy_;
};

double median_of_25(double, const std::function<double()>& sample) {
  std::vector<double> samples;
  for (int i = 0; i < 25; ++i) samples.push_back(sample());
  return median_of(std::move(samples)).value;
}

Level measured(const Machine& machine, std::uint64_t seed, int count = 9) {
  std::mt19937_64 random(seed);
  std::vector<MessageParameters> rounds;
  for (int k = 0; k < count; ++k) {
    SimulatedProbe probe(machine, random);
    rounds.push_back(message_parameters(probe, median_of_25));
  }
  return level_of("network", rounds);
}

TEST(Estimate, IntervalsHoldTheTruthInAbout95OfAHundredMeasurements) {
  const Machine machines[] = {
      {}, {.L = 5'000, .o_s = 900, .o_r = 1200, .g = 400, .G = 1.1, .eager = 65'536, .handshake = 60'000}};
  for (const Machine& machine : machines) {
    constexpr int kSeeds = 400;
    std::map<std::string, int> held;
    for (int seed = 0; seed < kSeeds; ++seed) {
      const Level level = measured(machine, static_cast<std::uint64_t>(seed));
      const auto count = [&](const char* name, const Estimate& e, double truth) {
        held[name] += e.low <= truth && truth <= e.high ? 1 : 0;
      };
      count("L", level.L, machine.L);
      count("o_s", level.o_s, machine.o_s);
      count("o_r", level.o_r, machine.o_r);
      count("g", level.g, std::max({machine.g, machine.o_s, machine.o_r}));
      count("G", level.G, machine.G);
      count("B", level.B, (machine.L + machine.o_s + machine.o_r) / machine.G);
      ASSERT_EQ(level.switches, std::vector<std::int64_t>{machine.eager}) << "seed " << seed;
    }
    for (const auto& [name, hits] : held) {
      EXPECT_GE(hits, kSeeds * 92 / 100) << name << " of L = " << machine.L;
      EXPECT_LT(hits, kSeeds) << name << ": intervals that never miss are too wide";
    }
  }
}

/// Where there was no time for nine rounds the intervals are wider, not more often wrong.
TEST(Estimate, FewerRoundsWidenTheIntervals) {
  constexpr int kSeeds = 300;
  double width = 1e18;
  for (const int rounds : {1, 2, 3, 5, 6, 9}) {
    int held = 0;
    double sum = 0;
    for (int seed = 0; seed < kSeeds; ++seed) {
      const Level level = measured({}, static_cast<std::uint64_t>(seed), rounds);
      held += level.o_s.low <= 180 && 180 <= level.o_s.high ? 1 : 0;
      sum += level.o_s.high - level.o_s.low;
    }
    EXPECT_GE(held, kSeeds * 92 / 100) << rounds << " rounds";
    EXPECT_LT(sum, width) << rounds << " rounds";
    width = sum;
  }
}

TEST(Estimate, TwoMeasurementsOfOneMachineMeet) {
  int apart = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Level a = measured({}, 2 * seed), b = measured({}, 2 * seed + 1);
    for (const auto member : {&Level::L, &Level::o_s, &Level::o_r, &Level::g, &Level::G, &Level::B}) {
      apart += (a.*member).low > (b.*member).high || (b.*member).low > (a.*member).high ? 1 : 0;
    }
  }
  EXPECT_LE(apart, 200 * 6 * 2 / 100);
}

TEST(Estimate, AnotherMachineIsNotTheSame) {
  const Level a = measured({}, 1), b = measured({.L = 1200}, 2);
  EXPECT_LT(a.L.high, b.L.low);
}

TEST(Estimate, OrderStatisticsOfTheMedian) {
  std::vector<double> nine = {9, 1, 8, 2, 7, 3, 6, 4, 5};
  EXPECT_EQ(median_of(nine), (Estimate{5, 2, 8}));
  EXPECT_EQ(median_of({3, 1, 2}), (Estimate{2, 1, 3}));
  EXPECT_EQ(median_of({4, 2}), (Estimate{3, 2, 4}));
  EXPECT_EQ(median_of({6}), (Estimate{6, 6, 6}));
  EXPECT_EQ(median_of_rounds(nine), median_of(nine));
  EXPECT_EQ(median_of_rounds({6}), (Estimate{6, 0, 12}));
  EXPECT_EQ(median_of_rounds({5, 5, 5}), (Estimate{5, 5, 5}));
  const Estimate three = median_of_rounds({10, 12, 11});  // 11 +- 4.303 / sqrt(3)
  EXPECT_NEAR(three.low, 11 - 2.484, 1e-3);
  EXPECT_NEAR(three.high, 11 + 2.484, 1e-3);
  EXPECT_EQ(median_of_rounds({1, 9}).low, 0);
  std::vector<double> many(100'001);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i);
  const Estimate e = median_of(many);
  EXPECT_EQ(e.value, 50'000);
  EXPECT_NEAR(e.low, 50'000 - 310, 3);
  EXPECT_NEAR(e.high, 50'000 + 310, 3);
}

TEST(Estimate, SlopesAloneAreNoSwitch) {
  Times times;
  for (std::int64_t m = 64; m <= 1 << 20; m *= 2) {
    const double x = static_cast<double>(m);
    times.emplace_back(m, 500 + 0.05 * x + std::max(0.0, 0.2 * (x - 32'768)));  // out of the cache, not into a protocol
  }
  EXPECT_EQ(switches_in(times), std::vector<std::int64_t>{});
}

TEST(Estimate, ReceivingPortsWithoutALimitAreSeen) {
  const double G = 0.8;
  const double message = 0.8 * 65'536;
  const FanIn queued{4, 65'536, 80'000, 80'000 + 3 * message};
  const FanIn side_by_side{4, 65'536, 80'000, 80'000 + 3 * 3000};
  EXPECT_FALSE(receives_in_parallel({queued, queued, queued}, G));
  EXPECT_TRUE(receives_in_parallel({side_by_side, side_by_side, queued}, G));
  EXPECT_FALSE(receives_in_parallel({side_by_side, queued, queued}, G)) << "most rounds say no";
  EXPECT_FALSE(receives_in_parallel({FanIn{1, 65'536, 80'000, 80'000}}, G)) << "one sender tells nothing";
}

/// A node: what its ranks need for a message and a byte, what its adapter does, and its board.
struct NodeMachine {
  int ranks = 8;
  double g = 400, G = 0.25;            ///< of a rank
  double gamma = 100, node_G = 0.1;    ///< of the node
  double publish = 130, read = 210;    ///< a line: its writer, then a reader
  double further = 45, copied = 0.06;  ///< each further line; a byte that all copy
};

class SimulatedNode final : public NodeProbe, public BoardProbe {
 public:
  SimulatedNode(const NodeMachine& machine, std::mt19937_64& random) : m_(machine), noisy_(random) {}

  double burst(int lanes, int messages, std::int64_t bytes) override {
    const double each =
        bytes == 8 ? std::max(m_.g, lanes * m_.gamma) : static_cast<double>(bytes) * std::max(m_.G, lanes * m_.node_G);
    return noisy_(2000 + messages * each);
  }
  double line() override { return noisy_(m_.publish + m_.read); }
  double write() override { return noisy_(m_.publish); }
  double late_read(double patience) override {
    EXPECT_GT(patience, 2 * (m_.publish + m_.read)) << "the line is not there yet";
    return noisy_(m_.read);
  }
  double all_lines() override { return noisy_(m_.publish + m_.read + (m_.ranks - 1) * m_.further); }
  double copy(std::int64_t bytes) override {
    return noisy_(m_.publish + m_.read + m_.copied * static_cast<double>(bytes));
  }

 private:
  NodeMachine m_;
  Noise noisy_;
};

struct MeasuredNode {
  std::vector<LaneGap> gaps;
  Estimate publish, write, read;
};
MeasuredNode measured_node(const NodeMachine& machine, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<NodeBurst>> bursts;
  std::vector<BoardParameters> boards;
  for (int k = 0; k < 9; ++k) {
    SimulatedNode node(machine, random);
    bursts.push_back(node_bursts(node, machine.ranks, median_of_25));
    boards.push_back(board_parameters(node, median_of_25));
  }
  return {lane_gaps(bursts), over_rounds(boards, [](const BoardParameters& r) { return r.publish; }),
          over_rounds(boards, [](const BoardParameters& r) { return r.write; }),
          over_rounds(boards, [](const BoardParameters& r) { return r.read; })};
}

/// Among others a byte takes longer than alone where nodes have something in common, and never less.
TEST(Estimate, ByteAmongOthersIsMidway) {
  const std::vector<LaneGap> busy = {{1, {}, {2, 1.5, 2.5}}, {4, {}, {0.5, 0.4, 0.6}}};
  const Estimate among = gap_per_byte_among_others({1, 0.9, 1.1}, busy);
  EXPECT_DOUBLE_EQ(among.value, 1.5);
  EXPECT_DOUBLE_EQ(among.low, 1.2);
  EXPECT_DOUBLE_EQ(among.high, 1.8);
  const Estimate alone{3, 2.9, 3.1};
  EXPECT_DOUBLE_EQ(gap_per_byte_among_others(alone, busy).value, 3);
  EXPECT_DOUBLE_EQ(gap_per_byte_among_others(alone, busy).low, 2.9);
}

/// What the node carries with 1, 2, 4 … all of its ranks, the most that it does, and both halves of its board: each interval holds the truth
/// as often as it says.
TEST(Estimate, NodesAndTheirBoardsAreRecovered) {
  const NodeMachine machines[] = {{},
                                  {.ranks = 6, .g = 300, .G = 0.2, .gamma = 290, .node_G = 0.2},  // one rank fills it
                                  {.ranks = 3, .g = 900, .gamma = 50, .publish = 900, .read = 60}};  // all do not
  for (const NodeMachine& m : machines) {
    constexpr int kSeeds = 400;
    std::map<std::string, int> held;
    for (int seed = 0; seed < kSeeds; ++seed) {
      const MeasuredNode node = measured_node(m, static_cast<std::uint64_t>(seed));
      const auto count = [&](const std::string& name, const Estimate& e, double truth) {
        held[name] += e.low <= truth && truth <= e.high ? 1 : 0;
      };
      ASSERT_EQ(node.gaps.front().lanes, 1);
      ASSERT_EQ(node.gaps.back().lanes, m.ranks);
      for (const LaneGap& gap : node.gaps) {
        const auto lanes = static_cast<double>(gap.lanes);
        count(fmt::format("g, {} at once", gap.lanes), gap.g, std::max(m.g / lanes, m.gamma));
        count(fmt::format("G, {} at once", gap.lanes), gap.G, std::max(m.G / lanes, m.node_G));
      }
      count("node_g", node_gap(node.gaps), std::max(m.g / m.ranks, m.gamma));
      count("node_G", node_gap_per_byte(node.gaps), std::max(m.G / m.ranks, m.node_G));
      count("publish", node.publish, m.publish + m.read);
      count("write", node.write, m.publish);
      count("read", node.read, m.read);
    }
    for (const auto& [name, hits] : held) {
      EXPECT_GE(hits, kSeeds * 92 / 100) << name << " of " << m.ranks << " ranks";
      EXPECT_LT(hits, kSeeds) << name << ": intervals that never miss are too wide";
    }
  }
}

TEST(Estimate, WriterAndReaderShareALine) {
  Level level;
  EXPECT_EQ(level.read_share(), 0.5) << "nobody has measured it";
  level.write = Estimate::exactly(150);
  level.read = Estimate::exactly(50);
  EXPECT_EQ(level.read_share(), 0.25);
}

}  // namespace
}  // namespace chasqui::measure
