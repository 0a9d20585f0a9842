// SPDX-License-Identifier: MIT
// The libraries' algorithms do what their collective promises, their predicted times are those of the simulator, and the
// classical ones those of closed forms that share no code with the rounds.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <set>

#include "chasqui/simulate/simulate.hpp"
#include "chasqui/tune/algorithms.hpp"
#include "chasqui/verify/verify.hpp"

namespace chasqui::tune {
namespace {

constexpr Library kLibraries[] = {Library::openmpi, Library::mpich};

LogGP machine_of(int P, std::int64_t L, std::int64_t o, std::int64_t g, std::int64_t G) {
  return {LogP{P, Time{L}, Time{o}, Time{g}}, G, 1};
}

template <typename Check>
void for_algorithms(int least, int most, std::int64_t bytes_per_rank, const Check& check) {
  for (const Library library : kLibraries) {
    for (const CollectiveName& collective : collectives()) {
      for (int P = least; P <= most; ++P) {
        const std::int64_t bytes = collective.kind == Kind::barrier ? 0 : bytes_per_rank * P;
        for (const Algorithm& algorithm : algorithms(library, collective.word, P, bytes)) {
          SCOPED_TRACE(fmt::format("{} {} {} P={}", to_string(library), collective.word, to_string(algorithm), P));
          const auto rounds = rounds_of(algorithm, P, bytes);
          ASSERT_TRUE(rounds);
          check(*rounds, P);
        }
      }
    }
  }
}

/// What rank r must have of item i at the end.
bool is_served(const Rounds& rounds, int r, std::size_t i, std::uint64_t has) {
  const auto P = static_cast<std::size_t>(rounds.ranks), rank = static_cast<std::size_t>(r);
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - P);
  switch (rounds.kind) {
    case Kind::reduce: return r != 0 || has == all;
    case Kind::gather: return r != 0 || has == all;
    case Kind::scatter:
    case Kind::reduce_scatter: return rank != i || has == all;
    case Kind::alltoall: return i % P != rank || has == all;
    case Kind::scan: return (has & (all >> (P - 1 - rank))) == all >> (P - 1 - rank);
    default: return has == all;
  }
}

TEST(Rounds, EveryAlgorithmDoesItsCollective) {
  int seen = 0;
  for_algorithms(2, 17, 4096, [&](const Rounds& rounds, int P) {
    const auto has = contributions(rounds);
    for (int r = 0; r < P; ++r) {
      for (std::size_t i = 0; i < rounds.item_bytes.size(); ++i)
        EXPECT_TRUE(is_served(rounds, r, i, has[static_cast<std::size_t>(r)][i])) << "rank " << r << " item " << i;
    }
    ++seen;
  });
  EXPECT_GT(seen, 1500);
}

/// Nothing is folded twice: what comes has nothing in common with what is there.
TEST(Rounds, NobodyFoldsTheSameTwice) {
  for_algorithms(2, 17, 256, [&](const Rounds& rounds, int P) {
    if (!combines(rounds.kind) || rounds.kind == Kind::barrier) return;
    auto has = contributions(rounds, 0, 0);
    for (std::size_t t = 0; t < rounds.list.size(); ++t) {
      const auto before = has;
      for (const Message& message : rounds.list[t]) {
        for (const std::int32_t item : message.items) {
          const auto i = static_cast<std::size_t>(item);
          auto& mine = has[static_cast<std::size_t>(message.to)][i];
          const std::uint64_t comes = before[static_cast<std::size_t>(message.from)][i];
          if (message.folds) {
            EXPECT_EQ(mine & comes, 0U) << "round " << t << " " << message.from << "->" << message.to;
          }
          mine |= comes;
        }
      }
    }
    EXPECT_LE(P, 17);
  });
}

/// The finish that the simulator finds for the schedule, where there is one.
std::optional<double> simulated(const Rounds& rounds, const LogGP& machine, int phase = 0) {
  auto built = schedule_of(rounds, machine, phase);
  if (std::holds_alternative<std::string>(built)) return std::nullopt;
  const Schedule schedule = std::get<Schedule>(std::move(built));
  const Trace trace = simulate::simulate(schedule, simulate::exactly_L(schedule.machine), {.critical_path = false});
  EXPECT_NE(trace.finish, kNever) << "somebody sends what it has not";
  return static_cast<double>(trace.finish.ticks);
}

bool sends_twice(const Rounds& rounds) {
  for (const Round& round : rounds.list) {
    std::set<std::int32_t> senders;
    for (const Message& message : round) {
      if (!senders.insert(message.from).second) return true;
    }
  }
  return false;
}

const LogGP kMachines[] = {machine_of(1, 6, 2, 4, 1), machine_of(1, 100, 3, 5, 1), machine_of(1, 5, 4, 2, 2),
                           machine_of(1, 1, 0, 1, 1), machine_of(1, 40, 0, 1, 1),  machine_of(1, 7, 0, 3, 3)};

TEST(Rounds, ThePredictionIsTheSimulatorsTime) {
  std::set<std::string> compared;
  for (LogGP machine : kMachines) {
    for_algorithms(2, 13, 64, [&](const Rounds& rounds, int P) {
      machine.base.P = P;
      const double predicted = play(rounds, network_of(machine));
      if (const auto found = simulated(rounds, machine)) {
        // In schedules of folds a rank waits for all that is planned to come before it sends, needed or not.
        const bool waits =
            combines(rounds.kind) && rounds.kind != Kind::reduce && !std::has_single_bit(static_cast<unsigned>(P));
        // Whoever could send or receive at the same moment may do either first.
        const bool ties = machine.base.o > Time{0} && sends_twice(rounds);
        if (waits) {
          EXPECT_LE(predicted, *found) << to_string(machine);
          EXPECT_LE(*found, 2 * predicted) << to_string(machine);
        } else if (ties) {
          EXPECT_NEAR(predicted, *found, static_cast<double>(P * machine.base.o.ticks)) << to_string(machine);
        } else {
          EXPECT_EQ(predicted, *found) << to_string(machine);
        }
        compared.insert(std::string(to_string(rounds.kind)));
      }
      if (rounds.spread == 0) return;
      const auto first = simulated(rounds, machine, 1), second = simulated(rounds, machine, 2);
      if (!first || !second) return;
      EXPECT_EQ(predicted, *first + *second) << to_string(machine);  // all ranks end a phase at once
      compared.insert("chunks");
    });
  }
  for (const Kind kind : {Kind::broadcast, Kind::reduce, Kind::allreduce, Kind::allgather, Kind::alltoall,
                          Kind::barrier, Kind::gather, Kind::scatter, Kind::reduce_scatter, Kind::scan})
    EXPECT_TRUE(compared.count(std::string(to_string(kind)))) << to_string(kind);
  EXPECT_TRUE(compared.count("chunks"));
}

double play_of(Library library, std::string_view collective, std::string_view name, int P, std::int64_t bytes,
               const LogGP& machine, std::int64_t segment = 0, std::int64_t fan = 0) {
  for (Algorithm algorithm : algorithms(library, collective, P, bytes)) {
    if (algorithm.name != name) continue;
    algorithm.segment = segment;
    algorithm.fan = fan;
    return play(*rounds_of(algorithm, P, bytes), network_of(machine));
  }
  ADD_FAILURE() << "no " << name;
  return 0;
}

TEST(Rounds, ClassicalFormulas) {
  for (LogGP machine : kMachines) {
    for (int P = 2; P <= 32; ++P) {
      SCOPED_TRACE(fmt::format("{} P={}", to_string(machine), P));
      machine.base.P = P;
      const auto L = static_cast<double>(machine.base.L.ticks), o = static_cast<double>(machine.base.o.ticks),
                 g = static_cast<double>(machine.base.gap().ticks), G = static_cast<double>(machine.G_ticks);
      const std::int64_t m = 64;
      const auto hop = [&](double bytes) { return L + 2 * o + (bytes - 1) * G; };
      const auto gap = [&](double bytes) { return g + (bytes - 1) * G; };
      const double rounds = std::ceil(std::log2(P));
      // The root serves all: P-2 gaps before the last message.
      EXPECT_EQ(play_of(Library::openmpi, "bcast", "basic_linear", P, m, machine), (P - 2) * gap(m) + hop(m));
      // A chain of k segments: P-1 hops, and k-1 times what a rank between needs for one: its ports, or both overheads.
      const double k = 8, s = 1024, step = P > 2 ? std::max(gap(s), 2 * o) : gap(s);
      EXPECT_EQ(play_of(Library::openmpi, "bcast", "pipeline", P, 8192, machine, 1024),
                (P - 1) * hop(s) + (k - 1) * step);
      if (!std::has_single_bit(static_cast<unsigned>(P))) continue;
      // Exchange in lock step: a hop each, unless the send ports are not yet free.
      const auto lock_step = [&](double bytes) { return std::max(hop(bytes), gap(bytes)); };
      EXPECT_EQ(play_of(Library::mpich, "allreduce", "recursive_doubling", P, m, machine),
                (rounds - 1) * lock_step(m) + hop(m));
      EXPECT_EQ(play_of(Library::openmpi, "allgather", "ring", P, m, machine), (P - 2) * lock_step(m) + hop(m));
      EXPECT_EQ(play_of(Library::openmpi, "alltoall", "pairwise", P, m, machine), (P - 2) * lock_step(m) + hop(m));
      // Halving and doubling move all but a P-th part twice.
      if (L + 2 * o >= g) {
        double halves = 0;
        for (double part = 64.0 * P / 2; part >= 64; part /= 2) halves += hop(part);
        EXPECT_EQ(play_of(Library::openmpi, "allreduce", "rabenseifner", P, 64 * P, machine), 2 * halves);
      }
    }
  }
}

/// Binomial broadcast by its recurrence: who has it serves the farther half first.
double binomial_time(double P, double hop, double gap) {
  if (P <= 1) return 0;
  const double half = std::exp2(std::ceil(std::log2(P)) - 1);
  // The child takes over P - half ranks; the sender goes on a gap later.
  return std::max(hop + binomial_time(P - half, hop, gap), half > 1 ? gap + binomial_time(half, hop, gap) : 0);
}

TEST(Rounds, BinomialRecurrence) {
  for (LogGP machine : kMachines) {
    for (int P = 2; P <= 33; ++P) {
      const double hop = static_cast<double>(machine.base.lambda().ticks + 63 * machine.G_ticks),
                   gap = static_cast<double>(machine.base.gap().ticks + 63 * machine.G_ticks);
      const double o = static_cast<double>(machine.base.o.ticks);
      if (o > 0 && hop < 2 * gap) continue;  // what follows knows of no processor that is busy
      EXPECT_EQ(play_of(Library::mpich, "bcast", "binomial", P, 64, machine), binomial_time(P, hop, gap)) << P;
    }
  }
}

TEST(Rounds, TreesOfAnyFanOut) {
  const LogGP machine = machine_of(1, 10, 1, 2, 1);
  // Fan-out P-1 is the flat tree, and wider trees win where latency counts.
  EXPECT_EQ(play_of(Library::mpich, "bcast", "tsp_tree", 16, 64, machine, 0, 15),
            play_of(Library::openmpi, "bcast", "basic_linear", 16, 64, machine));
  const LogGP far = machine_of(1, 100'000, 1, 2, 1);
  EXPECT_LT(play_of(Library::mpich, "bcast", "tsp_tree", 64, 64, far, 0, 63),
            play_of(Library::mpich, "bcast", "tsp_tree", 64, 64, far, 0, 2));
}

TEST(Rounds, AProfilePredictsNanoseconds) {
  Profile profile = default_profile();
  const auto rounds = rounds_of(algorithms(Library::openmpi, "bcast", 8, 8).front(), 8, 8);
  ASSERT_TRUE(rounds);
  const double time = predict(*rounds, profile);
  EXPECT_GT(time, profile.level("network")->L.value);
  for (Level& level : profile.levels) level.L = Estimate::exactly(level.L.value + 1e6);
  EXPECT_NEAR(predict(*rounds, profile), time + 1e6, 1);
}

}  // namespace
}  // namespace chasqui::tune
