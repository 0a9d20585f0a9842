// SPDX-License-Identifier: MIT
// Small directed graphs with labelled, thick or thin edges: block transmission digraphs and word automata.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::show {
/// A directed graph to be laid out and drawn.
struct Digraph {
  /// A circle.
  struct Vertex {
    std::string label;    ///< inside the circle
    bool marked = false;  ///< drawn with a double circle
  };
  /// An arrow.
  struct Edge {
    std::size_t from = 0;  ///< index of a vertex
    std::size_t to = 0;    ///< index of a vertex
    std::string label;     ///< beside the arrow
    bool thick = false;    ///< drawn stronger
  };
  std::string title;             ///< heading
  std::vector<Vertex> vertices;  ///< in the order of the layout
  std::vector<Edge> edges;       ///< loops are allowed
  std::string legend{};          ///< what circles and arrows mean; below the heading of a picture
};

/// How one item travels between blocks of ranks. Vertices are the blocks, labelled with their sizes (0: the
/// last rank, when the sizes leave one over), and "source". A thick edge is a message whose receiver sends
/// the item on; thin edges carry the number of other messages. Ranks are numbered from the root on: root,
/// then block by block. REQUIRES sizes that sum to P-1 or P-2.
Digraph block_digraph(const Schedule& schedule, const std::vector<std::int64_t>& sizes, Item item);

/// One line per edge: "9 ==> 6", "9 --2--> 5".
std::string digraph_text(const Digraph& graph);
/// Vertices on a circle.
std::string digraph_svg(const Digraph& graph);

}  // namespace chasqui::show
