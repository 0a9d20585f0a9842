// SPDX-License-Identifier: MIT
// Small directed graphs with labelled, thick or thin edges: block transmission digraphs and word automata.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::show {

struct Digraph {
  struct Vertex {
    std::string label;
    bool marked = false;  ///< drawn with a double circle
  };
  struct Edge {
    std::size_t from = 0;
    std::size_t to = 0;
    std::string label;
    bool thick = false;
  };
  std::string title;
  std::vector<Vertex> vertices;
  std::vector<Edge> edges;
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
