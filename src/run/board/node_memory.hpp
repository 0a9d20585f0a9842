// SPDX-License-Identifier: MIT
// The board of the processes of one node. It is given back by each process alone, so that freeing a communicator never waits
// for another rank, and it is reserved before anybody touches it: where memory is short there is no board, and no bus
// error.
#pragma once

#include <memory>
#include <vector>

#include "run/board/board.hpp"
#include "run/board/node_ranks.hpp"

namespace chasqui::run {

/// What boards are for, and how many there shall be. Where they are not for all calls they need much less memory.
struct Boards {
  enum For {
    all,
    slots,  ///< calls that a slot holds; longer ones work, and take long
    lines   ///< REQUIRES calls of which a slot holds a line
  } calls = all;
  int number = 1;
  std::size_t stage = 0;  ///< bytes of it; 0: as long as boards may have
};

/// Collective over all nodes; none on every rank if one of them, on whatever node, cannot map its own. `cores`: what
/// cores_of(node) says; `ring`: bytes that a rank's stage may move through, as far as the last cache and the memory allow;
/// below 1 MiB, the stage has no more either.
std::vector<std::shared_ptr<Board>> make_boards(NodeRanks& node, int cores, std::size_t ring, const Boards& boards);
/// A board of this shape, which all ranks of the node give alike; nullptr where there is none.
std::shared_ptr<Board> make_board(NodeRanks& node, int cores, const BoardShape& shape);

/// Collective over all nodes: how many cores the ranks of this one may run on, all together.
int cores_of(NodeRanks& node);

}  // namespace chasqui::run
