// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/sum.hpp"
#include "chasqui/run/sum.hpp"
#include "chasqui/threads/team.hpp"
#include "suite.hpp"

namespace chasqui::engines {
namespace {

class Threads : public testing::TestWithParam<int> {};

TEST_P(Threads, EveryCollective) {
  threads::Team team(GetParam());
  team.run([](run::Comm& comm) { run_everything(comm, false); });
}
INSTANTIATE_TEST_SUITE_P(Sizes, Threads, testing::Values(1, 2, 3, 4, 5, 7, 8, 16));

TEST(Threads, ForcedTreesOverChannels) {
  threads::Team team(6);
  team.run([](run::Comm& comm) {
    run::Choice tree;
    tree.method = run::Method::tree;
    comm.force(tree);
    for (const auto& recipe : recipes(comm.size(), all_roots(comm.size()), {0, 1, 9, 5000})) {
      auto one = recipe.make(comm.rank(), comm.size());
      if (one->call.kind == Kind::allgather) continue;
      comm.run(one->call);
      if (const auto wrong = one->check(); !wrong.empty()) throw std::runtime_error(recipe.name + ": " + wrong);
    }
  });
}

TEST(Threads, Soak) {
  constexpr std::uint64_t seed = 20261115;
  SCOPED_TRACE(seed);
  threads::Team team(4);
  team.run([](run::Comm& comm) { soak(comm, 4000, seed); });
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

TEST(Threads, SizesThatDisagreeAreAnErrorEverywhere) {
  for (const int wrong : {3, 5000}) {
    threads::Team team(4);
    std::atomic<int> errors{0};
    team.run([&](run::Comm& comm) {
      std::vector<int> in(comm.rank() == 2 ? static_cast<std::size_t>(wrong) : 2u);
      std::vector<int> out(in.size());
      try {
        comm.allreduce(std::span<const int>(in), std::span<int>(out));
        comm.barrier();
      } catch (const Error&) {
        ++errors;
      }
    });
    EXPECT_EQ(errors, 4);
  }
}

TEST(Threads, ABadArgumentOnOneRankIsAnErrorEverywhere) {
  threads::Team team(4);
  std::atomic<int> errors{0};
  team.run([&](run::Comm& comm) {
    int value = 1;
    try {
      comm.broadcast(value, comm.rank() == 0 ? 9 : 0);
      comm.barrier();
    } catch (const Error&) {
      ++errors;
    }
  });
  EXPECT_GE(errors, 3);
}

TEST(Threads, AThrowingOperatorHangsNobody) {
  struct Picky {
    long operator()(long, long) const { throw std::runtime_error("no"); }
  };
  threads::Team team(3);
  EXPECT_THROW(team.run([&](run::Comm& comm) {
    std::vector<long> x(1000), y(1000);
    comm.allreduce(std::span<const long>(x), std::span<long>(y), Picky{});
  }), std::exception);
}

TEST(Threads, SummationFollowsThePlan) {
  for (const int n : {1, 2, 5, 8}) {
    for (const std::int64_t operands : {1, 7, 100, 3000}) {
      const auto plan = plan::sum_operands(LogP{n, Time{5}, Time{2}, Time{4}}, operands);
      threads::Team team(n);
      std::atomic<long> expected{0}, got{-1};
      std::atomic<std::int64_t> placed{0};
      team.run([&](run::Comm& comm) {
        std::vector<long> mine(static_cast<std::size_t>(plan->local({comm.rank()}).operands));
        for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = 1000 * (comm.rank() + 1) + static_cast<long>(i);
        for (const long x : mine) expected += x;
        placed += std::ssize(mine);
        const long total = run::sum(comm, *plan, std::span<const long>(mine));
        if (comm.rank() == 0) got = total;
      });
      EXPECT_EQ(got, expected) << n << " threads, " << operands << " operands";
      EXPECT_EQ(placed, operands);
    }
  }
}

TEST(Threads, TeamsOfZeroOrTooManyAreRefused) {
  EXPECT_THROW(threads::Team(0), Error);
  EXPECT_THROW(threads::Team(5000), Error);
}

}  // namespace
}  // namespace chasqui::engines
