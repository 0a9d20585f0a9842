// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <thread>

#include "chasqui/base/error.hpp"
#include "chasqui/run/choose.hpp"
#include "chasqui/threads/team.hpp"
#include "run/board/board.hpp"
#include "suite.hpp"
#include "sweep.hpp"

namespace chasqui::engines {
namespace {

class Threads : public testing::TestWithParam<int> {};

TEST_P(Threads, EveryCollective) {
  threads::Team team(GetParam());
  team.run([](run::Comm& comm) { run_everything(comm, false); });
}
INSTANTIATE_TEST_SUITE_P(Sizes, Threads, testing::ValuesIn(sweep_of({1, 2, 3, 5, 8, 16}, {4, 7})));

/// Larger than a share that the board holds.
struct Large {
  std::array<long, 700> values;
};
static_assert(sizeof(Large) > run::kShortWide);

TEST(Threads, ElementsLargerThanASlot) {
  threads::Team team(3);
  team.run([](run::Comm& comm) {
    for (const std::size_t count : {1u, 2u, 3u, 10u}) {
      std::vector<Large> mine(count), sum(count);
      for (Large& one : mine) one.values.fill(comm.rank() + 1);
      comm.allreduce(std::span<const Large>(mine), std::span<Large>(sum), [](const Large& a, const Large& b) {
        Large both;
        for (std::size_t i = 0; i < a.values.size(); ++i) both.values[i] = a.values[i] + b.values[i];
        return both;
      });
      for (const Large& one : sum) {
        for (const long value : one.values) {
          if (value != 6) throw std::runtime_error("wrong sum");
        }
      }
    }
  });
}

TEST(Threads, ForcedTreesOverChannels) {
  threads::Team team(6);
  team.run([](run::Comm& comm) {
    run::Choice tree;
    tree.method = run::Method::tree;
    comm.force(tree);
    for (const auto& recipe : recipes(comm.size(), all_roots(comm.size()), {0, 1, 9, 5000})) {
      auto one = recipe.make(comm.rank(), comm.size());
      if (one->call.kind == Kind::allgather || one->call.exchanges()) continue;
      comm.run(one->call);
      if (const auto wrong = one->check(); !wrong.empty()) throw std::runtime_error(recipe.name + ": " + wrong);
    }
  });
}

TEST(Threads, OneRanksExceptionReachesAllAndTheTeamLivesOn) {
  threads::Team team(5);
  for (int round = 0; round < 3; ++round) {
    try {
      team.run([](run::Comm& comm) {
        comm.barrier();
        if (comm.rank() == 3) throw std::runtime_error("rank three is tired");
        for (;;) comm.barrier();
      });
      FAIL() << "no exception";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "rank three is tired");
    }
    team.run([](run::Comm& comm) {
      if (comm.allreduce(1) != 5) throw std::runtime_error("wrong sum");
    });
  }
}

TEST(Threads, OneRanksMistakeIsAnErrorEverywhere) {
  for (const auto& [n, culprit] : {std::pair{2, 0}, {2, 1}, {5, 0}, {5, 4}}) {
    for (const auto& misuse : misuses(culprit)) {
      threads::Team team(n, {.profile = {}, .patience = run::Patience{0.05, 0}});
      std::vector<std::string> errors(static_cast<std::size_t>(n), "none");
      team.run([&](run::Comm& comm) {
        try {
          misuse.body(comm);
          for (int i = 0; i < 3; ++i) comm.barrier();
        } catch (const std::exception& error) {
          errors[static_cast<std::size_t>(comm.rank())] = error.what();
        }
      });
      if (misuse.passes == Passes::anywhere && errors == std::vector<std::string>(errors.size(), "none")) continue;
      for (const auto& error : errors)
        EXPECT_TRUE(misuse.explained_by(error)) << misuse.name << " by " << culprit << " of " << n << ": " << error;
    }
  }
}

TEST(Threads, WhoIsLateHarmsNobody) {
  for (const int n : {2, 3, 5}) {
    threads::Team team(n, {.profile = {}, .patience = run::Patience{0.02, 0}});
    team.run([](run::Comm& comm) { late(comm, 0.1); });
    team.run([](run::Comm& comm) {
      run::Choice tree;
      tree.method = run::Method::tree;
      for (int i = 0; i < 3; ++i) {
        comm.force(tree);
        if (comm.rank() == i % 2) std::this_thread::sleep_for(std::chrono::milliseconds(80));
        if (comm.allreduce(1) != comm.size()) throw std::runtime_error("wrong sum");
      }
      comm.unforce();
    });
  }
}

TEST(Threads, TeamsOfZeroOrTooManyAreRefused) {
  EXPECT_THROW(threads::Team(0), Error);
  EXPECT_THROW(threads::Team(5000), Error);
}

}  // namespace
}  // namespace chasqui::engines
