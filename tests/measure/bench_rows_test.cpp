// SPDX-License-Identifier: MIT
// Sums, several items and streams are timed, with the rivals and predictions that belong to them. Times are the machine's.
#include <gtest/gtest.h>

#include "chasqui/threads/team.hpp"
#include "measure/bench/contest.hpp"
#include "measure/bench/rivals.hpp"

namespace chasqui::measure {
namespace {

std::vector<BenchRow> rows_of(int threads, const std::string& kinds, std::size_t largest = 4000) {
  BenchOptions options;
  options.kinds = kinds_from(kinds, "--kinds");
  options.largest = largest;
  options.seconds_per_row = 0.0005;
  std::vector<BenchRow> rows;
  options.row = [&](const BenchRow& row) { rows.push_back(row); };
  threads::Team team(threads);
  team.run([&](run::Comm& comm) {
    bench(comm, {{"binomial", [&](const run::Call& call) { return binomial(comm, call); }}}, options);
  });
  return rows;
}

std::vector<std::string> rivals_of(const BenchRow& row) {
  std::vector<std::string> names;
  for (const auto& [name, times] : row.rivals) names.push_back(name);
  return names;
}

TEST(Sums, AreExpectedToTakeACallAtLeast) {
  threads::Team team(2);
  team.run([](run::Comm& comm) {
    EXPECT_GT(contest_of_sum(comm, sizeof(double)).predicted.front(), 0) << "nothing to add, but called";
  });
}

class BenchRows : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, BenchRows, testing::Values(2, 3, 5));

TEST_P(BenchRows, ManyItemsAgainstTheirRivals) {
  const auto rows = rows_of(GetParam(), "sum,items,stream");
  using Row = std::pair<std::string, std::size_t>;
  std::vector<Row> found;
  for (const BenchRow& row : rows) {
    found.emplace_back(row.name, row.bytes);
    EXPECT_GT(row.predicted, 0) << row.name;
    EXPECT_EQ(row.method, row.name == "sum" ? "tree" : row.name == "items" ? "items" : "stream");
    EXPECT_EQ(rivals_of(row), row.name == "sum" ? (std::vector<std::string>{"binomial", "plain"})
                                                : (std::vector<std::string>{"binomial", "chain", "plain"}));
    for (const auto& [name, times] : row.rivals) {
      EXPECT_GE(times.spans.size(), 5u) << name;
      EXPECT_LE(times.low, times.high) << name;
    }
    EXPECT_GE(row.ours.spans.size(), 5u);
    EXPECT_GT(row.ours.low, 0);
    EXPECT_LE(row.ours.low, row.ours.median);
    EXPECT_LE(row.ours.median, row.ours.high);
  }
  EXPECT_EQ(found, (std::vector<Row>{{"sum", 512},
                                     {"sum", 4000},
                                     {"items", 64},
                                     {"items", 512},
                                     {"items", 4000},
                                     {"stream", 8},
                                     {"delay", 8},
                                     {"stream", 64},
                                     {"delay", 64},
                                     {"stream", 512},
                                     {"delay", 512},
                                     {"stream", 4000},
                                     {"delay", 4000}}));
}

TEST(BenchRow, OneRankHasNobodyToSendTo) {
  EXPECT_TRUE(rows_of(1, "sum,items,stream").empty());
  EXPECT_EQ(rows_of(1, "barrier").size(), 1u);
}

}  // namespace
}  // namespace chasqui::measure
