// SPDX-License-Identifier: MIT
// Lines of a benchmark fit a terminal, whatever a busy machine did to the times.
#include <gtest/gtest.h>

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "chasqui/measure/bench.hpp"

namespace chasqui::measure {
namespace {

const std::vector<std::string> kThreads = {"binomial", "std::barrier", "OpenMP"};
const std::vector<std::string> kMpi = {"native", "binomial"};

BenchRow row_of(double ours, double rival, const std::string& name = "broadcast") {
  BenchRow row{name, std::size_t{4} << 20, "exchange", ours, 0, {ours, ours, ours, {}}, {}};
  for (const char* who : {"binomial", "native", "std::barrier", "OpenMP", "chain", "plain"})
    row.rivals.emplace_back(who, Quartiles{rival, rival, rival, {}});
  return row;
}

/// Without the heading.
std::string line_of(const BenchRow& row, const std::vector<std::string>& rivals) {
  BenchTable table(rivals);
  table.add(row);
  return table.add(row);
}

TEST(BenchText, LinesFitEightyColumns) {
  for (const auto& rivals : {kThreads, kMpi}) {
    for (const char* name : {"allgather", "stream"}) {
      const std::string both = BenchTable(rivals).add(row_of(1, 1, name));
      const std::size_t title = both.find("            bytes way");  // a legend may stand before it
      ASSERT_NE(title, std::string::npos) << both;
      const std::size_t heading = both.find('\n', title) + 1 - title;
      for (double ours = 1; ours < 1e12; ours *= 9.99) {
        for (double rival = 1; rival < 1e12; rival *= 9.99) {
          const auto line = line_of(row_of(ours, rival, name), rivals);
          EXPECT_EQ(line.size(), heading) << line;
          EXPECT_LE(line.size(), 81u) << line;
        }
      }
      for (double ratio = 9.9; ratio < 2e6; ratio *= 1.0005) {  // where digits go over
        EXPECT_EQ(line_of(row_of(1000, 1000 * ratio, name), rivals).size(), heading) << ratio;
      }
    }
  }
}

TEST(BenchText, EveryWayThatWasTakenIsExplained) {
  BenchTable table(kThreads);
  EXPECT_EQ(table.ways(), "");
  for (int way = 0; way <= static_cast<int>(run::Method::native); ++way) {
    BenchRow row = row_of(1, 1);
    row.method = to_string(static_cast<run::Method>(way));
    table.add(row);
    const std::string ways = table.ways();
    EXPECT_EQ(std::count(ways.begin(), ways.end(), '\n'), way + 3) << ways;
    const std::size_t line = ways.find("\n  " + row.method + " ");
    ASSERT_NE(line, std::string::npos) << ways;
    const std::size_t end = ways.find('\n', line + 1);
    EXPECT_GT(end - line, 30u) << "words for " << row.method;
    EXPECT_LE(end - line, 81u);
  }
}

TEST(BenchText, RatiosAreRivalOverOurs) {
  EXPECT_NE(line_of(row_of(1000, 2500), {"native"}).find("x2.50"), std::string::npos);
  EXPECT_NE(line_of(row_of(10, 123456), {"native"}).find("x12346"), std::string::npos);
  EXPECT_NE(line_of(row_of(1000, 2500), {"std"}).find("-"), std::string::npos);
}

TEST(BenchText, WhatIsManyHasATableOfItsOwn) {
  BenchTable table(kThreads);
  EXPECT_NE(table.add(row_of(1, 1, "scan")).find("std::barrier"), std::string::npos);
  EXPECT_EQ(table.add(row_of(1, 1, "scan")).find("binomial"), std::string::npos);
  const std::string first = table.add(row_of(1, 1, "sum"));
  EXPECT_EQ(first.find("\nby messages; items:"), 0u) << first;
  EXPECT_NE(first.find("\n            bytes way"), std::string::npos) << first;
  EXPECT_NE(first.find("binomial  chain  plain"), std::string::npos) << first;
  EXPECT_EQ(first.find("OpenMP"), std::string::npos) << first;
  EXPECT_EQ(table.add(row_of(1, 1, "delay")).find("plain"), std::string::npos);
}

TEST(BenchText, RowsOfAList) {
  BenchOptions options;
  options.largest = 4096;
  options.kinds = kinds_from("barrier,sum,items,stream", "--kinds");
  using Rows = std::vector<std::pair<std::string, std::size_t>>;
  EXPECT_EQ(bench_plan(options), (Rows{{"barrier", 0},
                                       {"sum", 512},
                                       {"sum", 4096},
                                       {"items", 64},
                                       {"items", 512},
                                       {"items", 4096},
                                       {"stream", 8},
                                       {"stream", 64},
                                       {"stream", 512},
                                       {"stream", 4096}}));
  options.largest = 8;
  EXPECT_EQ(bench_plan(options), (Rows{{"barrier", 0}, {"sum", 512}, {"items", 64}, {"stream", 8}}));
  options.kinds.clear();
  EXPECT_EQ(bench_plan(options).size(), 13u);
  EXPECT_THROW(kinds_from("sum,delay", "--kinds"), Error);
}

TEST(BenchText, GuessesAreNotMarkedAndNameTheRemedy) {
  BenchRow row = row_of(1000, 1000);
  row.predicted = 6000;
  EXPECT_NE(line_of(row, kMpi).find('!'), std::string::npos);
  EXPECT_EQ(BenchTable(kMpi, false).add(row).find('!'), std::string::npos);
  Profile profile = default_profile();
  EXPECT_TRUE(is_guess(profile));
  EXPECT_NE(source_of(profile).find("chasqui measure --out"), std::string::npos);
  profile.levels[0].ranks = 2;
  EXPECT_FALSE(is_guess(profile));
  EXPECT_NE(source_of(profile).find(profile.how), std::string::npos);
}

}  // namespace
}  // namespace chasqui::measure
