// SPDX-License-Identifier: MIT
// What is counted, and what the machine descriptions make of it.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "chasqui/bsp/broadcast.hpp"
#include "chasqui/bsp/ledger_file.hpp"
#include "chasqui/bsp/run.hpp"
#include "chasqui/bsp/variable.hpp"
#include "sanitized.hpp"

namespace chasqui::bsp {
namespace {

/// ThreadSanitizer has room for some thousand contexts, and all are slow.
constexpr int kMostProcessors = kSanitized ? 256 : 1 << 16;

/// Rank 0 sends 3 messages of 8 bytes to each; everybody charges its rank.
void program(World& w) {
  w.charge(w.rank());
  if (w.rank() == 0) {
    for (int to = 0; to < w.size(); ++to) {
      for (int i = 0; i < 3; ++i) w.send(to, std::int64_t{i});
    }
  }
  w.sync();
  w.charge(10);
  w.sync();
}

TEST(Ledger, CountsMessagesBlocksBytesAndWork) {
  for (const Options& options :
       {Options{.engine = Engine::threads}, Options{.engine = Engine::virtual_processors, .carriers = 2}}) {
    const Ledger ledger = run(4, program, options);
    ASSERT_EQ(ledger.machines.size(), 1u);
    const auto& steps = ledger.machines[0].supersteps;
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_EQ(steps[0].messages, 12);
    EXPECT_EQ(steps[0].blocks, 4);
    EXPECT_EQ(steps[0].bytes, 96);
    EXPECT_EQ(steps[0].total_bytes, 96);
    EXPECT_EQ(steps[0].work, 3);
    EXPECT_EQ(steps[1].messages, 0);
    EXPECT_EQ(steps[1].work, 10);
    EXPECT_EQ(totals(ledger), (Totals{2, 12, 4, 96, 13, totals(ledger).nanoseconds}));
    EXPECT_DOUBLE_EQ(predict(ledger, Bsp{4, 2, 100}), 13 + 2 * 12 + 2 * 100);
    EXPECT_DOUBLE_EQ(predict(ledger, BspStar{4, 2, 100, 50, 8}), 13 + 2 * (12 + 4 * 50) + 2 * 100);
  }
}

TEST(Ledger, ABlockSizeOfOneSendsEveryMessageAlone) {
  const Ledger ledger = run(4, program, {.block_bytes = 1});
  EXPECT_EQ(ledger.machines[0].supersteps[0].blocks, 12);
}

TEST(Ledger, ReceivingCountsAsMuchAsSending) {
  const Ledger ledger = run(5, [](World& w) {
    w.send(0, 1);
    w.sync();
  });
  EXPECT_EQ(ledger.machines[0].supersteps[0].messages, 5);
  EXPECT_EQ(ledger.machines[0].supersteps[0].blocks, 5);
}

TEST(Ledger, ObliviousSuperstepsAreInItToo) {
  const Ledger ledger = run(3, [](World& w) {
    for (int i = 0; i < 4; ++i) {
      w.send((w.rank() + 1) % 3, i);
      w.sync(1);
    }
  });
  EXPECT_EQ(totals(ledger).supersteps, 4);
  EXPECT_EQ(totals(ledger).messages, 4);
}

TEST(Ledger, SubmachinesRunSideBySide) {
  // Part 0 makes one superstep, part 1 three; then one of the whole machine.
  const Ledger ledger = run(6, [](World& w) {
    {
      World part = w.split(2);
      for (int i = 0; i < 1 + 2 * w.part(2); ++i) {
        part.send(0, i);
        part.sync();
      }
    }
    w.sync();
  });
  EXPECT_EQ(ledger.machines.size(), 3u);
  EXPECT_EQ(totals(ledger).supersteps, 4);
  EXPECT_EQ(totals(ledger).messages, 9);
  const DBsp machine{6, {1, 1, 1, 2}, {0, 1, 5, 50}};
  EXPECT_DOUBLE_EQ(predict(ledger, machine, Work::charged), 3 * (3 * 1 + 5) + 50);
}

/// A long program: many supersteps without messages, some with, work of its own in each, bursts without barriers, and looks at
/// the ledger in between.
void long_program(World& w) {
  int sent = 0;
  for (int t = 0; t < 520; ++t) {
    w.charge(1 + (t + w.rank()) % 7);
    const bool sends = t % 50 < 3;
    if (sends) w.send((w.rank() + 1) % w.size(), t);
    sent += sends ? w.size() : 0;
    if (t == 100) {
      for (int burst = 0; burst < 1100; ++burst) w.sync(burst == 0 ? 1 : 0);
    }
    w.sync();
    if (t % 250 != 249) continue;
    std::int64_t counted = 0, worked = 0;
    const Ledger so_far = w.costs();
    for (const Superstep& step : so_far.machines[0].supersteps) {
      counted += step.total_messages;
      worked += step.work > 0;
    }
    EXPECT_EQ(counted, sent);
    EXPECT_GE(worked, t);  // all but the last, which others may have come to already
  }
}

void forget_times(Ledger& ledger) {
  ledger.seconds = 0;
  for (MachineCosts& machine : ledger.machines) {
    for (Superstep& step : machine.supersteps) {
      step.nanoseconds = step.span_nanoseconds = 0;
      for (Row& row : step.rows) row.nanoseconds = 0;
    }
  }
}

TEST(Ledger, EveryEngineKeepsTheSameBooks) {
  for (const bool rows : {false, true}) {
    for (const int p : {1, 2, 12}) {
      Ledger expected = run(p, long_program, {.deterministic = true, .per_processor_costs = rows});
      forget_times(expected);
      for (const int cores : {1, 100}) {
        Ledger ledger = run(p, long_program, {.engine = Engine::threads, .cores = cores, .per_processor_costs = rows});
        forget_times(ledger);
        EXPECT_TRUE(ledger == expected) << p << " processors, " << cores << " cores, rows " << rows;
      }
    }
  }
}

TEST(Ledger, PerProcessorRows) {
  const Ledger ledger = run(4, program, {.per_processor_costs = true});
  const auto& rows = ledger.machines[0].supersteps[0].rows;
  ASSERT_EQ(rows.size(), 4u);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(rows[rank].rank, static_cast<std::int64_t>(rank));
    EXPECT_EQ(rows[rank].received_messages, 3);
    EXPECT_EQ(rows[rank].sent_messages, rank == 0 ? 12 : 0);
  }
}

TEST(Ledger, FilesRoundTrip) {
  const Ledger ledger = run(9, [](World& w) { broadcast_root(w, 1); }, {.per_processor_costs = true});
  EXPECT_GT(ledger.machines.size(), 3u);
  EXPECT_EQ(ledger_from_json(to_json(ledger), "here"), ledger);
  for (
      const char* bad :
      {"{", "[]", R"({"chasqui_bsp":2,"processors":1,"seconds":0,"machines":[]})",
       R"({"chasqui_bsp":1,"processors":1,"seconds":0,"machines":[],"more":1})",
       R"({"chasqui_bsp":1,"processors":1,"seconds":0,"machines":[{"id":"2","parent":"1","split":"0","size":1,"supersteps":[]}]})",
       R"({"chasqui_bsp":1,"processors":1,"seconds":0,"machines":[{"id":"x","parent":"0","split":"0","size":1,"supersteps":[]}]})",
       R"({"chasqui_bsp":1,"processors":1,"seconds":0,"machines":[{"id":"1","parent":"0","split":"0","size":1,"supersteps":[{}]}]})"}) {
    EXPECT_THROW(ledger_from_json(bad, "here"), Error) << bad;
  }
}

TEST(Ledger, MachineDescriptions) {
  for (const Machine& machine :
       {Machine{Bsp{4, 2, 3}}, Machine{BspStar{4, 2, 3, 9, 4}}, Machine{DBsp::hypercube(16)}}) {
    EXPECT_EQ(to_string(machine_from_json(to_json(machine), "here")), to_string(machine));
  }
  for (const char* bad : {R"({"model":"bps","p":1,"g":1,"L":1})", R"({"model":"bsp","p":0,"g":1,"L":1})",
                          R"({"model":"bsp","p":1,"g":-1,"L":1})", R"({"model":"bsp","p":1,"g":1})",
                          R"({"model":"bsp","p":1,"g":1,"L":1,"B":2})"}) {
    EXPECT_THROW(machine_from_json(bad, "here"), Error) << bad;
  }
}

TEST(Ledger, DeepNestingAndLargeNumbersAreAddedUp) {
  Ledger ledger;
  constexpr std::uint64_t kDepth = 200'000;
  for (std::uint64_t id = 1; id <= kDepth; ++id) {
    ledger.machines.push_back({id, id - 1, 1, 1, {}});
    ledger.machines.back().supersteps.push_back({.work = 1, .messages = 1, .rows = {}});
  }
  EXPECT_EQ(totals(ledger).supersteps, static_cast<std::int64_t>(kDepth));
  EXPECT_EQ(predict(ledger, Bsp{1, 2, 3}, Work::charged), 6.0 * kDepth);
  for (MachineCosts& machine : ledger.machines) machine.supersteps[0].bytes = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(totals(ledger).bytes, std::numeric_limits<std::int64_t>::max());
}

TEST(Ledger, TableAndPlotShowTheRun) {
  const Ledger ledger = run(4, program);
  const std::string table = to_table(ledger, {Bsp{4, 2, 100}});
  EXPECT_NE(table.find("T = 2"), std::string::npos) << table;
  EXPECT_NE(table.find("predicted on BSP p=4 g=2 L=100: 237"), std::string::npos) << table;
}

/// What costs() says on the way of a program whose supersteps are idle or not by chance: by look and processor, without times and
/// without the last superstep.
std::vector<std::vector<Ledger>> costs_on_the_way(int p, unsigned seed, const Options& options) {
  constexpr unsigned kLooks = 12;
  std::vector<std::vector<Ledger>> seen(kLooks, std::vector<Ledger>(static_cast<std::size_t>(p)));
  run(
      p,
      [&](World& w) {
        std::minstd_rand chance(seed);  // the same everywhere
        for (std::vector<Ledger>& look : seen) {
          const auto steps = chance() % 8;
          for (unsigned i = 0; i < steps; ++i) {
            w.charge(1 + static_cast<std::int64_t>(chance() % 9) + w.rank());
            if (chance() % 2 == 0) w.send((w.rank() + 1) % w.size(), 42);
            w.sync();
          }
          Ledger& mine = look[static_cast<std::size_t>(w.rank())];
          mine = w.costs();
          auto& so_far = mine.machines.front().supersteps;
          EXPECT_EQ(so_far.size(), w.superstep());
          if (!so_far.empty()) so_far.back() = {};
        }
        w.sync();
      },
      options);
  for (std::vector<Ledger>& look : seen) {
    for (Ledger& ledger : look) forget_times(ledger);
  }
  return seen;
}

TEST(Ledger, CostsInsideTheProgramMissOnlyTheLastSuperstep) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    for (const int p : {1, 2, 5}) {
      const auto expected = costs_on_the_way(p, seed, {.deterministic = true});
      const auto& steps = expected.back().front().machines.front().supersteps;
      for (std::size_t i = 0; i + 1 < steps.size(); ++i) EXPECT_GT(steps[i].work, 0);
      for (const int cores : {1, 100}) {
        EXPECT_TRUE(costs_on_the_way(p, seed, {.engine = Engine::threads, .cores = cores}) == expected)
            << p << " processors, " << cores << " cores, seed " << seed;
      }
    }
  }
}

// Root(p) on the hypercube costs O(log p log log p), doubling (log p)^2 + log p: counted. The paper's target
// index and its plain partner i + 2^t (from 1) inform too few; ours inform everybody (algorithms_test).
TEST(RootBroadcast, BeatsDoublingOnAHypercube) {
  for (const int log_p : {2, 4, 8, 12, 16}) {
    const int p = 1 << log_p;
    if (p > kMostProcessors) break;
    const Options options{.engine = Engine::virtual_processors};
    const auto machine = DBsp::hypercube(p);
    const Ledger plain = run(
        p, [](World& w) { broadcast_doubling(w, w.rank()); }, options);
    EXPECT_DOUBLE_EQ(predict(plain, machine, Work::charged), log_p * log_p + log_p);
    const Ledger root = run(
        p, [](World& w) { broadcast_root(w, w.rank()); }, options);
    // C(2^(2^j)): C(2) = 1 + 1; C(p) = 2 C(sqrt p) + log p + 1.
    double expected = 2;
    int level = 1;
    for (; level < log_p; level *= 2) expected = 2 * expected + 2 * level + 1;
    if (level == log_p) {
      EXPECT_DOUBLE_EQ(predict(root, machine, Work::charged), expected) << p;
    }
    if (log_p >= 8) {
      EXPECT_LT(predict(root, machine, Work::charged), predict(plain, machine, Work::charged)) << p;
    }
    EXPECT_LE(predict(root, machine, Work::charged), 3 * log_p * (std::log2(log_p) + 1)) << p;
  }
}

}  // namespace
}  // namespace chasqui::bsp
