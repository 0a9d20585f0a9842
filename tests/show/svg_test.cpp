// SPDX-License-Identifier: MIT
// Pictures as documents: well formed whatever the schedule says, nothing outside the canvas, the trace is JSON.
#include "show/svg.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "chasqui/show/draw.hpp"
#include "show/axis.hpp"
#include "show/samples.hpp"
#include "show/tree_layout.hpp"
#include "show/xml.hpp"

namespace chasqui::show {
namespace {

using test::paper_broadcast;
using test::Sends;

constexpr Picture kPictures[] = {Picture::tree, Picture::chart, Picture::table, Picture::summary};

TEST(Svg, EscapesText) {
  Svg svg;
  svg.text(1, 2, "a<b & \"c\"", "text");
  const std::string document = svg.document(10, 10, "<&>", "d");
  EXPECT_EQ(test::xml_problem(document), "");
  EXPECT_NE(document.find("a&lt;b &amp; &quot;c&quot;"), std::string::npos);
}

TEST(Svg, ThePaperTreeHasALabelForEveryNode) {
  const std::string svg = tree_svg(tree_of(paper_broadcast()));
  EXPECT_EQ(test::xml_problem(svg), "");
  for (const char* label : {">0<", ">10<", ">14<", ">18<", ">20<", ">22<", ">24<"}) {
    EXPECT_NE(svg.find(label), std::string::npos) << label;
  }
  EXPECT_EQ(test::occurrences(svg, "class=\"cq-edge\""), 7);
  EXPECT_EQ(test::occurrences(svg, "class=\"cq-node\"") + test::occurrences(svg, "class=\"cq-root\""), 8);
}

TEST(Svg, TheChartHasABarForEveryOverheadAndAnArrowForEveryMessage) {
  const std::string svg = chart_svg(timeline_of(paper_broadcast()));
  EXPECT_EQ(test::occurrences(svg, "class=\"cq-arrow\""), 7);
  EXPECT_EQ(test::occurrences(svg, "P0 sends item 0"), 4);
  EXPECT_EQ(test::occurrences(svg, "receives item 0"), 7);
}

TEST(Svg, TheLegendOfAChartShowsWhatIsDrawn) {
  const auto before_rows = [](const Schedule& schedule) {  // the legend stands before the rows
    const std::string svg = chart_svg(timeline_of(schedule));
    return svg.substr(0, svg.find(">P0<"));
  };
  const std::string bars = before_rows(paper_broadcast());
  EXPECT_NE(bars.find(">s  send<"), std::string::npos);
  EXPECT_EQ(test::occurrences(bars, "<path class=\"cq-send\""), 0);
  const std::string triangles =
      before_rows(Sends(LogP::postal(2, Time{1}), {Kind::broadcast}, Time{1}).item(0, 0, 1, 0));
  EXPECT_NE(triangles.find(">send<"), std::string::npos);
  EXPECT_EQ(test::occurrences(triangles, "<path class=\"cq-send\""), 1);
  EXPECT_EQ(test::occurrences(triangles, "<path class=\"cq-receive\""), 1);
}

/// The bars of a rank that begin at `begin`: top and height, by title.
std::map<std::string, std::pair<double, double>> bars_of(const std::string& svg, const std::string& rank) {
  std::map<std::string, std::pair<double, double>> bars;
  const std::regex bar(
      "<rect class=\"cq-[a-z]+\"[^>]* y=\"([0-9.]+)\"[^>]* height=\"([0-9.]+)\"[^>]*><title>(P[^<]*)</title>");
  for (std::sregex_iterator i(svg.begin(), svg.end(), bar), end; i != end; ++i) {
    if ((*i)[3].str().rfind(rank + " ", 0) == 0) bars[(*i)[3]] = {std::stod((*i)[1]), std::stod((*i)[2])};
  }
  return bars;
}

/// Nothing that a rank does hides what else it does, however illegal: at 2 every rank sends and receives.
TEST(Svg, BarsOfARankThatOverlapStandSideBySide) {
  Sends sends({3, Time{1}, Time{1}, Time{2}}, {Kind::allgather}, Time{5});
  for (int r = 0; r < 3; ++r) sends.item(0, r, (r + 1) % 3, r).item(2, r, (r + 2) % 3, r);
  const auto bars = bars_of(chart_svg(timeline_of(sends)), "P0");
  ASSERT_EQ(bars.size(), 4u);
  const auto [first_top, whole] = bars.at("P0 sends item 0 to P1, 0 to 1");
  const auto [send_top, send_height] = bars.at("P0 sends item 0 to P2, 2 to 3");
  const auto [receive_top, receive_height] = bars.at("P0 receives item 2 from P2, 2 to 3");
  EXPECT_LE(send_top + send_height, receive_top + 0.01);
  EXPECT_DOUBLE_EQ(send_top, first_top);
  EXPECT_NEAR(send_height, whole / 2, 0.1);
  EXPECT_NEAR(receive_top + receive_height, first_top + whole, 0.1);
}

/// Whatever overlaps: a third bar takes a place that is free again, and what only touches has the row for itself.
TEST(Svg, AnyBarsOfARankAreApart) {
  EXPECT_TRUE(rc::check("no two bars of a rank cover the same place", [] {
    Timeline timeline;
    timeline.P = 1;
    for (int i = *rc::gen::inRange(1, 12); i > 0; --i) {
      const std::int64_t begin = *rc::gen::inRange(0, 20);
      const std::int64_t length = *rc::gen::inRange(0, 6);
      timeline.activities.push_back({Rank{0}, Doing::compute, Time{begin}, Time{begin + length}, -1, i});
    }
    timeline.end = Time{26};
    normalise(timeline);
    const auto bars = bars_of(chart_svg(timeline), "P0");  // titles differ by the count of additions
    std::vector<std::array<double, 4>> boxes;
    for (const auto& [title, place] : bars) {
      double count = 0, begin = 0, end = 0;
      if (std::sscanf(title.c_str(), "P0 adds %lf from %lf to %lf", &count, &begin, &end) != 3) RC_FAIL(title);
      if (begin < end) boxes.push_back({begin, end, place.first, place.first + place.second});
    }
    double tallest = 0;
    for (const auto& box : boxes) tallest = std::max(tallest, box[3] - box[2]);
    for (std::size_t a = 0; a < boxes.size(); ++a) {
      bool alone = true;
      for (std::size_t b = 0; b < boxes.size(); ++b) {
        if (a == b || boxes[a][0] >= boxes[b][1] || boxes[b][0] >= boxes[a][1]) continue;
        alone = false;
        RC_ASSERT(boxes[a][3] <= boxes[b][2] + 0.11 || boxes[b][3] <= boxes[a][2] + 0.11);
      }
      if (alone) RC_ASSERT(boxes[a][3] - boxes[a][2] > tallest - 0.1);
    }
  }));
}

/// How far two colours "#rrggbb" are apart, as the guidelines for accessible web pages have it: 1 to 21.
double contrast(const std::string& one, const std::string& other) {
  const auto luminance = [](const std::string& colour) {
    double sum = 0;
    for (const auto& [at, weight] : {std::pair{1, 0.2126}, {3, 0.7152}, {5, 0.0722}}) {
      const double part = std::stoi(colour.substr(static_cast<std::size_t>(at), 2), nullptr, 16) / 255.0;
      sum += weight * (part <= 0.03928 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4));
    }
    return sum;
  };
  const auto [dark, light] = std::minmax({luminance(one), luminance(other)});
  return (light + 0.05) / (dark + 0.05);
}

TEST(Svg, LettersOnBarsCanBeRead) {
  const Cluster cluster = Cluster::uniform(2, 2, {1, Time{5}, Time{1}, Time{2}}, Time{0}, Time{1}, Time{1});
  Schedule schedule;
  schedule.machine = cluster.base;
  schedule.nodes = cluster.nodes;
  schedule.publications = {{Time{0}, Rank{0}, {0, 1}}};
  const std::string svg = chart_svg(timeline_of(schedule));
  std::map<std::string, std::string> light, dark;  // class to colour
  const std::regex rule("\\n(@media|\\}\\n)|\\.cq-([a-z]+)\\{fill:(#[0-9a-f]{6})");
  bool in_dark = false;
  for (std::sregex_iterator i(svg.begin(), svg.end(), rule), end; i != end; ++i) {
    if ((*i)[1].matched) in_dark = (*i)[1] == "@media";
    else (in_dark ? dark : light)[(*i)[2]] = (*i)[3];
  }
  for (const char* doing : {"send", "receive", "compute", "publish", "read"}) {
    EXPECT_GE(contrast(light.at(doing), light.at("oncolour")), 4.5) << doing;
    EXPECT_GE(contrast(dark.at(doing), dark.at("oncolour")), 4.5) << doing << " on a dark screen";
  }
}

TEST(Svg, InstantsAreTriangles) {
  const std::string svg = chart_svg(timeline_of(Sends(LogP::postal(2, Time{3}), {Kind::broadcast}).item(0, 0, 1, 0)));
  EXPECT_EQ(test::occurrences(svg, "<path class=\"cq-send\""), 2);  // one in the legend
  EXPECT_EQ(test::occurrences(svg, "<path class=\"cq-receive\""), 2);
}

/// A node that publishes when it is entered: where nothing takes time, the reception stays in sight.
TEST(Svg, InstantsOnABoardAreTicks) {
  const Cluster cluster = Cluster::uniform(2, 2, {1, Time{5}, Time{0}, Time{2}}, Time{0}, Time{0}, Time{0});
  Schedule schedule;
  schedule.machine = cluster.base;
  schedule.nodes = cluster.nodes;
  const Part item{0, 1};
  schedule.sends = {{Time{0}, Rank{0}, Rank{2}, item}};
  schedule.publications = {{Time{0}, Rank{0}, item}, {Time{5}, Rank{2}, item}};
  schedule.readings = {{Time{0}, Rank{1}, Rank{0}, item}, {Time{5}, Rank{3}, Rank{2}, item}};
  const std::string svg = chart_svg(timeline_of(schedule));
  EXPECT_EQ(test::xml_problem(svg), "");
  EXPECT_EQ(test::occurrences(svg, "<path class=\"cq-receive\""), 2);  // one in the legend
  EXPECT_EQ(test::occurrences(svg, "<path class=\"cq-publish\""), 0);
  EXPECT_EQ(test::occurrences(svg, "P2 publishes, 5 to 5"), 1);
  EXPECT_EQ(test::occurrences(svg, "P3 reads"), 1);
}

TEST(Svg, DenseChartsStaySmall) {
  // 100 ranks, each sending to each other rank: more bars than are worth a shape of their own.
  Sends sends({100, Time{6}, Time{2}, Time{4}}, {Kind::allgather}, Time{500});
  for (int r = 0; r < 100; ++r) {
    for (int i = 1; i < 100; ++i) sends.item(4 * i, r, (r + i) % 100, r);
  }
  const std::string svg = chart_svg(timeline_of(sends));
  EXPECT_EQ(test::xml_problem(svg), "");
  EXPECT_LT(svg.size(), 1'200'000u);
  EXPECT_EQ(test::occurrences(svg, "<path class=\"cq-send\""), 100);
  EXPECT_NE(svg.find("9900 messages: arrows left out"), std::string::npos);
}

TEST(Trace, IsJsonWithFlowsThatPair) {
  for (const Schedule& schedule :
       {paper_broadcast(), Schedule(Sends(LogP::postal(2, Time{3}), {Kind::broadcast}).item(0, 0, 1, 0))}) {
    const nlohmann::json trace = nlohmann::json::parse(trace_json(timeline_of(schedule)));
    std::map<std::int64_t, std::pair<double, double>> flows;
    std::size_t slices = 0;
    for (const auto& event : trace.at("traceEvents")) {
      if (event.at("ph") == "X") {
        ++slices;
        EXPECT_GT(event.at("dur").get<double>(), 0);
      }
      if (event.at("ph") == "s") flows[event.at("id")].first = event.at("ts");
      if (event.at("ph") == "f") flows[event.at("id")].second = event.at("ts");
    }
    EXPECT_EQ(slices, 2 * schedule.sends.size());
    EXPECT_EQ(flows.size(), schedule.sends.size());
    for (const auto& [id, ends] : flows) EXPECT_LT(ends.first, ends.second) << id;
  }
}

/// Anything the types allow: ranks, items and times far outside the problem.
Schedule anything(bool wild) {
  const std::int64_t P = *rc::gen::inRange<std::int64_t>(1, 20);
  const std::int64_t far = wild ? 4'000'000'000'000'000'000 : 60;
  Schedule schedule;
  schedule.machine = {P, Time{*rc::gen::inRange(0, 9)}, Time{*rc::gen::inRange(0, 4)}, Time{*rc::gen::inRange(1, 9)}};
  schedule.problem.kind = static_cast<Kind>(*rc::gen::inRange(0, 10));
  schedule.problem.items = *rc::gen::inRange<std::int64_t>(1, wild ? far : 5);
  schedule.problem.root = Rank{*rc::gen::inRange<std::int32_t>(0, static_cast<std::int32_t>(P))};
  schedule.finish = Time{*rc::gen::inRange<std::int64_t>(-far, far)};
  schedule.period = Time{*rc::gen::inRange<std::int64_t>(0, wild ? far : 9)};
  schedule.delay = Time{*rc::gen::inRange<std::int64_t>(0, far)};
  const auto rank = [&] { return Rank{*rc::gen::inRange<std::int32_t>(-1, static_cast<std::int32_t>(P) + 1)}; };
  const auto small = [&] {
    return *rc::gen::inRange<std::int32_t>(wild ? -2'000'000'000 : 0, wild ? 2'000'000'000 : 9);
  };
  for (int i = *rc::gen::inRange(0, 30); i > 0; --i) {
    schedule.sends.push_back({Time{*rc::gen::inRange<std::int64_t>(wild ? -far : 0, far)},
                              rank(),
                              rank(),
                              {small(), small()},
                              {small(), *rc::gen::inRange(0, 2)}});
  }
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    schedule.adds.push_back(
        {Time{*rc::gen::inRange<std::int64_t>(0, far)}, rank(), rank(), *rc::gen::inRange<std::int64_t>(0, far)});
  }
  normalise(schedule);
  return schedule;
}

TEST(Pictures, AnySchedulesGiveWellFormedDocuments) {
  EXPECT_TRUE(rc::check("svg, text and trace of arbitrary schedules", [] {
    const Schedule schedule = anything(*rc::gen::arbitrary<bool>());
    for (const Picture what : kPictures) {
      const std::string svg = to_svg(schedule, what);
      RC_ASSERT(test::xml_problem(svg) == "");
      RC_ASSERT(svg.find("nan") == std::string::npos);
      RC_ASSERT(!to_text(schedule, {}, what).empty());
    }
    RC_ASSERT(nlohmann::json::accept(trace_json(timeline_of(schedule))));
  }));
}

TEST(TextChart, FitsItsWidth) {
  EXPECT_TRUE(rc::check("no line is wider than asked", [] {
    const Schedule schedule = anything(false);
    const int width = *rc::gen::inRange(72, 120);
    for (const Picture what : {Picture::chart, Picture::table}) {
      std::istringstream lines(to_text(schedule, {.utf8 = false, .colour = false, .width = width}, what));
      std::string line;
      std::getline(lines, line);  // the title, which is not broken
      for (int number = 1; std::getline(lines, line); ++number) {
        if (number > 2) RC_ASSERT(line.size() <= static_cast<std::size_t>(width));
      }
    }
  }));
}

TEST(TreeLayout, NeighboursKeepTheirDistance) {
  EXPECT_TRUE(rc::check("random trees", [] {
    const int count = *rc::gen::inRange(1, 120);
    Tree tree;
    tree.nodes.resize(static_cast<std::size_t>(count));
    for (int i = 1; i < count; ++i) {
      // A parent that comes before, as in breadth first order.
      auto& node = tree.nodes[static_cast<std::size_t>(i)];
      node.parent = *rc::gen::inRange(0, i);
      auto& parent = tree.nodes[static_cast<std::size_t>(node.parent)];
      node.depth = parent.depth + 1;
      parent.children.push_back(i);
    }
    const std::vector<double> at = tree_layout(tree);
    std::map<int, std::vector<double>> levels;
    for (std::size_t i = 0; i < at.size(); ++i) {
      RC_ASSERT(at[i] >= 0);
      levels[tree.nodes[i].depth].push_back(at[i]);
      const auto& children = tree.nodes[i].children;
      if (children.empty()) continue;
      const double middle =
          (at[static_cast<std::size_t>(children.front())] + at[static_cast<std::size_t>(children.back())]) / 2;
      RC_ASSERT(std::abs(at[i] - middle) < 1e-6);
    }
    for (auto& [depth, places] : levels) {
      std::sort(places.begin(), places.end());
      for (std::size_t i = 1; i < places.size(); ++i) RC_ASSERT(places[i] - places[i - 1] > 1 - 1e-6);
    }
  }));
}

TEST(Axis, NiceStepsWithinTheLimit) {
  EXPECT_EQ(nice_step(24, 12), 2);
  EXPECT_EQ(nice_step(24, 100), 1);
  EXPECT_EQ(nice_step(0, 5), 1);
  EXPECT_EQ(axis_marks(Time{-3}, Time{7}, 5).front(), Time{-2});
  EXPECT_TRUE(rc::check("few, inside, increasing", [] {
    const std::int64_t begin = *rc::gen::inRange<std::int64_t>(-4'000'000'000'000'000'000, 0);
    const std::int64_t end = *rc::gen::inRange<std::int64_t>(0, 4'000'000'000'000'000'000);
    const std::int64_t most = *rc::gen::inRange<std::int64_t>(1, 50);
    const std::vector<Time> marks = axis_marks(Time{begin}, Time{end}, most);
    RC_ASSERT(static_cast<std::int64_t>(marks.size()) <= most + 1);
    for (const Time mark : marks) RC_ASSERT(mark.ticks >= begin && mark.ticks <= end);
  }));
}

}  // namespace
}  // namespace chasqui::show
