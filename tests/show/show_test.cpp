// SPDX-License-Identifier: MIT
// The values behind the pictures, on schedules made by hand.
#include <gtest/gtest.h>

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "chasqui/show/draw.hpp"
#include "show/samples.hpp"

namespace chasqui::show {
namespace {

using test::paper_broadcast;
using test::Sends;

std::vector<std::int64_t> labels(const Tree& tree) {
  std::vector<std::int64_t> result;
  for (const TreeNode& node : tree.nodes) result.push_back(node.label.ticks);
  std::sort(result.begin(), result.end());
  return result;
}

TEST(TreeOf, LabelsOfThePaper) {
  const Tree tree = tree_of(paper_broadcast());
  EXPECT_EQ(labels(tree), (std::vector<std::int64_t>{0, 10, 14, 18, 20, 22, 24, 24}));
  EXPECT_EQ(tree.nodes[0].children.size(), 4u);
  EXPECT_EQ(tree.unreached, 0);
}

TEST(TreeOf, OneItemOfMany) {
  const Schedule schedule = Sends(LogP::postal(3, Time{1}), {Kind::broadcast, Rank{0}, 2})
                                .item(0, 0, 1, 0)
                                .item(1, 0, 2, 1)
                                .item(1, 1, 2, 0)
                                .item(2, 2, 1, 1);
  const Tree second = tree_of(schedule, 1);
  ASSERT_EQ(second.nodes.size(), 3u);
  EXPECT_EQ(second.nodes[1].rank, Rank{2});
  EXPECT_EQ(second.nodes[2].rank, Rank{1});
  EXPECT_EQ(second.nodes[2].depth, 2);
  EXPECT_THROW(tree_of(schedule, 2), Error);
  EXPECT_THROW(tree_of(schedule, -1), Error);
}

TEST(TreeOf, ReductionLabelsAreSends) {
  const Schedule schedule =
      Sends(LogP::postal(3, Time{2}), {Kind::reduce}, Time{4}).fold(0, 2, 1, 2, 1).fold(2, 1, 0, 1, 2);
  const Tree tree = tree_of(schedule);
  EXPECT_EQ(labels(tree), (std::vector<std::int64_t>{0, 2, 4}));
  EXPECT_EQ(tree.nodes[1].rank, Rank{1});
}

TEST(TreeOf, WhatOneRankGivesAndWhatComesToOne) {
  // Rank 0's item for rank 2 goes by way of rank 1.
  const Schedule blocks = Sends(LogP::postal(3, Time{1}), {Kind::alltoall}, Time{4})
                              .item(0, 0, 1, 1)
                              .item(1, 0, 1, 2)
                              .item(2, 1, 2, 2)
                              .item(3, 2, 0, 6);
  const Tree given = tree_of(blocks, 0);
  EXPECT_EQ(labels(given), (std::vector<std::int64_t>{0, 1, 3}));
  EXPECT_EQ(given.nodes[2].parent, 1);
  EXPECT_EQ(tree_of(blocks, 2).nodes.size(), 2u);
  EXPECT_THROW(tree_of(blocks, 3), Error);
  // Item 3 is the second of rank 1.
  const Schedule folds = Sends(LogP::postal(3, Time{1}), {Kind::reduce_scatter, Rank{0}, 2}, Time{3})
                             .item(0, 2, 0, 3)
                             .item(1, 0, 1, 3)
                             .item(2, 2, 1, 2);
  const Tree tree = tree_of(folds, 3);
  ASSERT_EQ(tree.nodes.size(), 3u);
  EXPECT_EQ(tree.nodes[0].rank, Rank{1});
  EXPECT_EQ(tree.nodes[1].rank, Rank{0});
  EXPECT_EQ(tree.nodes[2].rank, Rank{2});
}

TEST(TreeOf, AllreduceIntoOneRankHoldsEveryRankOnce) {
  // P = 4, recursive doubling on a machine with latency 1.
  Sends sends(LogP::postal(4, Time{1}), {Kind::allreduce}, Time{2});
  for (int r = 0; r < 4; ++r) sends.fold(0, r, (r + 1) % 4, r, 1).fold(1, r, (r + 2) % 4, (r + 3) % 4, 2);
  const Tree tree = tree_of(sends, 3);
  ASSERT_EQ(tree.nodes.size(), 4u);
  EXPECT_EQ(tree.nodes[0].rank, Rank{3});
  // Rank 1 sends the fold of 0 and 1: what it had from rank 0.
  EXPECT_EQ(labels(tree), (std::vector<std::int64_t>{0, 0, 1, 2}));
}

TEST(TreeOf, CyclesAndStrangersAreLeftOut) {
  const Schedule schedule = Sends(LogP::postal(4, Time{1}), {Kind::broadcast})
                                .item(0, 1, 2, 0)
                                .item(0, 2, 1, 0)
                                .item(0, 0, 7, 0)
                                .item(0, -3, 1, 0)
                                .item(3, 0, 0, 0);
  const Tree tree = tree_of(schedule);
  EXPECT_EQ(tree.nodes.size(), 1u);
  EXPECT_EQ(tree.unreached, 3);
}

TEST(TimelineOf, OverheadsAndFlights) {
  const Timeline timeline = timeline_of(paper_broadcast());
  ASSERT_EQ(timeline.activities.size(), 14u);
  EXPECT_EQ(timeline.end, Time{24});
  EXPECT_EQ(timeline.activities[0].end, Time{2});
  EXPECT_EQ(timeline.messages[0].departs, Time{2});
  EXPECT_EQ(timeline.messages[0].arrives, Time{8});
  EXPECT_TRUE(std::is_sorted(timeline.activities.begin(), timeline.activities.end(),
                             [](const Activity& a, const Activity& b) { return a.rank < b.rank; }));
}

TEST(TimelineOf, StrangersAreCounted) {
  const Schedule schedule = Sends(LogP::postal(2, Time{1}), {Kind::broadcast}).item(0, 0, 1, 0).item(0, 0, 2, 0);
  EXPECT_EQ(timeline_of(schedule).left_out, 1);
  EXPECT_NE(chart_text(timeline_of(schedule), {}).find("1 messages are left out"), std::string::npos);
}

TEST(TimelineOf, ATraceShowsWhatHappened) {
  Trace trace;
  trace.schedule = paper_broadcast();
  for (const Send& send : trace.schedule.sends) {
    trace.times.push_back({send.begin + Time{1}, reception_begin(trace.schedule.machine, send) + Time{5}});
  }
  trace.times.back() = {kNever, kNever};
  trace.finish = Time{29};
  const Timeline timeline = timeline_of(trace);
  EXPECT_EQ(timeline.messages.size(), 6u);
  EXPECT_EQ(timeline.left_out, 1);
  EXPECT_EQ(timeline.messages[0].departs, Time{3});
  EXPECT_EQ(timeline.messages[0].arrives, Time{13});
  EXPECT_EQ(timeline.end, Time{29});
}

TEST(Carried, IntervalsWrap) {
  Timeline timeline;
  timeline.P = 5;
  EXPECT_EQ(carried({Rank{0}, Rank{1}, {}, {}, {3, 1}}, timeline), "item 3");
  timeline.combining = true;
  EXPECT_EQ(carried({Rank{0}, Rank{1}, {}, {}, {3, 1}}, timeline), "3");
  EXPECT_EQ(carried({Rank{0}, Rank{1}, {}, {}, {3, 4}}, timeline), "3..1");
  EXPECT_EQ(carried({Rank{0}, Rank{1}, {}, {}, {3, 2}, {0, 1}}, timeline), "3..4,0");
}

TEST(Stream, IsUnrolledFromItsPeriod) {
  // Two ranks, latency 2, an item a step: listed once, with a negative item.
  Schedule schedule = Sends(LogP::postal(2, Time{2}), {Kind::stream}).item(0, 0, 1, -3);
  schedule.period = Time{1};
  schedule.delay = Time{5};
  const ReceptionTable table = reception_table(schedule);
  ASSERT_FALSE(table.receptions.empty());
  EXPECT_EQ(table.receptions[0].part.lo, 0);
  EXPECT_EQ(table.receptions[0].time, Time{5});  // item 0 three periods after the listed item -3
}

TEST(ReceptionTable, ActiveFirstAndDelayedMarked) {
  // Rank 1 gets item 0 (to forward) and item 1 (not) at the same time: item 1 waits one step.
  const Schedule schedule =
      Sends(LogP::postal(3, Time{1}), {Kind::broadcast, Rank{0}, 2}).item(0, 0, 1, 0).item(0, 2, 1, 1).item(1, 1, 2, 0);
  const ReceptionTable table = reception_table(schedule);
  ASSERT_EQ(table.receptions.size(), 3u);
  EXPECT_TRUE(table.receptions[0].active);
  EXPECT_FALSE(table.receptions[0].delayed);
  EXPECT_EQ(table.receptions[0].time, Time{1});
  EXPECT_FALSE(table.receptions[1].active);
  EXPECT_TRUE(table.receptions[1].delayed);
  EXPECT_EQ(table.receptions[1].time, Time{2});
  EXPECT_NE(table_text(table, {}).find("0* 1'"), std::string::npos) << table_text(table, {});
}

TEST(Summary, CountsAndHistogram) {
  const Summary summary = summarise(paper_broadcast(), 4);
  EXPECT_EQ(summary.messages, 7);
  EXPECT_EQ(summary.most_sent, 4);
  EXPECT_EQ(summary.most_received, 1);
  std::int64_t total = 0;
  for (const Summary::Bucket& bucket : summary.histogram) total += bucket.receptions;
  EXPECT_EQ(total, 7);
  EXPECT_EQ(summary.histogram.back().to, Time{25});
  EXPECT_TRUE(summarise(Sends(LogP::postal(1, Time{1}), {Kind::broadcast})).histogram.empty());
}

TEST(Settle, LargeSchedulesBecomeSummaries) {
  Schedule schedule = paper_broadcast();
  schedule.machine.P = kLargestPicture;
  EXPECT_NE(to_text(schedule, {}, Picture::chart).find("send"), std::string::npos);
  schedule.machine.P = kLargestPicture + 1;
  EXPECT_NE(to_text(schedule, {}, Picture::chart).find("receptions by time"), std::string::npos);
  EXPECT_NE(to_svg(schedule, Picture::tree).find("too large to draw"), std::string::npos);
}

}  // namespace
}  // namespace chasqui::show
