// SPDX-License-Identifier: MIT
// The layout of a step: nothing overlaps, and what is said not to fit does not.
#include "plan/clusters/exchange/step_layout.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "chasqui/base/arithmetic.hpp"
#include "plan/cluster_samples.hpp"

namespace chasqui::plan {
namespace {

Cluster any_cluster() {
  LogP base{1, Time{any_of(0, 60)}, Time{any_of(0, 6)}, Time{any_of(1, 9)}};
  if (base.lambda() == Time{0}) base.L = Time{1};
  return Cluster::uniform(2, 2, base, Time{0}, Time{any_of(0, 7)}, Time{any_of(0, 7)});
}

struct Busy {
  std::int64_t begin = 0, length = 0;
};

/// Everything that is in the step; nothing that takes no time.
std::vector<Busy> all_of(const StepSlots& layout, std::int64_t o, std::int64_t publications, std::int64_t readings) {
  std::vector<Busy> all;
  if (o > 0) all = {{0, o}, {layout.receiving.begin, layout.receiving.length}};
  for (std::int64_t i = 0; i < publications; ++i) all.push_back({layout.publications.at(i), layout.publications.each});
  for (std::int64_t i = 0; i < readings; ++i) all.push_back({layout.readings.at(i), layout.readings.each});
  all.erase(std::remove_if(all.begin(), all.end(), [](const Busy& b) { return b.length == 0; }), all.end());
  std::sort(all.begin(), all.end(), [](const Busy& a, const Busy& b) { return a.begin < b.begin; });
  return all;
}

/// Is there a way to share the publications and readings out between the pauses before and after the reception?
bool fits(const Cluster& c, std::int64_t length, const Receiving& receiving, std::int64_t publications,
          std::int64_t readings) {
  const std::int64_t o = c.base.o.ticks, p = c.nodes.publish.ticks, r = c.nodes.read.ticks;
  const std::int64_t before = o == 0 ? 0 : receiving.begin - o;
  const std::int64_t after = o == 0 ? length : length - receiving.begin - receiving.length;
  for (std::int64_t x = 0; x <= publications; ++x) {
    for (std::int64_t y = 0; y <= readings; ++y) {
      if (x * p + y * r <= before && (publications - x) * p + (readings - y) * r <= after) return true;
    }
  }
  return false;
}

RC_GTEST_PROP(StepLayout, NothingOverlaps, ()) {
  const Cluster c = any_cluster();
  const std::int64_t publications = any_of(0, 9), readings = any_of(0, 9), length = any_of(1, 120);
  const Receiving receiving = reception_in_step(c.base, length);
  const auto layout = step_slots(c, length, receiving, publications, readings);
  RC_ASSERT(layout.has_value() == fits(c, length, receiving, publications, readings));
  if (!layout) return;
  RC_ASSERT(layout->length == length);
  std::int64_t end = 0;
  for (const Busy& busy : all_of(*layout, c.base.o.ticks, publications, readings)) {
    RC_ASSERT(busy.begin >= end);
    end = busy.begin + busy.length;
  }
  RC_ASSERT(end <= length);
  const std::int64_t skipped = any_of(0, readings);
  for (std::int64_t i = skipped; i < readings; ++i) {
    RC_ASSERT(layout->readings.from(skipped).at(i - skipped) == layout->readings.at(i));
    RC_ASSERT(i == 0 || layout->readings.at(i - 1) <= layout->readings.at(i));
  }
}

RC_GTEST_PROP(StepLayout, TheShortestLengthsAreFound, ()) {
  const Cluster c = any_cluster();
  const std::int64_t o = c.base.o.ticks, there = (c.base.L + c.base.o).ticks;
  const std::int64_t away = any_of(0, there), least = std::max<std::int64_t>(2 * away, any_of(1, 40));
  std::int64_t length = least;
  while (there % length < away || there % length > length - away) ++length;
  if (away > 0) RC_ASSERT(length_apart(c.base, least, away) == length);
  const std::int64_t publications = any_of(0, 9), readings = any_of(0, 9);
  const std::int64_t from = std::max<std::int64_t>(2 * o, any_of(1, 40));
  std::int64_t shortest = from;
  while (!fits(c, shortest, reception_in_step(c.base, shortest), publications, readings)) ++shortest;
  const StepSlots step = short_step(c, from, publications, readings);
  RC_ASSERT(step.length == shortest);
}

/// Ticks of a nanosecond or less, and many readings: the search is not one tick after another.
TEST(StepLayout, LongTimesAreNoLongSearch) {
  const LogP base{1, Time{987'654'321'987}, Time{2'000'000'003}, Time{4'000'000'019}};
  const Cluster c = Cluster::uniform(2, 1'000'000, base, Time{17}, Time{700'000'001}, Time{500'000'003});
  const std::int64_t readings = 999'999, publish = c.nodes.publish.ticks, read = c.nodes.read.ticks;
  const std::int64_t work = 2 * base.o.ticks + publish + readings * read;
  const StepSlots step = short_step(c, base.gap().ticks, 1, readings);
  EXPECT_GE(step.length, work);
  EXPECT_LE(step.length, work + publish + publish / 256);
  EXPECT_LE(step.readings.at(readings - 1) + read, step.length);
}

}  // namespace
}  // namespace chasqui::plan
