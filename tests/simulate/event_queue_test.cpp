// SPDX-License-Identifier: MIT
#include "simulate/event_queue.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

#include "simulate/batch.hpp"

namespace chasqui::simulate {
namespace {

// Against std::multimap, which keeps equal keys in the order they came.
TEST(EventQueue, GivesEventsByTimeAndThoseOfOneTimeInTheirOrder) {
  EXPECT_TRUE(rc::check("queue = multimap", [] {
    const auto widest = *rc::gen::inRange(1, 60);  // bits of a step: from the lowest wheel to the highest
    EventQueue queue;
    std::multimap<std::int64_t, std::uint32_t> expected;
    std::uint32_t next = 0;
    const auto push = [&] {
      const auto step = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << widest);
      const std::int64_t time = queue.time().ticks + step;
      queue.push({Time{time}, Rank{0}, next});
      expected.emplace(time, next++);
    };
    for (int i = 0; i < 300; ++i) push();
    while (!queue.empty()) {
      EventQueue::Chunk* const batch = queue.take();
      for (const auto* chunk = batch; chunk != nullptr; chunk = chunk->next) {
        for (std::uint32_t i = 0; i < chunk->count; ++i) {
          RC_ASSERT(!expected.empty());
          RC_ASSERT(chunk->events[i].time == queue.time());
          RC_ASSERT(expected.begin()->first == queue.time().ticks);
          RC_ASSERT(expected.begin()->second == chunk->events[i].message);
          expected.erase(expected.begin());
        }
      }
      queue.recycle(batch);
      RC_ASSERT(expected.empty() || expected.begin()->first > queue.time().ticks);
      while (next < 1000 && queue.time().ticks < std::int64_t{1} << 61 && *rc::gen::inRange(0, 3) > 0) push();
    }
    RC_ASSERT(expected.empty());
  }));
}

TEST(Batch, BlocksHoldNeighboursAndKeepTheOrderOfEachRank) {
  constexpr std::int64_t P = 100'000;
  EventQueue queue;
  for (std::uint32_t m = 0; m < 20'000; ++m) {
    queue.push({Time{7}, Rank{static_cast<std::int32_t>((std::int64_t{m} * m * 31 + m) % P)}, m});
  }
  Batch batch(P);
  for (int again = 0; again < 2; ++again) {
    EventQueue::Chunk* const events = queue.take();
    batch.gather(events);
    ASSERT_EQ(batch.size(), 20'000u);
    std::map<std::int32_t, std::uint32_t> last;
    std::int32_t highest = -1;
    std::uint32_t seen = 0;
    batch.for_each_block([&](std::uint32_t first, std::uint32_t end) {
      std::int32_t high = highest;
      for (std::uint32_t i = first; i < end; ++i, ++seen) {
        const Batch::Entry& entry = batch.entry(i);
        EXPECT_GT(entry.rank.index, highest) << "a rank of an earlier block";
        high = std::max(high, entry.rank.index);
        const auto [before, first_of_rank] = last.try_emplace(entry.rank.index, entry.message);
        EXPECT_TRUE(first_of_rank || before->second < entry.message);
        before->second = entry.message;
      }
      highest = high;
    });
    EXPECT_EQ(seen, 20'000u);
    for (std::uint32_t m = 0; again == 0 && m < 20'000; ++m) {
      queue.push({Time{9}, Rank{static_cast<std::int32_t>((std::int64_t{m} * 77) % P)}, m});
    }
    queue.recycle(events);
  }
}

}  // namespace
}  // namespace chasqui::simulate
