// SPDX-License-Identifier: MIT
#include "chasqui/base/arithmetic.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "chasqui/base/error.hpp"

namespace chasqui {
namespace {

TEST(Binomial, EqualsPascalsTriangleWhereItFits) {
  std::vector<std::int64_t> row = {1};
  for (std::int64_t n = 0; n <= 70; ++n) {
    for (std::int64_t k = 0; k <= n; ++k) {
      EXPECT_EQ(saturating_binomial(n, k), row[static_cast<std::size_t>(k)]) << n << " over " << k;
    }
    EXPECT_EQ(saturating_binomial(n, n + 1), 0);
    std::vector<std::int64_t> next(row.size() + 1, 1);
    for (std::size_t k = 1; k < row.size(); ++k) next[k] = saturating_add(row[k - 1], row[k]);
    row = next;
  }
}

TEST(Binomial, SaturatesForHugeArguments) {
  EXPECT_EQ(saturating_binomial(1'000'000'000'000, 1), 1'000'000'000'000);
  EXPECT_EQ(saturating_binomial(1'000'000'000'000, 500'000'000'000), kSaturated);
  EXPECT_EQ(saturating_binomial(kSaturated, kSaturated - 1), kSaturated);
}

TEST(Saturation, StopsAtTheTop) {
  EXPECT_EQ(saturating_add(kSaturated, 1), kSaturated);
  EXPECT_EQ(saturating_add(kSaturated - 1, 1), kSaturated);
  EXPECT_EQ(saturating_multiply(1LL << 32, 1LL << 32), kSaturated);
  EXPECT_EQ(saturating_multiply(0, kSaturated), 0);
}

TEST(Checked, NamesWhatOverflowed) {
  EXPECT_EQ(checked_multiply(6, 7, "finish"), 42);
  try {
    checked_multiply(1LL << 40, 1LL << 40, "finish");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("finish"), std::string::npos);
  }
}

}  // namespace
}  // namespace chasqui
