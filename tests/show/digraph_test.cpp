// SPDX-License-Identifier: MIT
#include "chasqui/show/digraph.hpp"

#include <gtest/gtest.h>

#include <map>

#include "chasqui/plan/stream_algorithms.hpp"

namespace chasqui::show {
namespace {

/// L = 3, P-1 = 41: the figure of the literature. Into and out of a block of r go r messages of each item.
TEST(BlockDigraph, OfTheSingleSendingScheduleBalancesAtEveryBlock) {
  const LogP machine = LogP::postal(42, Time{3});
  const auto sizes = plan::single_sending_blocks(42, 3);
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{9, 6, 5, 4, 3, 3, 2, 2, 2, 1, 1, 1, 1}));
  for (const std::int32_t root : {0, 7}) {
    const Schedule schedule = plan::single_sending(machine, 2, Rank{root})->schedule();
    const Digraph graph = block_digraph(schedule, sizes, Item{0});
    std::map<std::size_t, std::int64_t> in, out, thick_in;
    for (const Digraph::Edge& edge : graph.edges) {
      const std::int64_t weight = edge.thick ? 1 : std::stoll(edge.label);
      in[edge.to] += weight;
      out[edge.from] += weight;
      if (edge.thick) ++thick_in[edge.to];
    }
    for (std::size_t v = 1; v + 1 < graph.vertices.size(); ++v) {
      EXPECT_EQ(in[v], sizes[v - 1]);
      EXPECT_EQ(out[v], sizes[v - 1]);
      EXPECT_EQ(thick_in[v], 1);
    }
    EXPECT_EQ(graph.vertices.back().label, "0");
    EXPECT_EQ(in[graph.vertices.size() - 1], 1);
    EXPECT_EQ(out[graph.vertices.size() - 1], 0);
    EXPECT_NE(digraph_text(graph).find("source#0  ==> 9#1"), std::string::npos);
    const std::string picture = digraph_svg(graph);
    EXPECT_NE(picture.find(">in a circle: the ranks of a block;"), std::string::npos);
    EXPECT_EQ(picture.find("font-size=\"11\" text-anchor=\"middle\">source<"),
              std::string::npos);  // wider than its circle
    EXPECT_NE(picture.find(">source<"), std::string::npos);
  }
}

TEST(Digraph, DrawsLoopsMarksAndLabels) {
  const Digraph graph{
      "letters", {{"ca", true}, {"ab", false}}, {{0, 1, "b", false}, {1, 1, "b", false}, {1, 0, "", true}}};
  EXPECT_EQ(digraph_text(graph), "letters\n       ca*#0  --b--> ab#1\n        ab#1  --b--> ab#1  ==> ca*#0\n");
  EXPECT_NE(digraph_svg(graph).find(">ca<"), std::string::npos);
}

}  // namespace
}  // namespace chasqui::show
