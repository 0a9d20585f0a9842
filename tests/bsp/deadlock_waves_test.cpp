// SPDX-License-Identifier: MIT
// When rank 0 may say that nobody will ever go on, and what ranks tell each other as bytes.
#include "bsp/processes/deadlock_waves.hpp"

#include <gtest/gtest.h>

#include "bsp/processes/packed_accounts.hpp"

namespace chasqui::bsp::detail {
namespace {

using Found = DeadlockWaves::Found;

RankStatus waits(std::uint64_t sent, std::uint64_t received, const char* file = "program.cpp") {
  Waiting why;
  why.what = Waiting::For::messages;
  why.line = 7;
  return {sent, received, why, file};
}

TEST(DeadlockWaves, TwoEqualOnesWithNothingUnderWay) {
  DeadlockWaves waves(2);
  EXPECT_TRUE(waves.all_have_answered());  // nobody was asked
  EXPECT_EQ(waves.look(waits(1, 2)), Found::question);
  EXPECT_EQ(waves.number(), 1U);
  EXPECT_FALSE(waves.all_have_answered());
  EXPECT_EQ(waves.look(waits(1, 2)), Found::nothing);
  waves.hear(1, 1, waits(3, 2));
  EXPECT_EQ(waves.look(waits(1, 2)), Found::question);  // one wave proves nothing
  waves.hear(1, 2, waits(3, 2, "elsewhere.cpp"));
  EXPECT_EQ(waves.look(waits(1, 2)), Found::deadlock);
  const MachineError report = waves.report();
  EXPECT_EQ(report.fault(), Fault::deadlock);
  EXPECT_NE(report.text().find("elsewhere.cpp:7"), std::string::npos) << report.text();
}

TEST(DeadlockWaves, AMessageUnderWayMayStillHelp) {
  DeadlockWaves waves(2);
  waves.look(waits(1, 1));
  for (std::uint32_t wave = 1; wave < 5; ++wave) {
    waves.hear(1, wave, waits(2, 1));
    EXPECT_EQ(waves.look(waits(1, 1)), Found::question) << wave;
  }
}

TEST(DeadlockWaves, WhoHasMovedOnBetweenThem) {
  DeadlockWaves waves(2);
  waves.look(waits(0, 0));
  for (std::uint32_t wave = 1; wave < 5; ++wave) {
    waves.hear(1, wave, waits(wave, wave));  // it has sent itself something
    EXPECT_EQ(waves.look(waits(0, 0)), Found::question) << wave;
  }
}

TEST(DeadlockWaves, AnswersToEarlierOnesDoNotCount) {
  DeadlockWaves waves(3);
  waves.look(waits(0, 0));
  waves.hear(1, 1, waits(0, 0));
  waves.hear(2, 1, waits(0, 0));
  EXPECT_EQ(waves.look(waits(0, 0)), Found::question);
  waves.hear(1, 1, waits(0, 0));
  waves.hear(2, 2, waits(0, 0));
  EXPECT_EQ(waves.look(waits(0, 0)), Found::nothing);
  waves.hear(1, 2, waits(0, 0));
  EXPECT_EQ(waves.look(waits(0, 0)), Found::deadlock);
}

TEST(RankStatus, ComesBackFromItsBytes) {
  for (const char* file : {"", "a/long/name/of/a/file.cpp"}) {
    Buffer bytes;
    pack(waits(5, 6, file), bytes);
    const RankStatus back = unpack_status(bytes.view());
    EXPECT_EQ(back.sent, 5U);
    EXPECT_EQ(back.received, 6U);
    EXPECT_EQ(back.why.what, Waiting::For::messages);
    EXPECT_EQ(back.why.line, 7U);
    EXPECT_EQ(back.where, file);
  }
}

TEST(PackedAccounts, ComeBackAndAreMerged) {
  MachineCosts one{1, 0, 0, 4, {}};
  one.supersteps.resize(2);
  one.supersteps[1].work = 5;
  one.supersteps[1].total_messages = 3;
  one.supersteps[1].rows.resize(2);
  MachineCosts same = one;
  same.supersteps[1].work = 9;
  same.supersteps[1].rows.clear();
  const MachineCosts other{2, 1, 1, 2, {}};
  Buffer bytes;
  for (const MachineCosts& each : {one, other, same}) pack(each, bytes);
  const auto accounts = unpack_accounts(bytes.view());
  ASSERT_EQ(accounts.size(), 2U);
  EXPECT_EQ(accounts.at(2).parent, 1U);
  EXPECT_EQ(accounts.at(2).size, 2);
  MachineCosts expected = one;
  merge(expected, same);
  const Superstep& step = accounts.at(1).supersteps.at(1);
  EXPECT_EQ(step.work, expected.supersteps[1].work);
  EXPECT_EQ(step.total_messages, expected.supersteps[1].total_messages);
  EXPECT_EQ(step.rows.size(), 2U);
  EXPECT_TRUE(unpack_accounts({}).empty());
}

}  // namespace
}  // namespace chasqui::bsp::detail
