// SPDX-License-Identifier: MIT
// The report's parts: plots and pages.
#include "chasqui/show/page.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "chasqui/show/draw.hpp"
#include "chasqui/show/plot.hpp"
#include "show/xml.hpp"

namespace chasqui::show {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Plot, DrawsEveryPointAndNamesEveryCurve) {
  const Plot plot{
      "title <1>",
      "bytes",
      "µs",
      {{"ours", {{8, 1, 0.5, 2}, {64, 2, 2, 2}, {512, 3, 3, 3}}}, {"predicted", {{8, 1, 0, 0}, {64, 2, 0, 0}}, true}}};
  const std::string svg = plot_svg(plot);
  EXPECT_EQ(count(svg, "<circle class=\"cq-mark0\""), 3U + 1U);     // and the legend
  EXPECT_EQ(count(svg, "<line class=\"cq-line0\""), 2U + 1U + 1U);  // segments, one interval, the legend
  EXPECT_EQ(count(svg, "<line class=\"cq-dash1\""), 1U + 1U);
  EXPECT_NE(svg.find(">ours<"), std::string::npos);
  EXPECT_NE(svg.find("title &lt;1&gt;"), std::string::npos);
}

TEST(Plot, LargerValuesAreHigher) {
  const std::string svg = plot_svg({"", "", "", {{"c", {{8, 10, 10, 10}, {64, 1000, 1000, 1000}}}}});
  const auto height = [&](int which) {
    std::size_t at = 0;
    for (int i = 0; i <= which; ++i) at = svg.find("<circle", at + 1);
    return std::stod(svg.substr(svg.find("cy=\"", at) + 4));
  };
  EXPECT_GT(height(0), height(1));
}

TEST(Plot, WhatHasNoPlaceIsLeftOut) {
  EXPECT_NE(plot_svg({"empty", "", "", {}}).find("nothing was measured"), std::string::npos);
  const double inf = std::numeric_limits<double>::infinity();
  const std::string svg =
      plot_svg({"odd", "", "", {{"c", {{0, 1, 1, 1}, {8, -1, 0, 0}, {8, inf, inf, inf}, {8, 5, 5, 5}}}}});
  EXPECT_EQ(count(svg, "<circle"), 1U + 1U);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

TEST(Plot, ANameKeepsItsColour) {
  const Plot plot{"t", "bytes", "µs", {{"ours", {{8, 1, 1, 1}}, false, 0}, {"binomial", {{8, 2, 2, 2}}, false, 3}}};
  const std::string svg = plot_svg(plot);
  EXPECT_EQ(count(svg, "class=\"cq-mark3\""), 2U);  // the point and the legend
  EXPECT_EQ(count(svg, "class=\"cq-mark1\""), 0U);
}

TEST(Bars, LengthsAreInProportionAndValuesAreWritten) {
  const std::string svg =
      bars_svg("a <b>", "µs",
               {{"ours", 1, 0, false}, {"predicted", 1.1, 1, true}, {"native", 4, 2, false}, {"bad", NAN, 3, false}});
  const auto length = [&](const std::string& style) {
    const auto at = svg.find("width=\"", svg.find("<rect class=\"cq-" + style)) + 7;
    return std::stod(svg.substr(at));
  };
  EXPECT_NEAR(length("mark2"), 4 * length("mark0"), 0.5);
  EXPECT_EQ(count(svg, "<line class=\"cq-dash1\""), 3U);
  EXPECT_NE(svg.find("4.00 µs"), std::string::npos);
  EXPECT_NE(svg.find("a &lt;b&gt;"), std::string::npos);
  EXPECT_EQ(test::xml_problem(svg), "");
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(Page, SentencesBecomeCardsAndSmallDrawingsShrink) {
  Page page("t", "l");
  page.links({"A name"});
  page.table({"what", "why"}, {{"x", "because it is so, and for no other reason at all"}});
  page.table({"size", "µs"}, {{"4 KiB", "1.0"}});
  page.figures({"<svg xmlns=\"\" width=\"300\"></svg>", "<svg xmlns=\"\" width=\"900\"></svg>"});
  const std::string html = page.html();
  EXPECT_EQ(count(html, "data-of=\"why\""), 1U);
  EXPECT_EQ(count(html, "class=\"wide wordy\""), 1U);
  EXPECT_EQ(count(html, "data-of=\"µs\""), 0U);
  EXPECT_EQ(count(html, "<svg class=\"large\""), 1U);
  EXPECT_NE(html.find("<a href=\"#a-name\">A name</a>"), std::string::npos);
  EXPECT_EQ(count(html, "tabindex"), count(html, "role=\"region\" aria-label"));
}

TEST(Page, AWideTreeHasAMarkAtItsRoot) {
  Page page("t", "l");
  Tree tree;
  tree.nodes.resize(20);
  for (int child = 1; child < 20; ++child) {
    tree.nodes[static_cast<std::size_t>(child)].parent = 0;
    tree.nodes[static_cast<std::size_t>(child)].depth = 1;
    tree.nodes[0].children.push_back(child);
  }
  tree.title = "a < b";
  const std::string wide = tree_svg(tree);
  tree.nodes.resize(1);
  tree.nodes[0].children.clear();
  page.figures({wide, tree_svg(tree), plot_svg({"p", "", "", {}})});
  const std::string html = page.html();
  ASSERT_EQ(count(html, "<div class=\"rooted\""), 1U) << "neither what fits a phone nor a plot";
  const double mark = std::stod(html.substr(html.find("<i style=\"left:") + 15));
  const double width = std::stod(wide.substr(wide.find(" width=\"") + 8));
  EXPECT_NEAR(mark, width / 2, 60) << "one of " << width << ": the root stands above the middle of its children";
  EXPECT_EQ(count(html, "<p class=\"called\">a &lt; b<span>in a node: "), 1U)
      << "its title stays in sight, what fits has it inside";
}

TEST(Page, IsSelfContainedAndEscapes) {
  Page page("A & B", "lead");
  page.section("First part");
  page.heading("x < y", "optimal");
  page.table({"name", "value", "words"}, {{"a", "1", "a sentence that needs a line of its own"}, {"b", "–", "b"}});
  page.figures({plot_svg({"p", "", "", {}})}, "caption");
  page.numbers({{"7", "of <11>"}});
  const std::string html = page.html();
  for (const char* part : {"<!doctype html>", "prefers-color-scheme:dark", "@media print", "<title>A &amp; B</title>",
                           "<a href=\"#first-part\">", "id=\"first-part\"", "x &lt; y", "of &lt;11&gt;",
                           "<td class=\"n\" data-of=\"value\">1</td>"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
  for (const char* stranger : {"<script", "src=", "<link", "@import", "url(http"}) {
    EXPECT_EQ(html.find(stranger), std::string::npos) << stranger;
  }
}

}  // namespace
}  // namespace chasqui::show
