// SPDX-License-Identifier: MIT
// The shipped atlas: all witnesses before the verifier, the bounds that need no search again, and a sample searched from scratch.
#include "chasqui/solve/atlas.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <random>
#include <regex>
#include <set>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/clusters.hpp"
#include "chasqui/solve/bounds.hpp"
#include "chasqui/solve/cluster.hpp"
#include "chasqui/verify/verify.hpp"
#include "solve/traffic.hpp"
#include "sweep.hpp"

namespace chasqui::solve {
namespace {

std::string family(const AtlasEntry& entry) {
  return entry.instance.single_sending ? "single" : std::string(to_string(entry.instance.problem.kind));
}

TEST(Atlas, EveryWitnessIsLegalAndFinishesAsSaid) {
  std::map<std::string, int> count;
  for (const AtlasEntry* entry : Atlas::shipped().entries()) {
    ++count[family(*entry)];
    const Report report = verify(entry->witness);
    ASSERT_TRUE(report.legal()) << to_string(entry->instance) << "\n" << chasqui::to_string(report);
    ASSERT_EQ(objective(entry->witness), entry->finish) << to_string(entry->instance);
    if (!entry->instance.single_sending) continue;
    std::set<std::int32_t> sent;
    for (const Send& send : entry->witness.sends) {
      if (send.from == Rank{0}) {
        EXPECT_TRUE(sent.insert(send.part.lo).second) << to_string(entry->instance);
      }
    }
  }
  EXPECT_GE(count["broadcast"], 11 * 5 * 8);
  EXPECT_GE(count["single"], 11 * 5 * 8);
  EXPECT_GE(count["allgather"], 300);
  EXPECT_GE(count["stream"], 23);
}

TEST(Atlas, BoundsByArgumentAreTheArgument) {
  for (const AtlasEntry* entry : Atlas::shipped().entries()) {
    const Time bound = lower_bound(entry->instance).time;
    EXPECT_LE(entry->bound, entry->finish);
    if (entry->evidence != Evidence::argument) {
      EXPECT_GT(entry->bound, bound) << to_string(entry->instance);
    } else {
      EXPECT_EQ(entry->bound, bound) << to_string(entry->instance);
    }
  }
}

TEST(Atlas, BoundsByTrafficAreCountedAgain) {
  int found = 0;
  Sweep sweep;
  for (const AtlasEntry* entry : Atlas::shipped().entries()) {
    if (entry->evidence != Evidence::traffic) continue;
    const Instance coarse = coarsened(entry->instance);
    const Time earlier{entry->bound.ticks / scale(entry->instance) - 1};
    if (coarse.machine.P == 6 && earlier.ticks > 36) continue;  // those take too long
    ++found;
    if (!sweep.takes_next()) continue;
    EXPECT_EQ(count_traffic(coarse, earlier).verdict(), Verdict::unsatisfiable) << to_string(entry->instance);
  }
  EXPECT_GE(found, 90);
}

TEST(Atlas, NothingIsLeftOpen) {
  for (const AtlasEntry* entry : Atlas::shipped().entries())
    EXPECT_TRUE(entry->optimal()) << to_string(entry->instance);
}

TEST(Atlas, ItemsFromOneSourceAlwaysMeetTheCountingBound) {
  for (const AtlasEntry* entry : Atlas::shipped().entries()) {
    if (entry->instance.problem.kind != Kind::broadcast) continue;
    EXPECT_TRUE(entry->optimal() && entry->evidence == Evidence::argument) << to_string(entry->instance);
  }
}

TEST(Atlas, ASampleSearchedFromScratch) {
  if (!available(Engine::sat)) GTEST_SKIP() << "no CaDiCaL";
  const unsigned seed = 3;
  std::mt19937 random(seed);
  const auto entries = Atlas::shipped().entries();
  int searched = 0;
  while (searched < 40) {
    const AtlasEntry& entry = *entries[random() % entries.size()];
    const LogP& machine = entry.instance.machine;
    if (!entry.optimal() || machine.P > 8 || (machine.o > Time{0} && machine.P > 4) || entry.instance.problem.items > 6)
      continue;
    Options options;
    options.warm_start = false;
    options.traffic = false;
    options.time_limit = 100;
    const Answer answer = solve(entry.instance, options);
    ASSERT_EQ(answer.status, Status::optimal) << "seed " << seed << ": " << to_string(entry.instance);
    EXPECT_EQ(objective(*answer.best), entry.finish) << "seed " << seed << ": " << to_string(entry.instance);
    ++searched;
  }
}

/// What is said of line 7; nothing of a good one.
std::string complaint(const std::string& line) {
  try {
    entry_from_line(line, "atlas.txt:7");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Atlas, LinesRoundTripAndBadOnesAreNamed) {
  for (const AtlasEntry* entry : Atlas::shipped().entries()) {
    const AtlasEntry again = entry_from_line(to_line(*entry), "here");
    ASSERT_EQ(again.witness, entry->witness);
    ASSERT_EQ(again.instance, entry->instance);
  }
  EXPECT_EQ(complaint("broadcast 2 3 0 1 1 3 3 argument 00"), "");
  EXPECT_NE(complaint("broadcast 2 3 0 1 1 3 3 argument 0").find("atlas.txt:7: the witness is too short"),
            std::string::npos);
  EXPECT_NE(complaint("broadcast 2 3 0 1 1 3 3 argument 0000").find("too long"), std::string::npos);
  EXPECT_NE(complaint("broadcast 2 3 0 1 1 3 3 guess 00").find("not on 'guess'"), std::string::npos);
  EXPECT_NE(complaint("gossip 2 3 0 1 1 3 3 argument 00").find("unknown family"), std::string::npos);
}

/// data/clusters.txt: reading it judges every witness and every bound that needs no search.
const Atlas& tiny_clusters() {
  static const Atlas atlas = Atlas::read(CHASQUI_SOURCE_DIR "/data/clusters.txt");
  return atlas;
}

TEST(Atlas, TinyClustersHaveAFileOfTheirOwn) {
  std::map<Kind, int> count, open;
  for (const AtlasEntry* entry : tiny_clusters().entries()) {
    const Instance& instance = entry->instance;
    ASSERT_FALSE(instance.nodes.empty());
    ++count[instance.problem.kind];
    open[instance.problem.kind] += entry->optimal() ? 0 : 1;
    const AtlasEntry again = entry_from_line(to_line(*entry), "here");
    ASSERT_EQ(again.witness, entry->witness);
    ASSERT_EQ(again.instance, instance);
  }
  EXPECT_EQ(count[Kind::broadcast], 2112);
  EXPECT_EQ(count[Kind::reduce], 2112);
  EXPECT_EQ(count[Kind::scatter], 192);
  EXPECT_EQ(count[Kind::gather], 192);
  EXPECT_EQ(count[Kind::allgather], 128);
  EXPECT_EQ(count[Kind::reduce_scatter], 128);
  EXPECT_EQ(count[Kind::alltoall], 64);
  for (const Kind kind : {Kind::broadcast, Kind::reduce, Kind::scatter, Kind::gather, Kind::allgather, Kind::alltoall,
                          Kind::reduce_scatter})
    EXPECT_EQ(open[kind], 0) << to_string(kind);
  for (const std::string family : {"cluster-broadcast", "cluster-reduce", "cluster-scatter", "cluster-barrier",
                                   "cluster-allreduce", "cluster-scan"})
    for (const Instance& instance : atlas_instances({.family = family, .P = 6, .N = 3, .L = 3}))
      EXPECT_NE(tiny_clusters().find(instance), nullptr) << to_string(instance);
}

/// A sample: nothing finishes earlier than the bound says. Formulas of more than four ranks take too long for every day.
TEST(Atlas, BoundsOfTinyClustersAreSearchedForAgain) {
  std::map<Kind, Sweep> sweeps;
  std::map<Kind, int> searched;
  for (const AtlasEntry* entry : tiny_clusters().entries()) {
    const Instance& instance = entry->instance;
    const Kind kind = instance.problem.kind;
    const bool by_formula = kind != Kind::broadcast && kind != Kind::reduce;
    if (by_formula && (instance.machine.P > 4 || !available(Engine::sat))) continue;
    if (!sweeps[kind].takes_next()) continue;
    Options below;
    below.warm_start = false;
    below.at_most = entry->bound - Time{1};
    EXPECT_EQ(solve_on_cluster({instance.machine, instance.nodes}, instance.problem, below).status, Status::infeasible)
        << to_string(instance);
    ++searched[kind];
  }
  EXPECT_GE(searched[Kind::broadcast], 300);
  EXPECT_GE(searched[Kind::reduce], 300);
  if (available(Engine::sat)) {
    EXPECT_EQ(searched.size(), 10U);
  }
}

/// clusters.md, Computed evidence 11: in how many clusters plan and bound are the optimum, and how late the plan is.
TEST(Atlas, WhatPlansReachOnTinyClusters) {
  struct Tally {
    int optimal = 0, tight = 0;
    std::int64_t late = 0;
  };
  std::map<Kind, Tally> tallies;
  for (const AtlasEntry* entry : tiny_clusters().entries()) {
    const Instance& instance = entry->instance;
    const Kind kind = instance.problem.kind;
    if (kind != Kind::broadcast && kind != Kind::reduce) continue;
    const plan::Claim claim = plan::on_cluster({instance.machine, instance.nodes}, instance.problem)->claim();
    Tally& tally = tallies[kind];
    tally.optimal += claim.finish == entry->finish ? 1 : 0;
    tally.tight += claim.bound == entry->finish ? 1 : 0;
    tally.late = std::max(tally.late, (claim.finish - entry->finish).ticks);
  }
  EXPECT_EQ(tallies[Kind::broadcast].optimal, 2098);
  EXPECT_EQ(tallies[Kind::broadcast].tight, 2032);
  EXPECT_EQ(tallies[Kind::broadcast].late, 1);
  EXPECT_EQ(tallies[Kind::reduce].optimal, 1715);
  EXPECT_EQ(tallies[Kind::reduce].tight, 1600);
  EXPECT_EQ(tallies[Kind::reduce].late, 3);
}

/// What is said of a file with one line of an atlas.
std::string said_of(const std::string& line) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "chasqui_tampered_atlas.txt";
  std::ofstream(path) << line << "\n";
  std::string said;
  try {
    Atlas::read(path);
  } catch (const Error& error) {
    said = error.what();
  }
  std::filesystem::remove(path);
  return said;
}

/// Of every family on clusters: a line that claims too much, or whose witness lacks something, is refused.
TEST(Atlas, TamperedLinesOfClustersAreRefused) {
  std::map<Kind, int> tampered;
  for (const AtlasEntry* entry : tiny_clusters().entries()) {
    if (++tampered[entry->instance.problem.kind] > 20) continue;
    const std::string name = to_string(entry->instance);
    ASSERT_EQ(said_of(to_line(*entry)), "") << name;
    AtlasEntry early = *entry;
    early.finish -= Time{1};
    early.bound = std::min(early.bound, early.finish);
    EXPECT_NE(said_of(to_line(early)), "") << name << ": finishes a tick later than said";
    AtlasEntry slack = *entry;
    slack.bound = Time{1};
    EXPECT_NE(said_of(to_line(slack)), "") << name << ": below the bound by argument";
    AtlasEntry beyond = *entry;
    beyond.bound = beyond.finish + Time{1};
    EXPECT_NE(said_of(to_line(beyond)), "") << name << ": a bound above the finish";
    AtlasEntry silent = *entry;
    silent.witness.sends.clear();
    EXPECT_NE(said_of(to_line(silent)), "") << name << ": nothing is sent";
    for (std::size_t i = 0; i < entry->witness.sends.size(); ++i) {
      AtlasEntry late = *entry;
      late.witness.sends[i].begin += late.finish;
      EXPECT_NE(said_of(to_line(late)), "") << name << ": send " << i << " is late";
    }
  }
  EXPECT_EQ(tampered.size(), 10U);
}

TEST(Atlas, BadLinesOfClustersAreNamed) {
  const std::string machine = "cluster-broadcast 2 2 0 1 1 0 1 1 4 4 ";
  EXPECT_EQ(complaint(machine + "search 00201.10012201.2100133201"), "");
  EXPECT_EQ(complaint(machine + "search 00201.1001220.2100133201"),
            "atlas.txt:7: the witness is too short or too long");
  EXPECT_EQ(complaint(machine + "search 00201.10012201"), "atlas.txt:7: the witness is too short or too long");
  EXPECT_EQ(complaint(machine + "search 0020!.."), "atlas.txt:7: the witness has a letter that is no digit");
  EXPECT_NE(complaint(machine + "guess ..").find("not on 'guess'"), std::string::npos);
  EXPECT_NE(complaint("cluster-broadcast 9 9 0 1 1 0 1 1 4 4 search ..").find("at most 62 ranks"), std::string::npos);
  EXPECT_NE(complaint("cluster-broadcast 2 2 0 1 1 7 1 1 4 4 search ..").find("gamma"), std::string::npos);
  EXPECT_NE(complaint("cluster-broadcast 2 2 0 1 1 0 1 1 4 search ..").find("not a line"), std::string::npos);
  EXPECT_NE(complaint("cluster-gossip 2 3 0 1 1 3 3 argument 00").find("unknown family"), std::string::npos);
  EXPECT_NE(complaint("cluster-barrier 2 3 0 1 1 3 3 argument 00").find("not a line"), std::string::npos);
  // What is folded or heard has room for a second interval.
  EXPECT_EQ(complaint("cluster-reduce 2 2 0 1 1 0 1 1 4 4 argument 1203100.11020013020013011.01122003020013120"),
            "atlas.txt:7: the witness is too short or too long");
}

TEST(Atlas, FilesWithDoubleOrFalseLinesAreRefused) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "chasqui_false_atlas.txt";
  const auto complaint = [&](const std::string& lines) -> std::string {
    std::ofstream(path) << lines;
    try {
      Atlas::read(path);
    } catch (const Error& error) {
      return std::string(error.what()).substr(path.string().size());
    }
    return "";
  };
  const std::string good = "broadcast 3 3 0 1 1 4 4 search 0010\n";
  EXPECT_EQ(complaint("# heading\n" + good), "");
  EXPECT_EQ(complaint(good + "\r\n" + good).substr(0, 3), ":2:");
  EXPECT_EQ(complaint(good + "\n" + good),
            ":3: broadcast P=3 L=3 o=0 g=1 items=1 root=0 is there twice: delete one of the lines");
  EXPECT_EQ(complaint("broadcast 3 3 0 1 1 5 4 search 0010\n").find(":1: the witness is illegal: rule 7"), 0u);
  EXPECT_EQ(complaint("broadcast 3 3 0 1 1 3 3 search 0000\n").find(":1: the witness is illegal: rule 2"), 0u);
  EXPECT_EQ(complaint("broadcast 3 3 0 1 1 5 5 argument 0020\n"),
            ":1: the bound by argument is 4, not 5: delete the line");
  EXPECT_EQ(complaint("broadcast 3 3 0 1 1 5 1 search 0020\n"),
            ":1: the bound by argument is 4, not 1: delete the line");
  std::filesystem::remove(path);
}

TEST(Atlas, KeepsTheBetterOfTwoEntries) {
  const AtlasEntry late = entry_from_line("broadcast 3 3 0 1 1 5 3 argument 0020", "late");
  AtlasEntry good = entry_from_line("broadcast 3 3 0 1 1 4 4 search 0010", "good");
  Atlas atlas;
  atlas.add(late);
  atlas.add(good);
  atlas.add(late);
  ASSERT_EQ(atlas.entries().size(), 1U);
  EXPECT_EQ(atlas.entries()[0]->finish, Time{4});
  EXPECT_EQ(atlas.entries()[0]->bound, Time{4});
  EXPECT_EQ(atlas.entries()[0]->evidence, Evidence::search);
}

/// docs/atlas.md without what the plans of the day reach: in brackets, in the summaries, and in the last columns of clusters.
TEST(Atlas, ThePageIsTheFile) {
  std::ifstream file(CHASQUI_SOURCE_DIR "/docs/atlas.md");
  std::string page((std::istreambuf_iterator<char>(file)), {});
  page = std::regex_replace(page, std::regex(R"( \(\d+\) \|)"), " |");
  page = std::regex_replace(page, std::regex(R"(; \d+ plans compared[^.]*)"), "");
  const std::size_t begin = page.find("## On clusters"), end = page.find("## Continuous");
  ASSERT_TRUE(begin < end && end < page.size());
  std::string rows = page.substr(begin, end - begin);
  rows = std::regex_replace(rows, std::regex(R"( plan later \| by at most \|)"), "");
  rows = std::regex_replace(rows, std::regex(R"((\|( (\d+|---:) \|){7})( (\d+|---:) \|){2}\n)"), "$1\n");
  page.replace(begin, end - begin, rows);
  Atlas both = Atlas::shipped();
  for (const AtlasEntry* entry : tiny_clusters().entries()) both.add(*entry);
  EXPECT_EQ(page, atlas_table(both, false))
      << "chasqui atlas data/atlas.txt --merge data/clusters.txt --table > docs/atlas.md";
}

TEST(Atlas, AWitnessIsAPlanForAnyRoot) {
  for (std::int32_t root = 0; root < 6; ++root) {
    const Instance instance{.machine = LogP::postal(6, Time{3}), .problem = {.root = Rank{root}, .items = 4}};
    const plan::PlanPtr plan = plan_from_atlas(instance);
    ASSERT_TRUE(plan);
    EXPECT_TRUE(plan->claim().optimal());
    const Schedule schedule = plan->schedule();
    EXPECT_EQ(schedule.problem, instance.problem);
    EXPECT_TRUE(verify(schedule).legal());
    EXPECT_EQ(plan->local(Rank{1}), restrict_to(schedule, Rank{1}));
  }
  EXPECT_FALSE(plan_from_atlas({.machine = LogP::postal(200, Time{3}), .problem = {}}));
}

/// With the atlas plans are the optimum, or the best that is known, of all tiny clusters.
TEST(Atlas, OfTinyClustersEveryPlanIsTheBestThatIsKnown) {
  std::map<Kind, int> later;
  for (const AtlasEntry* entry : tiny_clusters().entries()) {
    Instance instance = entry->instance;
    const plan::PlanPtr known = plan_from_atlas(instance);
    ASSERT_TRUE(known) << to_string(instance);
    EXPECT_EQ(known->claim().finish, entry->finish) << to_string(instance);
    EXPECT_EQ(known->claim().bound, entry->bound) << to_string(instance);
    const Kind kind = instance.problem.kind;
    if (kind != Kind::broadcast) continue;
    const plan::Claim claim = plan::on_cluster({instance.machine, instance.nodes}, instance.problem)->claim();
    if (claim.finish == entry->finish) continue;
    ++later[kind];
    for (std::int32_t root = 0; root < instance.machine.P; ++root) {
      instance.problem.root = Rank{root};
      const plan::PlanPtr plan = plan_from_atlas(instance);
      const Report report = verify(plan->schedule());
      EXPECT_TRUE(report.legal()) << to_string(instance) << "\n" << to_string(report);
      EXPECT_EQ(report.finish, entry->finish) << to_string(instance);
    }
  }
  EXPECT_EQ(later[Kind::broadcast], 14);
  const Instance other{.machine = {6, Time{2}, Time{1}, Time{3}},
                       .problem = {.items = 2},
                       .nodes = Cluster::uniform(3, 2, {}, Time{0}, Time{2}, Time{2}).nodes};
  EXPECT_FALSE(plan_from_atlas(other));
}

TEST(Atlas, BeatsThePlanWhereTheConstructionsAreLate) {
  const Instance instance{.machine = {5, Time{1}, Time{1}, Time{2}}, .problem = {.kind = Kind::allgather}};
  ASSERT_TRUE(plan_from_atlas(instance));
  EXPECT_EQ(plan_from_atlas(instance)->claim().finish, Time{11});
  EXPECT_LE(Time{11}, objective(*best_plan(instance)));
}

}  // namespace
}  // namespace chasqui::solve
