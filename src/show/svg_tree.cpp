// SPDX-License-Identifier: MIT
// The tree as SVG: top down while it is small, from left to right when it has many nodes.
#include <fmt/core.h>

#include <algorithm>

#include "chasqui/show/draw.hpp"
#include "show/svg.hpp"
#include "show/tree_layout.hpp"

namespace chasqui::show {
namespace {

constexpr std::size_t kTopDown = 64;
constexpr double kMargin = 24;
constexpr double kHeading = 64;

struct TreeGeometry {
  bool top_down;
  double across;  ///< between neighbours of one level
  double along;   ///< between levels
  double node_width;
  double node_height;
  double font;
};

std::string label_of(const TreeNode& node) { return fmt::format("{}", node.label.ticks); }

TreeGeometry geometry_of(const Tree& tree) {
  const bool top_down = tree.nodes.size() <= kTopDown;
  TreeGeometry geometry{top_down, 0, 0, 0, top_down ? 26.0 : 15.0, top_down ? 13.0 : 10.0};
  for (const TreeNode& node : tree.nodes) {
    geometry.node_width = std::max(geometry.node_width, text_width(label_of(node), geometry.font) + 12);
  }
  geometry.node_width = std::max(geometry.node_width, geometry.node_height);
  const double aside = tree.nodes.empty() || tree.nodes[0].operands < 0 ? 14 : 34;
  geometry.across = top_down ? geometry.node_width + aside + 2 : 18;
  geometry.along = top_down ? 74 : geometry.node_width + 110;
  return geometry;
}

std::string story(const TreeNode& node) {
  std::string text = fmt::format("rank {}: {}", node.rank.index, node.label.ticks);
  if (node.operands >= 0) text += fmt::format(", {} operands", node.operands);
  if (!node.children.empty()) text += fmt::format(", {} children", node.children.size());
  return text;
}

struct Place {
  double x;
  double y;
};

Place place_of(const TreeNode& node, double position, const TreeGeometry& geometry) {
  const double across = position * geometry.across;
  const double along = node.depth * geometry.along;
  const double half = geometry.node_width / 2;
  if (geometry.top_down) return {kMargin + half + across, kHeading + 20 + along};
  return {kMargin + half + along, kHeading + 12 + across};
}

void draw_edge(Svg& svg, const Place& parent, const Place& child, const TreeGeometry& geometry) {
  if (geometry.top_down) {
    svg.curve(parent.x, parent.y + geometry.node_height / 2, child.x, child.y - geometry.node_height / 2, true);
  } else {
    // Past the rank written behind the parent.
    svg.curve(parent.x + geometry.node_width / 2 + 34, parent.y, child.x - geometry.node_width / 2, child.y, false);
  }
}

void draw_node(Svg& svg, const TreeNode& node, const Place& place, const TreeGeometry& geometry) {
  const bool root = node.parent < 0;
  svg.rectangle(place.x - geometry.node_width / 2, place.y - geometry.node_height / 2, geometry.node_width,
                geometry.node_height, root ? "root" : "node", story(node), geometry.node_height / 2);
  svg.text(place.x, place.y + geometry.font * 0.36, label_of(node), root ? "oncolour" : "strong", Anchor::middle,
           geometry.font);
  const std::string rank = fmt::format("P{}", node.rank.index);
  if (geometry.top_down) {
    const std::string below = node.operands >= 0 ? fmt::format("{}: {}", rank, node.operands) : rank;
    svg.text(place.x + geometry.node_width / 2 - 2, place.y + geometry.node_height / 2 + 2, below, "dim", Anchor::start,
             9.5);
  } else {
    svg.text(place.x + geometry.node_width / 2 + 3, place.y + 3.4, rank, "dim", Anchor::start, 9.5);
  }
}

}  // namespace

std::string tree_svg(const Tree& tree) {
  const TreeGeometry geometry = geometry_of(tree);
  const std::vector<double> positions = tree_layout(tree);
  std::vector<Place> places;
  double width = kMargin + title_width(tree.title);
  double height = 0;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    places.push_back(place_of(tree.nodes[i], positions[i], geometry));
    width = std::max(width, places.back().x + geometry.node_width / 2 + 40);
    height = std::max(height, places.back().y + geometry.node_height / 2);
  }
  Svg svg;
  svg.text(kMargin, 26, tree.title, "strong", Anchor::start, 15);
  std::string legend = "in a node: " + tree.label_meaning + "; P: rank";
  if (!tree.nodes.empty() && tree.nodes[0].operands >= 0) legend += ": operands";
  if (tree.unreached > 0)
    legend += fmt::format("; {} not in this tree",
                          tree.unreached == 1 ? "1 rank is" : fmt::format("{} ranks are", tree.unreached));
  svg.text(kMargin, 44, legend, "dim", Anchor::start, 11);
  for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
    draw_edge(svg, places[static_cast<std::size_t>(tree.nodes[i].parent)], places[i], geometry);
  }
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) draw_node(svg, tree.nodes[i], places[i], geometry);
  return svg.document(std::max(width, kMargin + text_width(legend, 11)) + kMargin, height + kMargin, tree.title,
                      fmt::format("Tree of {} ranks. {}.", tree.nodes.size(), legend));
}

}  // namespace chasqui::show
