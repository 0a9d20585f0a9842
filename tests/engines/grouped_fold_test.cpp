// SPDX-License-Identifier: MIT
// All-reduces in groups: a profile on which publishing is cheap and reading dear makes every board use them, whatever its
// size.
#include <gtest/gtest.h>

#include <array>
#include <atomic>

#include "chasqui/base/error.hpp"
#include "chasqui/threads/team.hpp"
#include "run/board/collectives.hpp"
#include "run/choose/board_methods.hpp"
#include "suite.hpp"

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

/// Between 113 bytes and what lies beside the lines.
TEST_P(Groups, TreesFoldInRankOrder) {
  if (GetParam() < 4) return;  // nothing to group
  threads::Team team(GetParam());
  team.run([](run::Comm& comm) {
    comm.force(run::Choice{run::Method::tree_fold, 0, 1, ""});
    for (const std::size_t count : {15, 16, 17, 60, 255, 512}) check_texts<8>(comm, count);
    for (const std::size_t count : {2, 9, 36}) check_texts<112>(comm, count);
    for (int root = 0; root < comm.size(); ++root) {
      for (const std::size_t count : {29, 64, 200, 1024}) {
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
INSTANTIATE_TEST_SUITE_P(Sizes, Groups, testing::Values(2, 3, 4, 5, 7, 8, 16));

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
  EXPECT_EQ(run::best_group({1, 400, 25}, 1), 0);
  EXPECT_EQ(run::best_group({16, 400, 25}, 1), 0);  // one line each: everybody reads all
  EXPECT_EQ(run::best_group({16, 400, 25}, 2), 8);
  EXPECT_NE(run::best_group({64, 400, 25}, 1), 0);
  for (int ranks = 1; ranks <= 200; ++ranks) {
    for (const int lines : {1, 2}) {
      const int best = run::best_group({ranks, 300, 20}, lines);
      const double time = run::grouped_fold_time({ranks, 300, 20}, lines, best);
      EXPECT_LE(time, run::grouped_fold_time({ranks, 300, 20}, lines, 0));
      for (int group = 2; group <= ranks; ++group) {
        if (ranks % group == 0) {
          EXPECT_LE(time, run::grouped_fold_time({ranks, 300, 20}, lines, group)) << ranks << " in " << group;
        }
      }
      if (best != 0 && ranks % best != 0) {
        EXPECT_GE(ranks % best, lines);
      }
    }
  }
}

TEST(Groups, AMachineWithoutAMeasuredNodeHasNone) { EXPECT_EQ(run::best_group({64, 0, 0}, 2), 0); }

}  // namespace
}  // namespace chasqui::engines
