// SPDX-License-Identifier: MIT
// What every fabric of processes does alike: nodes, the board of this rank's, and pieces of long messages.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "run/board/node_memory.hpp"
#include "run/board/node_ranks.hpp"
#include "run/comm/fabric.hpp"

namespace chasqui::run {

/// Any names of nodes as numbers, by first appearance.
std::vector<int> numbered(std::vector<int> nodes);
/// For tests: nodes of `each` ranks; negative: so many nodes, by turns.
std::vector<int> pretended_nodes(int ranks, int each);

struct NodeOptions {
  int cores = 1;  ///< that the ranks of the node may run on, all together
  bool board = true;
  bool cross_memory = true;    ///< use each other's memory where the system permits it
  std::size_t stage_ring = 0;  ///< as make_boards() has it
  Boards boards{};
};
/// Collective over all nodes; nodes[r]: the node of rank r. Where a node's memory cannot be shared there is no board on any
/// rank, and every rank counts as a node. Returns the boards after the first.
std::vector<std::shared_ptr<Board>> put_on_nodes(Fabric& fabric, NodeRanks& node, std::vector<int> nodes,
                                                 const NodeOptions& options);

/// Long messages go in pieces as the profile's network wants them, none longer than `longest`. REQUIRES fabric.profile.
void cut_messages(Fabric& fabric, std::size_t longest);

}  // namespace chasqui::run
