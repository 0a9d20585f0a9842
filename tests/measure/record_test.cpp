// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "chasqui/base/error.hpp"
#include "measure/record/recorded_collective.hpp"

namespace chasqui::measure {
namespace {

// Two ranks: 0 sends two messages of one tag to 1, times as two clocks read them.
Log two_messages(std::int64_t found_first, std::int64_t found_second) {
  return {{{true, 1, 7, 64, 1000, 1100}, {true, 1, 7, 64, 1200, 1300}},
          {{false, 0, 7, 64, found_first, found_first + 50}, {false, 0, 7, 64, found_second, found_second + 50}}};
}

TEST(Recorded, TheNthSendMeetsTheNthReception) {
  const show::Timeline timeline = timeline_of(two_messages(1500, 1700), "t");
  ASSERT_EQ(timeline.messages.size(), 2u);
  EXPECT_EQ(timeline.messages[0].departs, Time{100});
  EXPECT_EQ(timeline.messages[0].arrives, Time{500});
  EXPECT_EQ(timeline.messages[1].arrives, Time{700});
  EXPECT_EQ(timeline.end, Time{750});
  EXPECT_EQ(timeline.left_out, 0);
}

TEST(Recorded, NothingArrivesBeforeItIsSent) {
  // The second was found by a call that began before it was sent; the first while its sender's call had not returned.
  const show::Timeline timeline = timeline_of(two_messages(1050, 1150), "t");
  for (const show::Message& message : timeline.messages) EXPECT_LE(message.departs, message.arrives);
  EXPECT_EQ(timeline.messages[0].departs, Time{50});
  EXPECT_EQ(timeline.messages[1].departs, Time{200});
  for (const show::Activity& activity : timeline.activities) EXPECT_LE(activity.begin, activity.end);
}

TEST(Recorded, ClocksThatDifferShowInTheShortestFlight) {
  EXPECT_EQ(shortest_flight(two_messages(1500, 1700)), 550);
  EXPECT_EQ(shortest_flight(two_messages(1050, 1150)), 0);
  EXPECT_EQ(shortest_flight(two_messages(1500, 1000)), -150);
  Log log = two_messages(0, 1700);
  log[1][0].end = 0;  // the first never completed; the second is still the second
  EXPECT_EQ(shortest_flight(log), 550);
  EXPECT_EQ(shortest_flight({{}, {}}), std::nullopt);
}

TEST(Recorded, AClockThatIsAheadIsSetBack) {
  Log log = two_messages(1'001'500, 1'001'700);  // rank 1's clock shows a millisecond more
  log[1].push_back({false, 0, 7, 8, 0, 0});      // never completed: stays so
  set_back(log[1], 1'000'000);
  const show::Timeline timeline = timeline_of(log, "t");
  EXPECT_EQ(timeline.messages[0].arrives, Time{500});
  EXPECT_EQ(timeline.messages[1].arrives, Time{700});
  EXPECT_EQ(timeline.left_out, 1);
}

TEST(Recorded, ReceptionsWithoutAMessageAreCounted) {
  Log log = two_messages(1500, 1700);
  log[1].push_back({false, 0, 9, 8, 1800, 1900});  // no such send
  log[1].push_back({false, 0, 7, 8, 0, 0});        // never completed
  EXPECT_EQ(timeline_of(log, "t").left_out, 2);
  EXPECT_EQ(span_of(log), (std::pair<std::int64_t, std::int64_t>{1000, 1900}));
}

TEST(Recorded, KnowsItsCollectives) {
  EXPECT_EQ(RecordedCollective{.collective = "scan"}.kind(), Kind::scan);
  EXPECT_EQ((RecordedCollective{.collective = "scan", .bytes = 9}.call(3).call().count), 2);
  EXPECT_THROW((void)RecordedCollective{.collective = "stream"}.kind(), Error);
  EXPECT_THROW((void)RecordedCollective{.collective = "relay"}.kind(), Error);
}

}  // namespace
}  // namespace chasqui::measure
