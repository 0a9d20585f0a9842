// SPDX-License-Identifier: MIT
#include "chasqui/show/digraph.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "chasqui/base/error.hpp"
#include "show/svg.hpp"

namespace chasqui::show {

Digraph block_digraph(const Schedule& schedule, const std::vector<std::int64_t>& sizes, Item item) {
  const std::int64_t P = schedule.machine.P;
  std::vector<std::size_t> block_of = {0};  // by rank counted from the root
  Digraph graph;
  graph.title = fmt::format("Block transmission digraph, {}", to_string(schedule.machine));
  graph.legend =
      "in a circle: the ranks of a block; thick: to a rank that passes the item on; a number: messages to ranks that do not";
  graph.vertices.push_back({"source", false});
  for (const std::int64_t size : sizes) {
    block_of.insert(block_of.end(), static_cast<std::size_t>(size), graph.vertices.size());
    graph.vertices.push_back({fmt::format("{}", size), false});
  }
  if (static_cast<std::int64_t>(block_of.size()) == P - 1) {
    block_of.push_back(graph.vertices.size());
    graph.vertices.push_back({"0", false});
  }
  CHASQUI_CHECK(static_cast<std::int64_t>(block_of.size()) == P, "block_digraph: {} ranks, P={}", block_of.size(), P);
  std::set<Rank> senders;
  for (const Send& send : schedule.sends) {
    if (send.item() == item) senders.insert(send.from);
  }
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> thin;
  const auto block = [&](Rank rank) {
    return block_of[static_cast<std::size_t>((rank.index - schedule.problem.root.index + P) % P)];
  };
  for (const Send& send : schedule.sends) {
    if (send.item() != item) continue;
    if (senders.contains(send.to)) {
      graph.edges.push_back({block(send.from), block(send.to), "", true});
    } else {
      ++thin[{block(send.from), block(send.to)}];
    }
  }
  for (const auto& [ends, weight] : thin)
    graph.edges.push_back({ends.first, ends.second, fmt::format("{}", weight), false});
  return graph;
}

std::string digraph_text(const Digraph& graph) {
  std::string text = graph.title + "\n";
  const auto name = [&](std::size_t v) {
    return fmt::format("{}{}#{}", graph.vertices[v].label, graph.vertices[v].marked ? "*" : "", v);
  };
  for (std::size_t v = 0; v < graph.vertices.size(); ++v) {
    std::string line;
    for (const Digraph::Edge& edge : graph.edges) {
      if (edge.from != v) continue;
      line += edge.thick ? "  ==> " : fmt::format("  --{}--> ", edge.label);
      line += name(edge.to);
    }
    text += fmt::format("{:>12}{}\n", name(v), line);
  }
  return text;
}

std::string digraph_svg(const Digraph& graph) {
  const auto count = static_cast<double>(graph.vertices.size());
  const double radius = std::max(120.0, 22.0 * count / std::numbers::pi);
  const double centre = radius + 70;
  const double down = graph.legend.empty() ? 20 : 38;
  const double disc = 16;
  Svg svg;
  svg.text(16, 24, graph.title, "strong", Anchor::start, 15);
  if (!graph.legend.empty()) svg.text(16, 44, graph.legend, "dim", Anchor::start, 11);
  std::vector<std::pair<double, double>> places;
  for (std::size_t v = 0; v < graph.vertices.size(); ++v) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(v) / count - std::numbers::pi / 2;
    places.emplace_back(centre + radius * std::cos(angle), centre + down + radius * std::sin(angle));
  }
  for (const Digraph::Edge& edge : graph.edges) {
    const double x1 = places[edge.from].first;
    const double y1 = places[edge.from].second;
    const double x2 = places[edge.to].first;
    const double y2 = places[edge.to].second;
    const std::string what = fmt::format("{} to {}{}", graph.vertices[edge.from].label, graph.vertices[edge.to].label,
                                         edge.label.empty() ? "" : ": " + edge.label);
    if (edge.from == edge.to) {  // a loop: a small circle outside
      const double out = 1 + 1.9 * disc / radius;
      const double x = centre + (x1 - centre) * out;
      const double y = centre + down + (y1 - centre - down) * out;
      svg.circle(x, y, 11, "edge", what);
      svg.text(x, y + 4, edge.label, "dim", Anchor::middle, 10);
      continue;
    }
    const double length = std::hypot(x2 - x1, y2 - y1);
    const double ux = (x2 - x1) / length;
    const double uy = (y2 - y1) / length;
    // Two opposite edges lie side by side; a thick one is three lines.
    const double beside = 4;
    const auto draw = [&](double shift) {
      const double dx = -uy * shift;
      const double dy = ux * shift;
      svg.arrow(x1 + ux * disc + dx, y1 + uy * disc + dy, x2 - ux * (disc + 3) + dx, y2 - uy * (disc + 3) + dy, what);
    };
    draw(beside);
    if (edge.thick) {
      draw(beside - 1);
      draw(beside + 1);
    }
    if (!edge.label.empty()) {
      svg.text(x1 + ux * length * 0.72 - uy * 11, y1 + uy * length * 0.72 + ux * 11, edge.label, "dim", Anchor::middle,
               10);
    }
  }
  for (std::size_t v = 0; v < graph.vertices.size(); ++v) {
    svg.circle(places[v].first, places[v].second, disc, "node", graph.vertices[v].label);
    if (graph.vertices[v].marked) svg.circle(places[v].first, places[v].second, disc - 3, "edge");
    const std::string& label = graph.vertices[v].label;
    const double letters = text_width(label, 11) < 2 * disc ? 11 : 9;
    svg.text(places[v].first, places[v].second + 4, label, "text", Anchor::middle, letters);
  }
  const double size = 2 * centre;
  return svg.document(std::max({size, title_width(graph.title) + 32, text_width(graph.legend, 11) + 32}),
                      size + 20 + down, graph.title, graph.legend);
}

}  // namespace chasqui::show
