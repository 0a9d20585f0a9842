// SPDX-License-Identifier: MIT
// Legal schedules of every kind are found legal, on many machines.
#include <gtest/gtest.h>

#include "chasqui/verify/verify.hpp"
#include "verify/legal_examples.hpp"

namespace chasqui {
namespace {

std::vector<LogP> machines() {
  std::vector<LogP> all;
  for (const std::int64_t P : {1, 2, 3, 4, 5, 7, 8, 13, 16, 33}) {
    for (const auto& [L, o, g] :
         {std::array{1, 0, 1}, {3, 0, 1}, {6, 2, 4}, {5, 2, 4}, {1, 2, 1}, {0, 1, 1}, {2, 1, 9}}) {
      all.push_back({P, Time{L}, Time{o}, Time{g}});
    }
  }
  return all;
}

void expect_legal(const Schedule& schedule) {
  const Report report = verify(schedule);
  EXPECT_TRUE(report.legal()) << to_string(schedule.problem.kind) << " on " << to_string(schedule.machine) << "\n"
                              << to_string(report);
  EXPECT_EQ(report.rules, schedule.machine.is_postal() ? "postal" : "strict");
}

TEST(Legal, Items) {
  for (const LogP& machine : machines()) {
    const Rank last{static_cast<std::int32_t>(machine.P - 1)};
    for (const Rank root : {Rank{0}, last}) {
      expect_legal(examples::greedy_broadcast(machine, root));
      expect_legal(examples::star_scatter(machine, root));
      expect_legal(examples::star_gather(machine, root));
    }
    if (machine.o == Time{0}) expect_legal(examples::rotating_allgather(machine.P, machine.L));
    expect_legal(examples::rotating_alltoall(machine, 1));
    expect_legal(examples::rotating_alltoall(machine, 3));
    if (machine.P <= 16) expect_legal(examples::alltoall_round_the_ring(machine));
  }
}

TEST(Legal, Folds) {
  for (const LogP& machine : machines()) {
    expect_legal(examples::reversed_reduce(machine, true));
    expect_legal(examples::reversed_reduce(machine, false));
    expect_legal(examples::doubling_allreduce(machine));
    expect_legal(examples::ordered_allreduce(machine));
    expect_legal(examples::doubling_scan(machine, false));
    expect_legal(examples::doubling_scan(machine, true));
    expect_legal(examples::dissemination_barrier(machine));
    expect_legal(examples::ring_reduce_scatter(machine, 1, true));
    expect_legal(examples::ring_reduce_scatter(machine, 1, false));
    expect_legal(examples::ring_reduce_scatter(machine, 3, true));
    expect_legal(examples::ring_allreduce(machine, 2, true));
    expect_legal(examples::ring_allreduce(machine, 2, false));
  }
}

TEST(Legal, Sums) {
  for (const LogP& machine : machines()) expect_legal(examples::star_sum(machine));
}

TEST(Legal, Stream) { expect_legal(examples::small_stream()); }

TEST(Legal, TheReportSaysSoInOneLine) {
  const LogP machine{8, Time{6}, Time{2}, Time{4}};
  EXPECT_EQ(to_string(verify(examples::greedy_broadcast(machine, Rank{0}))),
            "legal under the strict rules, finish 24\n");
}

}  // namespace
}  // namespace chasqui
