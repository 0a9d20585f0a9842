// SPDX-License-Identifier: MIT
// Merged kernels: every base and the kernels merged from them, by the checker that shares only the value type; their
// schedules through the verifier.
#include <gtest/gtest.h>

#include "chasqui/plan/kitem.hpp"
#include "chasqui/verify/verify.hpp"
#include "forge/special.hpp"
#include "plan/kernel/codec.hpp"
#include "plan/kernel/merge.hpp"
#include "plan/kernel_checker.hpp"
#include "plan/local_equals_schedule.hpp"
#include "sweep.hpp"

namespace chasqui {
namespace {

using namespace plan::kernel;
using forge::search_special;
using plan::merged_coverage;
using plan::MergedLevel;

TEST(MergedKernels, EveryBaseMeetsTheConditions) {
  ASSERT_GT(shipped_bases().size(), 1000U);
  Sweep sweep;
  for (const TableLine& line : shipped_bases()) {
    if (!sweep.takes_next()) continue;
    const Kernel kernel = decode(line.text, line.P - 1, line.L, "bases");
    EXPECT_EQ(test::check_kernel(kernel), "") << "P=" << line.P << " L=" << line.L;
    EXPECT_GE(kernel.groups.size(), 3U);
    EXPECT_EQ(kernel.groups[0].size(), 1);
  }
}

TEST(MergedKernels, MeetTheConditions) {
  Sweep sweep;
  for (int L : {3, 4, 5, 6}) {
    int found = 0;
    int tried = 0;
    for (std::int64_t M = 190; M <= 1000; M += 27, ++tried) {
      const auto kernel = merged_kernel(M, L);
      if (!kernel) continue;
      ++found;
      EXPECT_EQ(kernel->M, M);
      if (!sweep.takes_next()) continue;
      EXPECT_EQ(test::check_kernel(*kernel), "") << "M=" << M << " L=" << L;
    }
    RecordProperty("found of " + std::to_string(tried) + " with L " + std::to_string(L), found);
    EXPECT_GT(10 * found, 3 * tried) << "L=" << L;
  }
}

TEST(MergedKernels, CoverageIsWhatCanBeMerged) {
  for (const MergedLevel& row : merged_coverage(5, 760)) {
    std::int64_t reached = 0;
    for (std::int64_t M = row.first; M <= row.last; ++M) reached += merged_kernel(M, 5).has_value() ? 1 : 0;
    EXPECT_EQ(row.reached, reached) << row.level;
    EXPECT_GE(row.reached, row.bases) << row.level;
  }
}

TEST(MergedKernels, ReachMostPAtHighLevelsForLatencies3And5) {
  for (int L : {3, 5}) {
    const auto levels = merged_coverage(L, 20'000);
    ASSERT_FALSE(levels.empty());
    EXPECT_GT(levels.back().first, 5000);
    EXPECT_GE(100 * levels.back().reached, 80 * (levels.back().last - levels.back().first + 1)) << L;
  }
}

TEST(MergedKernels, MergingTwiceKeepsTheColoursInPlace) {
  const auto kernel = merged_kernel(700, 3);
  ASSERT_TRUE(kernel.has_value());
  EXPECT_GT(kernel->groups.size(), 8U);
  Kernel bad = *kernel;
  std::swap(bad.colours[1], bad.colours[bad.colours.size() - 1]);
  EXPECT_NE(test::check_kernel(bad), "");
}

TEST(MergedKernels, AreWhatKitemUsesAndLegal) {
  for (auto [first, L, k, root] : {std::tuple{250, 3, 12, 0}, {600, 3, 30, 5}, {701, 3, 7, 700}, {400, 4, 25, 3}}) {
    std::int64_t P = first;
    while (!merged_kernel(P - 1, L)) ++P;
    const auto plan = plan::kitem(LogP::postal(P, Time{L}), k, Rank{root});
    EXPECT_TRUE(plan->claim().optimal()) << P << ' ' << L << ' ' << plan->claim().construction;
    EXPECT_NE(plan->claim().construction.find("merged kernel"), std::string::npos) << plan->claim().construction;
    const Report report = verify(plan->schedule());
    EXPECT_TRUE(report.legal()) << P << ' ' << L << '\n' << to_string(report);
    plan::expect_local_forms_equal_schedule(*plan);
  }
}

TEST(MergedKernels, TheSearchForBasesIsRepeatable) {
  const auto a = search_special(75, 3, 100, 1);
  ASSERT_TRUE(a.has_value());
  EXPECT_TRUE(*a == *search_special(75, 3, 100, 1));
  EXPECT_EQ(test::check_kernel(*a), "");
  EXPECT_FALSE(search_special(20, 2, 100, 1).has_value());
}

}  // namespace
}  // namespace chasqui
