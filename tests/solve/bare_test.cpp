// SPDX-License-Identifier: MIT
// What is left without CaDiCaL and CBC: a clear error with the remedy, the atlas, and certificates that need no solver.
#include <gtest/gtest.h>

#include <filesystem>

#include "chasqui/base/error.hpp"
#include "chasqui/solve/atlas.hpp"
#include "chasqui/solve/bounds.hpp"
#include "chasqui/solve/certificate.hpp"
#include "chasqui/solve/solve.hpp"
#include "chasqui/solve/worst_case.hpp"
#include "solve/milp.hpp"
#include "solve/sat.hpp"
#include "solve/traffic.hpp"

namespace chasqui::solve {
namespace {

const Instance kAllgather{.machine = {4, Time{2}, Time{2}, Time{2}}, .problem = {.kind = Kind::allgather}};

std::string complaint(Engine engine) {
  Options options;
  options.engine = engine;
  try {
    solve(kAllgather, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Bare, SolveNamesThePackage) {
  for (const Engine engine : {Engine::sat, Engine::milp, Engine::both}) EXPECT_FALSE(available(engine));
  EXPECT_EQ(complaint(Engine::sat), "this build has no SAT solver: install libcadical-dev and configure again");
  EXPECT_EQ(complaint(Engine::both), "this build has no SAT solver: install libcadical-dev and configure again");
  EXPECT_EQ(complaint(Engine::milp), "this build has no MILP solver: install coinor-libcbc-dev and configure again");
  EXPECT_THROW(SatSolver(Cnf{}), Error);
  EXPECT_THROW(refute(Cnf{}, "nowhere", 0, {}), Error);
  EXPECT_THROW(minimise(Program{}, 1, {}), Error);
}

TEST(Bare, TheAtlasAndTheBoundsAreThere) {
  ASSERT_TRUE(plan_from_atlas(kAllgather));
  EXPECT_EQ(plan_from_atlas(kAllgather)->claim().finish, Time{14});
  EXPECT_EQ(count_traffic(kAllgather, Time{13}).verdict(), Verdict::unsatisfiable);
}

TEST(Bare, TheAdversaryTriesEverythingOrClimbs) {
  Schedule schedule;
  schedule.machine = LogP::postal(3, Time{3});
  schedule.problem = {.kind = Kind::broadcast, .items = 2};
  schedule.sends = {send_item(Time{0}, Rank{0}, Rank{1}, 0), send_item(Time{1}, Rank{0}, Rank{1}, 1),
                    send_item(Time{3}, Rank{1}, Rank{2}, 0), send_item(Time{4}, Rank{1}, Rank{2}, 1)};
  schedule.finish = Time{7};
  const WorstCase worst = worst_case(schedule);
  EXPECT_TRUE(worst.exact);
  EXPECT_GT(worst.late, Time{0});
  EXPECT_THROW(worst_case_sat(schedule, {}), Error);
}

TEST(Bare, ACertificateOfTheCountingBoundIsMadeAndChecked) {
  const Instance instance{.machine = LogP::postal(10, Time{4}), .problem = {.items = 2}};
  Answer answer;
  answer.status = Status::optimal;
  answer.best = plan_from_atlas(instance)->schedule();
  answer.bound = lower_bound(instance).time;
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "chasqui_bare_certificate";
  ASSERT_TRUE(write_certificate(folder, instance, answer));
  const CertificateReport report = check_certificate(folder);
  EXPECT_TRUE(report.accepted) << report.reason;
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace chasqui::solve
