// SPDX-License-Identifier: MIT
// Every shipped kernel, re-checked by a checker of its own; the codec; the search.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <set>

#include "chasqui/base/error.hpp"
#include "forge/search.hpp"
#include "plan/kernel/codec.hpp"
#include "plan/kernel/table.hpp"
#include "plan/kernel_checker.hpp"
#include "sweep.hpp"

namespace chasqui {
namespace {

using namespace plan::kernel;
using forge::kNoLimit;
using forge::search;
using plan::KernelTable;

TEST(KernelTable, HasEveryPAndLUpToTheLimit) {
  std::set<std::pair<int, int>> have;
  for (const TableLine& line : shipped_table()) have.emplace(line.P, line.L);
  EXPECT_EQ(have.size(), shipped_table().size()) << "a line is there twice";
  for (int L = 2; L <= 16; ++L) {
    for (int P = 3; P <= (L <= 2 ? 256 : 128); ++P) EXPECT_TRUE(have.contains({P, L})) << "P=" << P << " L=" << L;
  }
}

TEST(KernelTable, EveryEntryMeetsTheConditions) {
  Sweep sweep;
  for (const TableLine& line : shipped_table()) {
    if (!sweep.takes_next()) continue;
    const auto kernel = from_table(line.P - 1, line.L);
    ASSERT_TRUE(kernel.has_value());
    EXPECT_EQ(test::check_kernel(*kernel), "") << "P=" << line.P << " L=" << line.L;
    EXPECT_EQ(kernel->groups.size(), 1U) << "P=" << line.P << " L=" << line.L;
  }
}

TEST(KernelTable, TheLibrarysOwnCheckAgrees) {
  Sweep sweep;
  for (const TableLine& line : shipped_table()) {
    if (!sweep.takes_next()) continue;
    const auto kernel = from_table(line.P - 1, line.L);
    EXPECT_EQ(steady_error(*kernel) + endgame_error(*kernel), "") << "P=" << line.P << " L=" << line.L;
  }
}

// A checker that accepts everything would be worthless: every single change of H or S breaks something, and so does
// exchanging two colours of a role most of the time (not always: a step may have senders to spare).
TEST(KernelTable, TheCheckersRejectDamage) {
  for (auto [P, L] : {std::pair{10, 3}, {20, 2}, {33, 5}}) {
    const Kernel good = *from_table(P - 1, L);
    for (std::size_t x = 0; x < good.groups[0].H.size(); ++x) {
      Kernel bad = good;
      bad.groups[0].H[x] = static_cast<std::int16_t>(bad.groups[0].H[x] + 1);
      EXPECT_NE(test::check_kernel(bad), "");
      EXPECT_NE(steady_error(bad), "");
      bad = good;
      bad.groups[0].S[x] = static_cast<std::int16_t>(bad.groups[0].S[x] == kNone ? 0 : bad.groups[0].S[x] - 1);
      EXPECT_NE(test::check_kernel(bad), "");
      EXPECT_NE(steady_error(bad), "");
    }
    int noticed = 0;
    for (std::size_t role = 0; role < good.colours.size(); ++role) {
      Kernel bad = good;
      std::swap(bad.colours[role].front(), bad.colours[role].back());
      const bool mine = !test::check_kernel(bad).empty();
      EXPECT_EQ(mine, !endgame_error(bad).empty());
      noticed += mine ? 1 : 0;
      bad = good;
      bad.colours[role].front() = bad.colours[role].back();
      EXPECT_EQ(test::check_kernel(bad).empty(), bad == good);
    }
    EXPECT_GT(noticed, 0);
  }
}

TEST(KernelCodec, RoundTripAndRefusals) {
  for (auto [P, L] : {std::pair{3, 2}, {10, 3}, {128, 16}, {65, 2}}) {
    const Kernel kernel = *from_table(P - 1, L);
    const std::string text = encode(kernel);
    EXPECT_EQ(decode(text, P - 1, L, "here"), kernel);
    EXPECT_THROW(decode(text + "0", P - 1, L, "here"), Error);
    EXPECT_THROW(decode(text.substr(0, text.size() - 1), P - 1, L, "here"), Error);
    EXPECT_THROW(decode("!" + text.substr(1), P - 1, L, "here"), Error);
  }
  EXPECT_THROW(parse_table("12 x\n", "here"), Error);
  EXPECT_THROW(parse_table("12\n", "here"), Error);
}

TEST(KernelTable, AUsersTableIsCheckedLineByLine) {
  const std::string path = ::testing::TempDir() + "chasqui_user_kernels.txt";
  const auto write = [&](const std::string& text) { std::ofstream(path) << text; };
  const Kernel good = *search(139, 3, 200, 7);
  write("# mine\n140 3 " + encode(good) + "\n");
  EXPECT_EQ(KernelTable(path).find(139, 3), good);
  EXPECT_EQ(KernelTable(path).find(140, 3), std::nullopt);
  Kernel bad = good;
  std::swap(bad.groups[0].S[0], bad.groups[0].S[1]);
  write("140 3 " + encode(bad) + "\n");
  EXPECT_THROW(KernelTable(path).find(139, 3), Error);
  write("no table\n");
  EXPECT_THROW(KernelTable{path}, Error);
  std::remove(path.c_str());
  EXPECT_THROW(KernelTable{path}, Error);
}

TEST(KernelSearch, StopsWhenItsMovesAreSpent) {
  EXPECT_FALSE(search(139, 3, 200, 7, 1000).has_value());
  EXPECT_EQ(search(139, 3, 200, 7, kNoLimit - 1), search(139, 3, 200, 7));
}

TEST(KernelSearch, SameSeedSameKernelAndChecked) {
  for (auto [P, L] : {std::pair{29, 2}, {40, 4}, {150, 3}}) {
    const auto a = search(P - 1, L, 200, 7);
    const auto b = search(P - 1, L, 200, 7);
    ASSERT_TRUE(a.has_value()) << "P=" << P << " L=" << L;
    EXPECT_TRUE(*a == *b);
    EXPECT_EQ(test::check_kernel(*a), "") << "P=" << P << " L=" << L;
  }
}

}  // namespace
}  // namespace chasqui
