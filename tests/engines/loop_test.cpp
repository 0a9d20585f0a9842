// SPDX-License-Identifier: MIT
// Many ranks in one thread: all start, then they are polled in turn, so every run is the same. Every method that
// applies to a call is tried, not only the chosen one.
#include <gtest/gtest.h>

#include <set>

#include "chasqui/base/error.hpp"
#include "chasqui/threads/team.hpp"
#include "suite.hpp"

namespace chasqui::engines {
namespace {

using Comms = std::vector<std::unique_ptr<run::Comm>>;

/// A network with these parameters (nanoseconds, nanoseconds a byte).
std::shared_ptr<const Profile> network(double L, double o, double G) {
  Profile profile = default_profile();
  for (auto& level : profile.levels) {
    level.L = Estimate::exactly(L);
    level.o_s = level.o_r = level.g = Estimate::exactly(o);
    level.G = Estimate::exactly(G);
  }
  return std::make_shared<const Profile>(profile);
}

/// Runs one recipe on all ranks with one method; says what is wrong.
std::string play(Comms& comms, const Recipe& recipe, const run::Choice& choice) {
  const int size = static_cast<int>(comms.size());
  std::vector<std::unique_ptr<Case>> cases;
  std::vector<run::Request> requests;
  for (int r = 0; r < size; ++r) {
    cases.push_back(recipe.make(r, size));
    comms[static_cast<std::size_t>(r)]->force(choice);
    requests.push_back(comms[static_cast<std::size_t>(r)]->start(cases.back()->call));
  }
  int left = size;
  std::vector<bool> ended(static_cast<std::size_t>(size));
  for (int turns = 0; left > 0; ++turns) {
    if (turns > 100'000) return "does not end";
    for (std::size_t r = 0; r < requests.size(); ++r) {
      if (ended[r] || !requests[r].test()) continue;
      ended[r] = true;
      --left;
    }
  }
  for (const auto& one : cases) {
    if (const auto wrong = one->check(); !wrong.empty()) return wrong;
  }
  return {};
}

void play_all(int size, const std::shared_ptr<const Profile>& profile, const std::vector<int>& counts,
              std::set<run::Method>& used) {
  auto comms = threads::make_comms(size, profile, false);
  for (const auto& recipe : recipes(size, {0, size / 2, size - 1}, counts)) {
    const auto probe = recipe.make(0, size);
    run::Call packed = probe->call;
    packed.layout.stride = 0;
    std::set<std::pair<run::Method, std::int64_t>> seen;
    for (const auto& choice : comms[0]->choices_for(packed)) {
      if (!seen.insert({choice.method, choice.parts}).second) continue;
      used.insert(choice.method);
      const auto wrong = play(comms, recipe, choice);
      ASSERT_EQ(wrong, "") << recipe.name << " on " << size << " ranks by " << to_string(choice.method) << " ("
                           << choice.parts << ")";
    }
  }
}

TEST(Loop, EveryMethodOnManyRanks) {
  std::set<run::Method> used;
  for (const int size : {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17}) {
    play_all(size, network(1000, 300, 0.08), {0, 1, 5, 300}, used);
    if (HasFatalFailure()) return;
  }
  play_all(33, network(25'000, 3000, 0.8), {1, 70}, used);
  play_all(21, network(5'000'000, 10'000, 8), {2, 2000}, used);
  for (const auto method : {run::Method::tree, run::Method::items, run::Method::exchange, run::Method::windows,
                            run::Method::messages}) {
    EXPECT_TRUE(used.contains(method)) << to_string(method) << " was never tried";
  }
}

TEST(Loop, AHundredAndThirtyRanks) {
  std::set<run::Method> used;
  play_all(130, network(1000, 300, 0.08), {1}, used);
}

/// Both ranks send more than a channel holds before either receives: waiting for one message must move the others.
TEST(Loop, AFullChannelDoesNotStopBothSides) {
  auto comms = threads::make_comms(2, network(1000, 300, 0.08), false);
  constexpr int kMessages = 40;
  int values[2][kMessages] = {}, got[2][kMessages] = {};
  std::vector<run::Transport::Ticket> tickets[2];
  for (const int r : {0, 1}) {
    auto& transport = *comms[static_cast<std::size_t>(r)]->messages();
    for (int i = 0; i < kMessages; ++i) {
      values[r][i] = 100 * r + i;
      tickets[r].push_back(transport.receive(1 - r, 7, &got[r][i], sizeof(int)));
      transport.send(1 - r, 7, &values[r][i], sizeof(int));
    }
  }
  for (int turns = 0, i[2] = {0, 0}; i[0] + i[1] < 2 * kMessages; ++turns) {
    ASSERT_LT(turns, 10'000) << "does not end";
    for (const int r : {0, 1}) {
      if (i[r] < kMessages && comms[static_cast<std::size_t>(r)]->messages()->done(tickets[r][static_cast<std::size_t>(i[r])])) ++i[r];
    }
  }
  for (int i = 0; i < kMessages; ++i) EXPECT_EQ(got[1][i], values[0][i]);
}

TEST(Loop, TheChoiceFollowsTheMachine) {
  run::Terrain terrain;
  terrain.ranks = terrain.nodes = 64;
  const auto method = [&](Kind kind, std::size_t bytes, const std::shared_ptr<const Profile>& profile) {
    return run::choices({kind, bytes, 8, true}, terrain, *profile).front().method;
  };
  EXPECT_EQ(method(Kind::broadcast, 8, network(1000, 300, 0.08)), run::Method::tree);
  EXPECT_EQ(method(Kind::broadcast, 1 << 20, network(1000, 300, 0.08)), run::Method::items);
  EXPECT_EQ(method(Kind::allreduce, 8, network(25'000, 3000, 0.8)), run::Method::tree);
  EXPECT_EQ(method(Kind::allreduce, 1 << 20, network(1000, 300, 0.08)), run::Method::exchange);
}

TEST(Loop, ExplainNamesTheChoiceAndTheRunnerUp) {
  run::Terrain terrain;
  terrain.ranks = terrain.nodes = 16;
  const auto text = run::explain({Kind::broadcast, 1 << 16, 1, true}, terrain, *network(1000, 300, 0.08));
  EXPECT_NE(text.find("chosen"), std::string::npos) << text;
  EXPECT_NE(text.find("runner-up"), std::string::npos) << text;
}

}  // namespace
}  // namespace chasqui::engines
