// SPDX-License-Identifier: MIT
// SV Theorem 7.1 bounds the extra delay that shorter latencies can cause in its simple schedule by (L-1)·d(P-1), where d is
// the least depth of an optimal tree. It leaves out late senders and queued leaves; here are schedules of exactly that
// kind that are later, found and proved worst by the exact adversary (errata.md, Erratum 20).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "chasqui/plan/stream_algorithms.hpp"
#include "chasqui/plan/universal_tree.hpp"
#include "chasqui/solve/worst_case.hpp"
#include "chasqui/verify/verify.hpp"

namespace chasqui::solve {
namespace {

/// The least depth of an optimal tree on P nodes: the least d such that at least P nodes have a label up to B(P) and a
/// depth up to d. (SV Lemma 3.1 takes the depth of the left-most path, which need not be in the tree.)
std::int64_t least_depth(std::int64_t P, std::int64_t L) {
  const std::int64_t B = plan::broadcast_time({Time{L}, Time{1}}, P).ticks;
  std::int64_t nodes = 1;
  std::int64_t depth = 0;
  std::vector<std::int64_t> level = {0};
  while (nodes < P) {
    std::vector<std::int64_t> below;
    for (const std::int64_t label : level) {
      for (std::int64_t child = label + L; child <= B; ++child) below.push_back(child);
    }
    nodes += static_cast<std::int64_t>(below.size());
    level = below;
    ++depth;
  }
  return depth;
}

std::int64_t depth_of_lemma_31(std::int64_t P, std::int64_t L) {
  const std::int64_t B = plan::broadcast_time({Time{L}, Time{1}}, P).ticks + 1;  // SV's B counts from 1
  std::int64_t d = 0;
  while ((d + 1) * L + 1 <= B) ++d;
  return d;
}

/// SV's simple schedule for L = 2, P = 6, k items. The tree of latency 3 on 5 nodes is a root with leaves at labels 3, 4, 5, 6;
/// ranks 1..4 take turns as the root, and rank m receives the leaf `letter[j]` at the steps ≡ m + slot[j] (mod 4);
/// rank 5 only receives. Every message arrives one step before the step it is planned for.
Schedule simple_schedule(std::int32_t k) {
  constexpr std::array<std::int32_t, 3> letter = {3, 4, 6};
  constexpr std::array<std::int32_t, 3> slot = {2, 1, 0};
  constexpr std::int32_t to_source = 3;
  Schedule schedule;
  schedule.machine = LogP::postal(6, Time{2});
  schedule.problem = {.kind = Kind::broadcast, .items = k};
  for (std::int32_t i = 0; i < k; ++i) {
    const Rank root{1 + i % 4};
    schedule.sends.push_back(send_item(Time{i}, Rank{0}, root, i));
    for (std::int32_t label = 3; label <= 6; ++label) {
      Rank to{5};
      for (std::size_t j = 0; j < letter.size(); ++j) {
        if (letter[j] == label) to = Rank{1 + (i + label - slot[j] + 4) % 4};
      }
      schedule.sends.push_back(send_item(Time{i + to_source + label - 3}, root, to, i));
    }
  }
  normalise(schedule);
  schedule.finish = Time{k - 1 + 8};
  return schedule;
}

TEST(VaryingLatency, TheSimpleScheduleCanBeThreeLateWhereThePaperSaysOne) {
  const Schedule schedule = simple_schedule(12);
  const Report report = verify(schedule, {.receptions = Receptions::buffered});
  EXPECT_TRUE(report.legal()) << to_string(report);
  const WorstCase worst = worst_case_exact(schedule, {.lateness = Lateness::item});
  ASSERT_TRUE(worst.exact);
  EXPECT_EQ(worst.late, Time{3});
  const std::int64_t printed_bound = (2 - 1) * least_depth(5, 3);
  EXPECT_EQ(printed_bound, 1);
  EXPECT_GT(worst.late.ticks, printed_bound);
}

TEST(VaryingLatency, LatenessGrowsWithTheNumberOfItems) {
  // Ports are in use in every step: a step that is lost is never made up.
  const auto late = [](std::int64_t k) {
    const auto plan = plan::stream_algorithm("simple").items(LogP::postal(7, Time{2}), k, Rank{0});
    return worst_case_heuristic(plan->schedule(), {.lateness = Lateness::item, .plays = 6000}).late;
  };
  EXPECT_GT(late(12), Time{least_depth(6, 3)});
  EXPECT_GE(late(20), late(8));
}

TEST(VaryingLatency, Lemma31TakesTheWrongPath) {
  EXPECT_EQ(least_depth(5, 3), 1);
  bool differs = false;
  for (std::int64_t P = 2; P <= 40; ++P) differs = differs || least_depth(P, 2) != depth_of_lemma_31(P, 2);
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace chasqui::solve
