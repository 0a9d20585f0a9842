// SPDX-License-Identifier: MIT
#include "chasqui/model/logp.hpp"

#include <gtest/gtest.h>

#include "chasqui/base/error.hpp"
#include "chasqui/model/problem.hpp"

namespace chasqui {
namespace {

std::string machine_complaint(const LogP& machine) {
  try {
    validate(machine);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(LogP, AcceptsTheExtremesItPromises) {
  EXPECT_EQ(machine_complaint({1, Time{0}, Time{1}, Time{1}}), "");
  EXPECT_EQ(
      machine_complaint({1'000'000'000, Time{1'000'000'000'000}, Time{1'000'000'000'000}, Time{1'000'000'000'000}}),
      "");
}

TEST(LogP, NamesTheParameterAndTheRange) {
  EXPECT_EQ(machine_complaint({0, Time{1}, Time{0}, Time{1}}), "P=0 is too small: it must be at least 1");
  EXPECT_EQ(machine_complaint({4, Time{-1}, Time{0}, Time{1}}), "L=-1 is too small: it must be at least 0");
  EXPECT_EQ(machine_complaint({4, Time{1}, Time{-2}, Time{1}}), "o=-2 is too small: it must be at least 0");
  EXPECT_EQ(machine_complaint({4, Time{1}, Time{0}, Time{0}}), "g=0 is too small: it must be at least 1");
  EXPECT_NE(machine_complaint({4, Time{kMaxParameter + 1}, Time{0}, Time{1}}).find("L="), std::string::npos);
  EXPECT_NE(machine_complaint({kMaxProcessors + 1, Time{1}, Time{0}, Time{1}}).find("P="), std::string::npos);
  EXPECT_NE(machine_complaint({4, Time{0}, Time{0}, Time{1}}).find("must take time"), std::string::npos);
}

TEST(LogP, EffectiveGapIsNeverBelowTheOverhead) {
  EXPECT_EQ((LogP{3, Time{1}, Time{2}, Time{1}}.gap()), Time{2});
  EXPECT_EQ((LogP{3, Time{1}, Time{2}, Time{5}}.gap()), Time{5});
  EXPECT_TRUE(LogP::postal(8, Time{3}).is_postal());
}

TEST(Problem, KindNamesRoundTrip) {
  for (int kind = 0; kind <= static_cast<int>(Kind::stream); ++kind) {
    EXPECT_EQ(kind_from(to_string(static_cast<Kind>(kind))), static_cast<Kind>(kind));
  }
  EXPECT_FALSE(kind_from("gossip"));
}

TEST(Problem, RootMustExist) {
  EXPECT_THROW(validate(Problem{.root = Rank{4}}, LogP::postal(4, Time{1})), Error);
  EXPECT_NO_THROW(validate(Problem{.root = Rank{3}}, LogP::postal(4, Time{1})));
  EXPECT_THROW(validate(Problem{.items = 0}, LogP::postal(4, Time{1})), Error);
}

}  // namespace
}  // namespace chasqui
