// SPDX-License-Identifier: MIT
// Rounds of which some lack what others have.
#include "measure/profile_of_rounds.hpp"

#include <gtest/gtest.h>

namespace chasqui::measure {
namespace {

Parameters round_of_four_ranks() {
  Parameters round;
  round.ranks = 4;
  MessageParameters messages;
  messages.trip = 1000;
  messages.o_s = messages.o_r = messages.g = 100;
  for (std::int64_t bytes = 64; bytes <= 1 << 20; bytes *= 2)
    messages.times.emplace_back(bytes, 1000 + static_cast<double>(bytes));
  round.node = messages;
  return round;
}

Parameters with_board(double publish) {
  Parameters round = round_of_four_ranks();
  round.board = true;
  round.node_ranks = 4;
  round.near[static_cast<std::size_t>(Shared::l3)] = 0.5;
  round.on_board = {publish, publish / 2, publish / 4, 2 * publish, 1};
  return round;
}

TEST(ProfileOfRounds, TakesEachParameterFromTheRoundsThatHaveIt) {
  std::vector<Parameters> rounds;
  for (const double publish : {200.0, 210.0, 220.0}) {
    rounds.push_back(round_of_four_ranks());  // its communicator got no shared memory
    rounds.push_back(with_board(publish));
  }
  const Profile profile = profile_of(rounds, {});
  const Level& node = *profile.level("node");
  EXPECT_EQ(node.publish.value, 210);
  EXPECT_GT(node.publish.low, 0);
  EXPECT_EQ(node.near_of(Shared::l3).value, 0.5);
  EXPECT_EQ(node.ranks, 4);
  EXPECT_EQ(node.G.value, 1);
  EXPECT_FALSE(node.assumed);
  EXPECT_TRUE(profile.level("network")->assumed);
}

TEST(ProfileOfRounds, DoesWithARoundThatLacksALevel) {
  Parameters two_nodes = with_board(200);
  two_nodes.network = two_nodes.node;
  two_nodes.bursts = {{1, 100, 200, 1000, 2000}, {2, 100, 200, 1000, 2000}};
  Parameters poor = two_nodes;
  poor.node.reset();
  poor.board = false;
  poor.bursts.clear();
  const Profile profile = profile_of({two_nodes, poor, two_nodes}, {});
  EXPECT_EQ(profile.level("node")->publish.value, 200);
  EXPECT_FALSE(profile.level("network")->assumed);
  EXPECT_EQ(profile.level("network")->lane_gaps.size(), 2u);
}

}  // namespace
}  // namespace chasqui::measure
