// SPDX-License-Identifier: MIT
// The two ways to read a plan, held against each other: all local forms together are the materialised schedule.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

inline void expect_local_forms_equal_schedule(const Plan& plan) {
  const Schedule schedule = plan.schedule();
  ASSERT_TRUE(std::is_sorted(schedule.sends.begin(), schedule.sends.end())) << to_string(plan.machine());
  std::vector<Send> sent;
  std::vector<Send> received;
  std::vector<Add> added;
  std::vector<Publication> published;
  std::vector<Reading> read;
  for (std::int32_t r = 0; r < plan.machine().P; ++r) {
    const LocalForm local = plan.local(Rank{r});
    EXPECT_EQ(local.rank, Rank{r});
    const auto in_time_order = [](const auto& a, const auto& b) { return a.begin < b.begin; };
    EXPECT_TRUE(std::is_sorted(local.sends.begin(), local.sends.end(), in_time_order)) << "rank " << r;
    EXPECT_TRUE(std::is_sorted(local.receives.begin(), local.receives.end(), in_time_order)) << "rank " << r;
    EXPECT_TRUE(std::is_sorted(local.adds.begin(), local.adds.end(), in_time_order)) << "rank " << r;
    for (const Send& send : local.sends) EXPECT_EQ(send.from, Rank{r});
    for (const Send& send : local.receives) EXPECT_EQ(send.to, Rank{r});
    if (!schedule.operands.empty()) {
      EXPECT_EQ(local.operands, schedule.operands[static_cast<std::size_t>(r)]) << "rank " << r;
    }
    sent.insert(sent.end(), local.sends.begin(), local.sends.end());
    received.insert(received.end(), local.receives.begin(), local.receives.end());
    added.insert(added.end(), local.adds.begin(), local.adds.end());
    EXPECT_TRUE(std::is_sorted(local.publications.begin(), local.publications.end(), in_time_order)) << "rank " << r;
    EXPECT_TRUE(std::is_sorted(local.readings.begin(), local.readings.end(), in_time_order)) << "rank " << r;
    for (const Publication& publication : local.publications) EXPECT_EQ(publication.rank, Rank{r});
    for (const Reading& reading : local.readings) EXPECT_EQ(reading.rank, Rank{r});
    published.insert(published.end(), local.publications.begin(), local.publications.end());
    read.insert(read.end(), local.readings.begin(), local.readings.end());
  }
  std::sort(sent.begin(), sent.end());
  std::sort(received.begin(), received.end());
  std::sort(added.begin(), added.end());
  std::sort(published.begin(), published.end());
  std::sort(read.begin(), read.end());
  EXPECT_TRUE(sent == schedule.sends) << to_string(plan.machine()) << ": sends differ";
  EXPECT_TRUE(received == schedule.sends) << to_string(plan.machine()) << ": receptions differ";
  EXPECT_TRUE(added == schedule.adds) << to_string(plan.machine()) << ": additions differ";
  EXPECT_TRUE(published == schedule.publications) << to_string(plan.machine()) << ": publications differ";
  EXPECT_TRUE(read == schedule.readings) << to_string(plan.machine()) << ": readings differ";
}

}  // namespace chasqui::plan
