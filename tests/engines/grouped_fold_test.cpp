// SPDX-License-Identifier: MIT
// All-reduces in groups: a profile on which publishing is cheap and reading dear makes every board use them, whatever its
// size.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>

#include "chasqui/base/error.hpp"
#include "chasqui/threads/team.hpp"
#include "run/board/collectives.hpp"
#include "run/choose/board_methods.hpp"
#include "run/comm/engine.hpp"
#include "suite.hpp"
#include "sweep.hpp"
#include "threads/comms.hpp"

namespace chasqui::engines {
namespace {

threads::Options with_groups() {
  Profile profile = default_profile();
  profile.levels[0].publish = Estimate::exactly(1);
  profile.levels[0].publish_per_rank = Estimate::exactly(1000);
  threads::Options options;
  options.profile = std::make_shared<const Profile>(std::move(profile));
  return options;
}

/// Concatenation of digits, as far as they fit: associative, not commutative.
template <std::size_t kBytes>
struct Text {
  std::array<char, kBytes> letters{};
  friend bool operator==(const Text&, const Text&) = default;
};
struct Append {
  template <std::size_t kBytes>
  Text<kBytes> operator()(const Text<kBytes>& a, const Text<kBytes>& b) const {
    Text<kBytes> both = a;
    std::size_t at = 0;
    while (at < kBytes && both.letters[at] != 0) ++at;
    for (std::size_t i = 0; at < kBytes && i < kBytes && b.letters[i] != 0; ++i) both.letters[at++] = b.letters[i];
    return both;
  }
};

template <std::size_t kBytes>
void check_texts(run::Comm& comm, std::size_t count) {
  std::vector<Text<kBytes>> in(count), out(count), expected(count);
  for (std::size_t i = 0; i < count; ++i) {
    in[i].letters[0] = static_cast<char>('a' + (static_cast<std::size_t>(comm.rank()) + i) % 26);
    for (int r = 0; r < comm.size(); ++r) {
      Text<kBytes> one;
      one.letters[0] = static_cast<char>('a' + (static_cast<std::size_t>(r) + i) % 26);
      expected[i] = r == 0 ? one : Append{}(expected[i], one);
    }
  }
  comm.allreduce(std::span<const Text<kBytes>>(in), std::span<Text<kBytes>>(out), Append{});
  if (out != expected) throw std::runtime_error(fmt::format("{} texts of {} bytes: wrong fold", count, kBytes));
  comm.allreduce(std::span<const Text<kBytes>>(in), std::span<Text<kBytes>>(in), Append{});
  if (in != expected) throw std::runtime_error(fmt::format("{} texts of {} bytes in place: wrong fold", count, kBytes));
}

class Groups : public testing::TestWithParam<int> {};

TEST_P(Groups, EveryCollective) {
  threads::Team team(GetParam(), with_groups());
  team.run([](run::Comm& comm) { run_everything(comm, false); });
}

TEST_P(Groups, FoldsInRankOrderAtEverySize) {
  threads::Team team(GetParam(), with_groups());
  team.run([](run::Comm& comm) {
    for (std::size_t count = 0; count <= 14; ++count) check_texts<8>(comm, count);
    for (std::size_t count = 1; count <= 7; ++count) check_texts<16>(comm, count);
    for (std::size_t count = 1; count <= 4; ++count) check_texts<24>(comm, count);
    for (std::size_t count = 1; count <= 2; ++count) check_texts<56>(comm, count);
    check_texts<112>(comm, 1);
  });
}

/// From three lines on, as many as there are.
TEST_P(Groups, ManyLinesFoldInRankOrder) {
  threads::Team team(GetParam());
  team.run([](run::Comm& comm) {
    comm.force(run::Choice{run::Method::grouped_fold, 0, 1, ""});
    for (const std::size_t count : {15, 21, 22, 60, 128, 133}) check_texts<8>(comm, count);
    for (const std::size_t count : {7, 57}) check_texts<16>(comm, count);
    for (const std::size_t count : {3, 19}) check_texts<56>(comm, count);
    for (int root = 0; root < comm.size(); ++root) {
      for (const std::size_t count : {29, 64, 200, 266}) {
        std::vector<int> in(count), out(count, -1);
        for (std::size_t i = 0; i < count; ++i) in[i] = static_cast<int>(i) * (comm.rank() + 1);
        comm.reduce(std::span<const int>(in), std::span<int>(out), root);
        const int all = comm.size() * (comm.size() + 1) / 2;
        for (std::size_t i = 0; i < count; ++i) {
          if (out[i] != (comm.rank() == root ? static_cast<int>(i) * all : -1)) throw std::runtime_error("wrong fold");
        }
      }
    }
  });
}
INSTANTIATE_TEST_SUITE_P(Sizes, Groups, testing::ValuesIn(sweep_of({2, 3, 5, 8, 16}, {4, 7})));

TEST(Groups, Soak) {
  constexpr std::uint64_t seed = 8;
  SCOPED_TRACE(seed);
  threads::Team team(5, with_groups());
  team.run([](run::Comm& comm) { soak(comm, 3000, seed); });
}

TEST(Groups, SizesThatDisagreeAreAnErrorEverywhere) {
  for (const std::size_t wrong : {1u, 3u, 9u, 5000u}) {
    for (const int odd : {0, 1, 6}) {
      threads::Team team(7, with_groups());
      std::atomic<int> errors{0};
      team.run([&](run::Comm& comm) {
        std::vector<double> in(comm.rank() == odd ? wrong : 8u), out(in.size());
        try {
          comm.allreduce(std::span<const double>(in), std::span<double>(out));
          comm.barrier();
        } catch (const Error&) {
          ++errors;
        }
      });
      EXPECT_EQ(errors, 7) << "rank " << odd << " with " << wrong;
    }
  }
}

TEST(Groups, TheirSizeIsTheFastest) {
  EXPECT_EQ(run::best_groups({1, 400, 25}, 1).size, 0);
  EXPECT_EQ(run::best_groups({16, 400, 25}, 1).size, 0);  // one line each: everybody reads all
  EXPECT_EQ(run::best_groups({16, 400, 25}, 2).size, 8);
  EXPECT_NE(run::best_groups({64, 400, 25}, 1).size, 0);
  for (int ranks = 1; ranks <= 200; ++ranks) {
    for (const int lines : {1, 2}) {
      const run::Grouping best = run::best_groups({ranks, 300, 20}, lines);
      const double time = run::grouped_fold_time({ranks, 300, 20}, lines, best);
      EXPECT_LE(time, run::grouped_fold_time({ranks, 300, 20}, lines, {}));
      for (int size = 2; size <= ranks; ++size) {
        const auto groups = run::Grouping::neighbours(ranks, size);
        if (ranks % size == 0) {
          EXPECT_LE(time, run::grouped_fold_time({ranks, 300, 20}, lines, groups)) << ranks << " in " << size;
        }
      }
      if (best.size != 0) {
        EXPECT_GE(best.smallest(ranks), lines);
      }
    }
  }
}

TEST(Groups, AMachineWithoutAMeasuredNodeHasNone) { EXPECT_EQ(run::best_groups({64, 0, 0}, 2).size, 0); }

/// Where each rank lies on a made-up machine.
std::vector<Seat> on_caches(int ranks, int caches, bool dealt) {
  std::vector<Seat> all;
  for (int r = 0; r < ranks; ++r) all.push_back({-1, -1, dealt ? r % caches : r * caches / ranks, -1, -1});
  return all;
}

std::vector<Seat> made_up(const char* text, int ranks) { return *made_up_seats(text, ranks); }

/// Three to a cache or fewer, not in their order; one keeps to no cache.
std::vector<Seat> unequal() {
  std::vector<Seat> all;
  for (const int cache : {2, 0, 0, 1, -1, 2, 1, 0, 2}) all.push_back({-1, -1, cache, -1, cache < 0 ? -1 : cache / 2});
  return all;
}

/// Ranks of a team on caches that this machine does not have.
void on_machine(const std::vector<Seat>& seats, const std::function<void(run::Comm&)>& body) {
  Profile profile = *with_groups().profile;
  profile.levels[0].near.fill(Estimate::exactly(0.1));
  const auto ranks = static_cast<int>(seats.size());
  const auto make =
      threads::share_comms(ranks, std::make_shared<const Profile>(std::move(profile)), true, {0, 0}, seats);
  threads::Team team(ranks);
  team.run([&](run::Comm& outer) {
    const auto comm = make(outer.rank());
    body(*comm);
    outer.barrier();
  });
}

TEST(Caches, EveryCollectiveOnSocketsFilledAndByTurns) {
  for (const int ranks : sweep_of({7, 8}, {4, 12})) {
    for (const bool dealt : {false, true}) {
      on_machine(on_caches(ranks, 2, dealt), [](run::Comm& comm) { run_everything(comm, false); });
    }
  }
}

TEST(Caches, EveryCollectiveOnSeveralLevels) {
  on_machine(unequal(), [](run::Comm& comm) { run_everything(comm, false); });
  on_machine(made_up("socket:2 l3:2 core:2", 8), [](run::Comm& comm) { run_everything(comm, false); });
  if (kWholeSweeps) on_machine(made_up("socket:2 l3:3", 13), [](run::Comm& comm) { run_everything(comm, false); });
}

TEST(Caches, Soak) {
  constexpr std::uint64_t seed = 11;
  SCOPED_TRACE(seed);
  on_machine(unequal(), [](run::Comm& comm) { soak(comm, 3000, seed); });
  on_machine(made_up("socket:2 l3:2", 8), [](run::Comm& comm) { soak(comm, 3000, seed); });
}

TEST(Caches, FoldsKeepRankOrderWhereOperatorsNeedIt) {
  for (const auto& seats : {on_caches(9, 2, true), on_caches(8, 4, true), on_caches(12, 3, false), unequal(),
                            made_up("socket:2 l3:3", 12)}) {
    on_machine(seats, [](run::Comm& comm) {
      for (const std::size_t count : {1, 7, 8, 14}) check_texts<8>(comm, count);
      for (const auto method : {run::Method::grouped_fold, run::Method::level_fold, run::Method::shared_fold}) {
        comm.force(run::Choice{method, 0, 1, ""});
        for (const std::size_t count : {15, 60, 133}) check_texts<8>(comm, count);
      }
    });
  }
}

void check_broadcasts(run::Comm& comm, std::initializer_list<std::size_t> counts) {
  run::Engine& engine = run::Engine::of(comm);
  engine.forget_methods();
  for (const std::size_t count : counts) {
    for (int root = 0; root < comm.size(); ++root) {
      std::vector<std::int64_t> data(count, comm.rank() == root ? 100 * root + 7 : -1);
      comm.broadcast(std::span<std::int64_t>(data), root);
      if (data != std::vector<std::int64_t>(count, 100 * root + 7)) throw std::runtime_error("wrong data");
    }
  }
  if (engine.methods_run() != 1u << static_cast<unsigned>(run::Method::relay)) throw std::runtime_error("not relayed");
}

TEST(Caches, BroadcastsAreRelayedFromEveryRoot) {
  for (const auto& seats : {on_caches(16, 4, false), on_caches(16, 4, true), on_caches(15, 4, true), unequal(),
                            made_up("socket:2 l3:2", 16)}) {
    on_machine(seats, [](run::Comm& comm) {
      check_broadcasts(comm, {1, 7, 8, 14});
      comm.force(run::Choice{run::Method::relay, 0, 1, ""});
      check_broadcasts(comm, {1, 15, 512});
    });
  }
}

TEST(Caches, ASplitKnowsItsOwn) {
  on_machine(on_caches(12, 3, true), [](run::Comm& comm) {
    const auto half = comm.split(comm.rank() / 6, comm.rank());
    const auto& near = half->topology().near;
    if (near == nullptr || near->levels().size() != 1 ||
        near->levels()[0].group_of != std::vector<int>{0, 1, 2, 0, 1, 2})
      throw std::runtime_error("other caches");
    const auto one = comm.split(comm.rank() % 3, comm.rank());
    if (one->topology().near != nullptr) throw std::runtime_error("they share a cache");
  });
}

/// Who leaves with an exception: before a broadcast that it would publish again, before a fold that it would do for others, or in it.
enum class Leaves { before_broadcast, before_fold, in_fold };

TEST(Caches, WhoeverWaitsForARankThatLeftHearsOfIt) {
  const auto seats = made_up("socket:2 l3:2 core:2", 8);  // 0, 2, 4 and 6 lead caches, 0 and 4 sockets
  for (const int failing : {0, 2, 4, 6}) {
    for (const Leaves leaves : {Leaves::before_broadcast, Leaves::before_fold, Leaves::in_fold}) {
      std::atomic<int> errors{0}, tired{0};
      on_machine(seats, [&](run::Comm& comm) {
        const bool fails = comm.rank() == failing;
        const auto op = [&](long a, long b) {
          if (fails && leaves == Leaves::in_fold) throw std::logic_error("tired");
          return a + b;
        };
        long value = comm.rank();
        try {
          comm.broadcast(value, 7);
          if (fails && leaves != Leaves::in_fold) throw std::logic_error("tired");
          if (leaves == Leaves::before_broadcast) comm.broadcast(value, 7);
          else value = comm.allreduce(value, op);
          comm.barrier();
        } catch (const std::logic_error& error) {
          ++tired;
          comm.leave(error.what());
        } catch (const Error&) {
          ++errors;
        }
      });
      EXPECT_EQ(tired, 1) << "rank " << failing;
      EXPECT_EQ(errors, 7) << "rank " << failing << ", " << static_cast<int>(leaves);
    }
  }
}

TEST(Caches, SizesThatDisagreeAreAnErrorEverywhere) {
  for (const std::size_t wrong : {1u, 9u, 300u}) {
    for (const int odd : {0, 5, 7}) {
      std::atomic<int> errors{0};
      on_machine(made_up("socket:2 l3:2", 8), [&](run::Comm& comm) {
        std::vector<double> in(comm.rank() == odd ? wrong : 3u), out(in.size());
        try {
          comm.allreduce(std::span<const double>(in), std::span<double>(out));
          comm.broadcast(std::span<double>(out), 2);
          comm.barrier();
        } catch (const Error&) {
          ++errors;
        }
      });
      EXPECT_EQ(errors, 8) << "rank " << odd << " with " << wrong;
    }
  }
}

}  // namespace
}  // namespace chasqui::engines
