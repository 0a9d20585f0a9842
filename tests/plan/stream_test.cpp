// SPDX-License-Identifier: MIT
// Streams played rank by rank.
#include "chasqui/plan/stream.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/plan/kitem.hpp"
#include "plan/recurrence.hpp"
#include "plan/stream_player.hpp"
#include "sweep.hpp"

namespace chasqui::plan {
namespace {

std::int64_t height(std::int64_t L, std::int64_t n) { return test::Recurrence(L).height(n); }

std::int64_t best_delay(std::int64_t P, std::int64_t L) {
  const std::int64_t n = P - 1;
  const std::int64_t t = height(L, n);
  if (L != 2 || n == 1) return L + t;
  test::Recurrence at(L);
  return L + t + (2 * (at(t) - n) >= at(t - 2) - (t - 1) ? 0 : 1);
}

void expect_plays(std::int64_t P, std::int64_t L, std::int64_t root = 0) {
  const StreamPtr stream = make_stream(P, L, root);
  ASSERT_EQ(stream->delay().ticks, best_delay(P, L)) << "P=" << P << " L=" << L;
  ASSERT_EQ(stream->bound(), stream->delay());
  const std::int64_t steps = (P <= 40 ? 2 : 1) * stream->delay().ticks + 12;
  ASSERT_EQ(test::play(*stream, steps), "") << "P=" << P << " L=" << L << " root=" << root;
}

TEST(Stream, EveryPUpTo120AndEverySixthUpTo300ReachTheBoundForLatencies1To16) {
  Sweep sweep;
  for (std::int64_t L = 1; L <= 16; ++L) {
    for (std::int64_t P = 2; P <= 120; ++P) {
      if (sweep.takes_next()) expect_plays(P, L);
    }
    for (std::int64_t P = 121 + L % 6; P <= 300; P += 6) {
      if (sweep.takes_next()) expect_plays(P, L);
    }
  }
}

TEST(Stream, LatencyTwoExactlyWhereTheCriterionAllowsForNUpTo200) {
  for (std::int64_t P = 2; P <= 201; ++P) {
    expect_plays(P, 2);
    EXPECT_EQ(stream_bound_reachable_at_two(P), best_delay(P, 2) == 2 + height(2, P - 1)) << P;
  }
}

TEST(Stream, LargeSamples) {
  for (const auto& [P, L] : {std::pair{1001, 3},
                             {2001, 1},
                             {1598, 2},
                             {1600, 2},
                             {872, 3},
                             {873, 3},
                             {874, 3},
                             {1234, 7},
                             {777, 24},
                             {300, 40},
                             {500, 100},
                             {104, 100},
                             {105, 101},
                             {301, 99}}) {
    expect_plays(P, L);
  }
}

RC_GTEST_PROP(Stream, AnyMachineAnyRoot, ()) {
  const auto L = *rc::gen::inRange<std::int64_t>(1, 33);
  const auto P = *rc::gen::inRange<std::int64_t>(2, 400);
  const auto root = *rc::gen::inRange<std::int64_t>(0, P);
  const StreamPtr stream = make_stream(P, L, root);
  RC_ASSERT(stream->delay().ticks == best_delay(P, L));
  RC_ASSERT(test::play(*stream, stream->delay().ticks + 12) == "");
}

RC_GTEST_PROP(Stream, HugeOnesAgreeRankByRank, ()) {
  const auto L = *rc::gen::inRange<std::int64_t>(1, 33);
  const auto P = *rc::gen::inRange<std::int64_t>(1'000, 500'000'000'000'000'000);
  const StreamPtr stream = make_stream(P, L);
  RC_ASSERT(stream->delay() == stream->bound());
  for (int i = 0; i < 3; ++i) {
    const auto rank = i == 0 ? P - 1 : *rc::gen::inRange<std::int64_t>(0, P);
    const auto from = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000);
    const std::string verdict = test::spot_check(*stream, rank, from, 2 * stream->delay().ticks);
    if (!verdict.empty()) RC_FAIL(verdict);
  }
}

TEST(Stream, MessagesOfAnItemAreWhatTheRanksSay) {
  for (const auto& [P, L] : {std::pair{10, 3}, {42, 3}, {6, 2}, {9, 2}, {22, 2}, {7, 4}, {40, 1}, {130, 5}, {2, 4}}) {
    const StreamPtr stream = make_stream(P, L, 1);
    for (std::int64_t item = 0; item < 7; ++item) {
      std::vector<StreamMessage> said;
      for (std::int64_t time = item; time <= item + stream->delay().ticks; ++time) {
        for (std::int64_t rank = 0; rank < P; ++rank) {
          const auto sent = stream->sent(rank, Time{time});
          if (sent && sent->item == item) said.push_back(*sent);
        }
      }
      std::vector<StreamMessage> made = stream->messages_of(item);
      std::sort(made.begin(), made.end());
      std::sort(said.begin(), said.end());
      EXPECT_EQ(made, said) << P << " " << L << " " << item;
    }
  }
}

TEST(Stream, TheRunningExampleHasTheLettersOfThePaper) {
  const StreamPtr stream = make_stream(10, 3);
  EXPECT_EQ(stream->delay().ticks, 10);
  const StreamLayout* layout = stream->layout();
  ASSERT_NE(layout, nullptr);
  // {a,a,a,b,b,c,D1,E2,H5}: letter -> how many ranks receive it in a step; heads with their children.
  std::multiset<std::int32_t> leaves;
  std::multiset<std::pair<std::int32_t, std::int64_t>> heads;
  for (const StreamRun& run : layout->runs) {
    for (std::int64_t block = 0; block < run.blocks; ++block) {
      heads.insert({run.word[0], run.heads[0].children});
      leaves.insert(run.word.begin() + 1, run.word.end());
    }
  }
  leaves.insert(layout->receive_only.value());
  EXPECT_EQ(leaves, (std::multiset<std::int32_t>{0, 0, 0, 1, 1, 2}));
  EXPECT_EQ(heads, (std::multiset<std::pair<std::int32_t, std::int64_t>>{{3, 1}, {4, 2}, {7, 5}}));
}

TEST(Stream, BeyondTheCertificateTheSameMethodStillMeetsTheBound) {
  for (const auto& [P, L] : {std::pair{450, 310}, {700, 301}, {300, 250}}) expect_plays(P, L);
  // All block kinds, block by block and in bulk, by the ranks' own words about each other.
  for (const auto& [P, L] : {std::pair{1'000'000L, 1000L},
                             {1'000'000L, 10'000L},
                             {60L, 100'000L},
                             {40L, 1'000'000'000L},
                             {5'000'000'000L, 301L},
                             {100'000'000'000'000'000L, 500L}}) {
    const StreamPtr stream = make_stream(P, L);
    EXPECT_EQ(stream->delay(), stream->bound()) << P << " " << L;
    if (L > 10'000) continue;
    for (const std::int64_t rank : {P / 2, P - 1}) {
      EXPECT_EQ(test::spot_check(*stream, rank, 1'000'000, L >= 1000 ? 8 : 400), "") << P << " " << L << " " << rank;
    }
  }
}

RC_GTEST_PROP(Stream, LargeLatenciesAgreeRankByRank, ()) {
  static Sweep sweep;
  if (!sweep.takes_next()) return;
  const auto L = *rc::gen::inRange<std::int64_t>(301, 700);
  const auto digits = *rc::gen::inRange<int>(3, 17);
  std::int64_t most = 10;
  for (int i = 1; i < digits; ++i) most *= 10;
  const auto P = *rc::gen::inRange<std::int64_t>(2, most);
  const StreamPtr stream = make_stream(P, L);
  RC_ASSERT(stream->delay() == stream->bound());
  const auto rank = *rc::gen::inRange<std::int64_t>(0, P);
  const std::string verdict = test::spot_check(*stream, rank, 1'000'000, 100);
  if (!verdict.empty()) RC_FAIL(verdict);
}

TEST(Stream, WhereWordsWouldBeTooLongTheGapIsStated) {
  for (const auto& [P, L] : {std::pair{1'000'000'000'000'000'000L, 2000L}, {1'000'000'000'000L, 1'000'000L}}) {
    const StreamPtr stream = make_stream(P, L);
    EXPECT_GT(stream->delay(), stream->bound());
    EXPECT_NE(stream->claim().construction.find("interleaved"), std::string::npos);
    EXPECT_EQ(test::spot_check(*stream, P / 2, 1'000'000, 60), "") << P << " " << L;
  }
}

TEST(Stream, RefusesWhatItCannotPlan) {
  EXPECT_THROW(make_stream(1, 3), Error);
  EXPECT_THROW(make_stream(5, 0), Error);
  EXPECT_THROW(make_stream(5, 2, 5), Error);
  EXPECT_THROW(make_stream(kMaxStreamProcessors + 1, 3), Error);
}

TEST(StreamPlan, LocalFormsAreTheSchedule) {
  for (const auto& [P, L] : {std::pair{10, 3}, {6, 2}, {9, 2}, {2, 1}, {7, 4}, {13, 1}}) {
    const PlanPtr plan = stream(LogP::postal(P, Time{L}), Rank{1});
    const Schedule schedule = plan->schedule();
    EXPECT_EQ(schedule.delay, plan->claim().finish);
    for (std::int32_t rank = 0; rank < P; ++rank) {
      LocalForm local = plan->local(Rank{rank});
      std::sort(local.sends.begin(), local.sends.end());
      std::sort(local.receives.begin(), local.receives.end());
      EXPECT_EQ(local, restrict_to(schedule, Rank{rank})) << P << " " << L << " rank " << rank;
    }
  }
}

TEST(StreamWindow, EightItemsOnTheRunningExampleTake17) {
  const PlanPtr plan = stream_window(LogP::postal(10, Time{3}), 8);
  EXPECT_EQ(plan->claim().finish.ticks, 17);
  EXPECT_EQ(plan->claim().bound.ticks, 15);
  const Schedule schedule = plan->schedule();
  EXPECT_EQ(schedule.sends.size(), 72U);
  Time last{0};
  for (const Send& send : schedule.sends) last = std::max(last, available(schedule.machine, send));
  EXPECT_EQ(last.ticks, 17);
  for (std::int32_t rank = 0; rank < 10; ++rank) {
    EXPECT_EQ(plan->local(Rank{rank}), restrict_to(schedule, Rank{rank})) << rank;
  }
}

}  // namespace
}  // namespace chasqui::plan
