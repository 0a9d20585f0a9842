// SPDX-License-Identifier: MIT
// Lines of a benchmark fit a terminal, whatever a busy machine did to the times.
#include <gtest/gtest.h>

#include "chasqui/run/bench.hpp"

namespace chasqui::run {
namespace {

BenchRow row_of(double ours, double rival) {
  BenchRow row{Kind::broadcast, std::size_t{4} << 20, "exchange", ours, 0, {ours, ours, ours, {}}, {}};
  for (const char* name : {"binomial", "native"}) row.rivals.emplace_back(name, Quartiles{rival, rival, rival, {}});
  return row;
}

TEST(BenchText, LinesFitEightyColumns) {
  const std::vector<std::string> rivals = {"binomial", "native"};
  const auto heading = to_heading(rivals);
  for (double ours = 1; ours < 1e12; ours *= 9.99) {
    for (double rival = 1; rival < 1e12; rival *= 9.99) {
      const auto line = to_line(row_of(ours, rival), rivals);
      EXPECT_EQ(line.size(), heading.size()) << line;
      EXPECT_LE(line.size(), 81u) << line;
    }
  }
}

TEST(BenchText, RatiosAreRivalOverOurs) {
  EXPECT_NE(to_line(row_of(1000, 2500), {"native"}).find("x2.50"), std::string::npos);
  EXPECT_NE(to_line(row_of(10, 123456), {"native"}).find("x12346"), std::string::npos);
  EXPECT_NE(to_line(row_of(1000, 2500), {"std"}).find("-"), std::string::npos);
}

}  // namespace
}  // namespace chasqui::run
