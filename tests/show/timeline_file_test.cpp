// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "chasqui/base/error.hpp"
#include "chasqui/show/draw.hpp"
#include "chasqui/show/timeline.hpp"

namespace chasqui::show {
namespace {

Timeline sample() {
  Timeline timeline;
  timeline.title = "a \"run\" of two\n";
  timeline.P = 2;
  timeline.end = Time{30};
  timeline.measured = true;
  timeline.ticks_per_microsecond = 1000;
  timeline.messages = {{Rank{0}, Rank{1}, Time{5}, Time{20}, {64, 1}, {}}};
  timeline.activities = {{Rank{0}, Doing::send, Time{0}, Time{5}, 0, 1},
                         {Rank{1}, Doing::compute, Time{3}, Time{4}, -1, 2},
                         {Rank{1}, Doing::receive, Time{20}, Time{30}, 0, 1}};
  return timeline;
}

TEST(TimelineFile, ReadsWhatItWrote) {
  const std::string text = timeline_json(sample());
  EXPECT_TRUE(is_timeline(text));
  const Timeline again = timeline_from_json(text, "x.json");
  EXPECT_EQ(timeline_json(again), text);
  EXPECT_EQ(again.title, sample().title);
  EXPECT_EQ(trace_json(again), trace_json(sample()));
  EXPECT_EQ(carried(again.messages[0], again), "64 bytes");
}

/// Clusters: boards and the bands of nodes.
TEST(TimelineFile, KeepsBoardsAndNodes) {
  Timeline timeline = sample();
  timeline.activities.push_back({Rank{0}, Doing::publish, Time{6}, Time{7}, -1, 1});
  timeline.activities.push_back({Rank{1}, Doing::read, Time{7}, Time{8}, -1, 1});
  timeline.nodes = {0, 1};
  normalise(timeline);
  const std::string text = timeline_json(timeline);
  const Timeline again = timeline_from_json(text, "x.json");
  EXPECT_EQ(timeline_json(again), text);
  EXPECT_EQ(again.nodes, timeline.nodes);
  EXPECT_EQ(chart_svg(again), chart_svg(timeline));
  std::string bad = text;
  bad.replace(bad.find("[0, 1],"), 7, "[0, 2],");
  EXPECT_THROW(timeline_from_json(bad, "x.json"), Error);
}

TEST(TimelineFile, ItsTitleStaysAmongItsWords) {
  Timeline timeline = sample();
  timeline.title = "a\nb\x1b[31m\"c\\ \xc2\x9b";
  const std::string trace = trace_json(timeline);
  EXPECT_NE(trace.find(R"("title": "a\nb\u001b[31m\"c\\ \u009b")"), std::string::npos) << trace;
  EXPECT_NE(trace.find(R"("args": {"name": "a\nb\u001b[31m)"), std::string::npos) << trace;
  EXPECT_EQ(chart_text(timeline, {}).find("a b [31m\"c\\   \n"), 0u);
  EXPECT_EQ(chart_svg(timeline).find('\x1b'), std::string::npos);
}

TEST(TimelineFile, KeysHaveNoOrderAndTimesAUnit) {
  std::string text = timeline_json(sample());
  text.replace(text.find("\"chasqui_timeline\": 1, "), 23, "");
  text.replace(text.rfind("]}"), 2, "], \"chasqui_timeline\": 1}");
  EXPECT_TRUE(is_timeline(text));
  const Timeline timeline = timeline_from_json(text, "x.json");
  EXPECT_NE(chart_text(timeline, {}).find("times in ns"), std::string::npos);
  EXPECT_NE(chart_text(timeline, {.width = 20}).find("a column is 2 ns"), std::string::npos)
      << chart_text(timeline, {.width = 20});
  EXPECT_NE(chart_svg(timeline).find("times in ns"), std::string::npos);
}

TEST(TimelineFile, IsNoSchedule) {
  EXPECT_FALSE(is_timeline(R"({"chasqui":1})"));
  EXPECT_FALSE(is_timeline(""));
  EXPECT_FALSE(is_timeline("{"));
  EXPECT_FALSE(is_timeline("[1]"));
}

TEST(TimelineFile, BadFilesAreRefusedWithTheirName) {
  const auto complaint = [](std::string text, const std::string& from, const std::string& to) -> std::string {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    try {
      timeline_from_json(text, "x.json");
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  const std::string good = timeline_json(sample());
  EXPECT_NE(complaint(good, "\"P\": 2", "\"P\": 1").find("x.json: a rank is 1"), std::string::npos);
  EXPECT_NE(complaint(good, "\"P\": 2", "\"P\": 0").find("P is 0"), std::string::npos);
  EXPECT_NE(complaint(good, "line\": 1", "line\": 2").find("another version"), std::string::npos);
  EXPECT_NE(complaint(good, "[0, 1, 5, 20", "[0, 1, 5, 4").find("an arrival is 4"), std::string::npos);
  EXPECT_NE(complaint(good, "[0, 0, 0, 5, 0", "[0, 0, 0, 5, 1").find("a message is 1"), std::string::npos);
  EXPECT_NE(complaint(good, "[0, 0, 0, 5, 0, 1]", "[0, 0]").find("list of 6"), std::string::npos);
  EXPECT_NE(complaint(good, "\"messages\"", "\"letters\"").find("no \"messages\""), std::string::npos);
  EXPECT_NE(complaint(good, "]}", "]").find("the text ends too early"), std::string::npos);
  EXPECT_NE(complaint(good, "microsecond\": 1000", "microsecond\": 0").find("not a number above 0"), std::string::npos);
}

}  // namespace
}  // namespace chasqui::show
