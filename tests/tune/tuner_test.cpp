// SPDX-License-Identifier: MIT
// From races to rules, on a machine whose true times are known: predictions, each algorithm's off by a factor of its own.
#include "chasqui/tune/tuner.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "chasqui/base/error.hpp"

namespace chasqui::tune {
namespace {

/// Between 0.8 and 1.25, by name and fan-out.
double factor(const Algorithm& algorithm) {
  const std::size_t hash =
      std::hash<std::string>{}(fmt::format("{}{}{}", algorithm.collective, algorithm.name, algorithm.fan));
  return 0.8 + 0.45 * static_cast<double>(hash % 1000) / 1000;
}
double true_time(const TunerOptions& options, const Algorithm& algorithm, std::int64_t bytes, const Profile& profile) {
  return factor(algorithm) * predict(*rounds_of(algorithm, options.ranks, bytes), profile);
}

/// A default that is as slow as twice the slowest of the shortlist.
std::vector<Cell> raced(const TunerOptions& options, const CollectiveName& name, const Profile& profile,
                        double default_time) {
  std::vector<Cell> cells;
  while (const auto bytes = next_size(options, name, cells, profile)) {
    Cell cell{std::string(name.word), *bytes, {{{.library = options.library, .collective = std::string(name.word)}}}};
    cell.results[0].time = default_time;
    for (Result result : shortlist(options, name.word, *bytes, profile)) {
      result.time = true_time(options, result.algorithm, *bytes, profile);
      cell.results.push_back(result);
    }
    cells.push_back(cell);
  }
  const std::vector<Cell> first = cells;
  for (Cell& cell : cells) {
    for (const Algorithm& algorithm : guests(options, first, cell))
      cell.results.push_back({algorithm, true_time(options, algorithm, cell.bytes, profile),
                              predict(*rounds_of(algorithm, options.ranks, cell.bytes), profile)});
  }
  return cells;
}

TEST(Tuner, IsNearTheBestAtSizesItNeverSaw) {
  const Profile profile = default_profile();
  double sum = 0, worst = 0;
  int count = 0;
  std::size_t run = 0, all = 0;  // an algorithm at a size each: in races, and by brute force over powers of two
  for (const Library library : {Library::openmpi, Library::mpich}) {
    for (const int ranks : {2, 5, 8, 16}) {
      const TunerOptions options{.library = library, .ranks = ranks};
      for (const CollectiveName& name : collectives()) {
        if (name.word != word_of(name.kind)) continue;
        const auto cells = raced(options, name, profile, 1e12);
        for (const Cell& cell : cells) run += cell.results.size();
        for (std::int64_t bytes = 8; bytes <= raced_sizes(name.kind, options).back(); bytes *= 2)
          all += predicted(options, name.word, bytes, profile).size();
        const Choice choice = choose(options, std::string(name.word), cells, profile);
        ASSERT_FALSE(choice.steps.empty()) << name.word;
        EXPECT_EQ(choice.steps.front().bytes, 0);
        if (!tells_sizes(library, name.word)) {
          EXPECT_EQ(choice.steps.size(), 1U) << name.word;
          continue;
        }
        for (const std::int64_t bytes : unseen_sizes(name.kind, options)) {
          double least = 1e300;
          for (const Result& any : predicted(options, name.word, bytes, profile))
            least = std::min(least, true_time(options, any.algorithm, bytes, profile));
          const Algorithm& ours = step_for(choice, bytes).algorithm;
          ASSERT_NE(ours.number, 0) << name.word << " " << bytes;
          ASSERT_TRUE(rounds_of(ours, ranks, bytes)) << name.word << " " << to_string(ours) << " " << ranks;
          const double regret = true_time(options, ours, bytes, profile) / least - 1;
          sum += regret;
          worst = std::max(worst, regret);
          ++count;
        }
      }
    }
  }
  EXPECT_GT(count, 100);
  EXPECT_LT(sum / count, 0.05);
  EXPECT_LT(worst, 0.5);
  EXPECT_LT(6 * run, all);
}

TEST(Tuner, OperandsKeepTheirOrder) {
  for (const bool commutative : {false, true}) {
    const TunerOptions options{.ranks = 8, .commutative = commutative};
    int reordering = 0;
    for (const std::int64_t bytes : {8, 65536}) {
      for (const Result& result : predicted(options, "reduce", bytes, default_profile()))
        reordering += result.algorithm.number >= 2 && result.algorithm.number <= 5 ? 1 : 0;
      for (const Result& result : predicted(options, "allreduce", bytes, default_profile()))
        reordering += result.algorithm.number == 4 || result.algorithm.number == 5 ? 1 : 0;
    }
    EXPECT_EQ(reordering > 0, commutative);
  }
}

TEST(Tuner, LeavesADefaultThatNobodyBeats) {
  const TunerOptions options{.ranks = 8};
  const Choice choice =
      choose(options, "bcast", raced(options, {"bcast", Kind::broadcast}, default_profile(), 1), default_profile());
  ASSERT_EQ(choice.steps.size(), 1U);
  EXPECT_EQ(choice.steps[0].algorithm.number, 0);
}

/// What it does between two sizes nobody knows.
TEST(Tuner, ADefaultThatIsSlowOnOneSideIsNotTrustedInBetween) {
  const TunerOptions options{.ranks = 8, .largest = 65536};
  const Profile profile = default_profile();
  const auto all = predicted(options, "bcast", 32768, profile);
  const auto linear = std::find_if(all.begin(), all.end(), [](const Result& result) {
    return result.algorithm.segment == 0 && rounds_of(result.algorithm, 8, 128);
  });
  ASSERT_NE(linear, all.end());
  for (const double there : {1.01, 0.9}) {  // how much slower the default is at 32 KiB
    std::vector<Cell> cells;
    for (const std::int64_t bytes : {128, 32768}) {
      const Result plain{{.library = options.library, .collective = "bcast"}, bytes == 128 ? 3e6 : there * 1e6, 0};
      cells.push_back({"bcast", bytes, {plain, {linear->algorithm, 1e6, linear->predicted}}});
    }
    const Choice choice = choose(options, "bcast", cells, profile);
    EXPECT_EQ(step_for(choice, 8192).algorithm.number, there > 1 ? linear->algorithm.number : 0);
    EXPECT_EQ(step_for(choice, 128).algorithm.number, linear->algorithm.number);
  }
}

TEST(Tuner, WhoRefusesIsNotTaken) {
  const TunerOptions options{.ranks = 8};
  auto cells = raced(options, {"bcast", Kind::broadcast}, default_profile(), 1e12);
  for (Cell& cell : cells) {
    for (Result& result : cell.results) {
      if (result.algorithm.number == 6) result.time = 0;
    }
  }
  for (const Step& step : choose(options, "bcast", cells, default_profile()).steps) EXPECT_NE(step.algorithm.number, 6);
}

TEST(Tuner, RacesAreKeptInAFile) {
  const TunerOptions options{.library = Library::mpich, .ranks = 8};
  const auto cells = raced(options, {"allreduce", Kind::allreduce}, default_profile(), 5e6);
  const auto back = cells_from_csv(to_csv(cells, options), "races.csv", options);
  ASSERT_EQ(back.size(), cells.size());
  EXPECT_EQ(to_csv(back, options), to_csv(cells, options));
  TunerOptions others = options;
  others.ranks = options.ranks + 1;
  EXPECT_THROW(cells_from_csv(to_csv(cells, options), "races.csv", others), Error);
  EXPECT_EQ(back[1].results[1].algorithm, cells[1].results[1].algorithm);
  for (const char* bad :
       {"head\nbcast,8,1\n", "head\nbcast,8,x,0,0,0,linear,1,1,mpich,8\n",
        "head\nnothing,8,1,0,0,0,linear,1,1,mpich,8\n", "head\nbcast,8,0,0,0,0,default,nan,1,mpich,8\n",
        "head\nbcast,-8,0,0,0,0,default,1,1,mpich,8\n", "head\nbcast,8,77,0,0,0,linear,1,1,mpich,8\n",
        "head\nbcast,8x,0,0,0,0,default,1,1,mpich,8\n"}) {
    try {
      cells_from_csv(bad, "races.csv", options);
      ADD_FAILURE() << bad;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("races.csv:2"), std::string::npos) << error.what();
    }
  }
}

TEST(Tuner, AnAlgorithmThatNeedsAFanHasOneInTheFileToo) {  // a tree whose nodes have no children divided by it
  const TunerOptions options{.ranks = 8};
  const std::string line = "head\nbcast,65536,2,0,{},8192,chain,1,1,openmpi,8\n";
  EXPECT_EQ(cells_from_csv(fmt::format(fmt::runtime(line), 4), "races.csv", options).size(), 1U);
  EXPECT_THROW(cells_from_csv(fmt::format(fmt::runtime(line), 0), "races.csv", options), Error);
}

TEST(Tuner, ShortlistsAreShortAndDifferent) {
  const TunerOptions options{.ranks = 16, .most = 4};
  for (const std::int64_t bytes : {8, 65536, 1 << 20}) {
    const auto list = shortlist(options, "bcast", bytes, default_profile());
    const auto all = predicted(options, "bcast", bytes, default_profile());
    ASSERT_LE(list.size(), 4U);
    ASSERT_GE(list.size(), 1U);
    EXPECT_GT(all.size(), 2 * list.size());
    EXPECT_EQ(list.front().predicted, all.front().predicted);
  }
}

TEST(Tuner, AGapThatMayBeSmallerLetsTheFlatTreeRace) {
  Profile profile = default_profile();
  for (Level& level : profile.levels) {
    level.L = Estimate::exactly(1e6);
    level.g = {1e6, 0, 2e6};
    level.o_s = level.o_r = Estimate::exactly(1000);
  }
  const TunerOptions options{.ranks = 16, .most = 3};
  const auto list = shortlist(options, "bcast", 8, profile);
  const auto linear = [](const Result& result) {
    return result.algorithm.name == "basic_linear" || result.algorithm.fan == 15;
  };
  EXPECT_TRUE(std::any_of(list.begin(), list.end(), linear));
  EXPECT_FALSE(linear(predicted(options, "bcast", 8, profile).front()));
}

}  // namespace
}  // namespace chasqui::tune
