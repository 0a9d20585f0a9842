// SPDX-License-Identifier: MIT
// Who tells whom the counts of a superstep over MPI. Where several ranks share a node they show each other what they bring on
// the board of the node, and the nodes exchange it in rounds, along lanes. Two ways (choose_lanes() has the choice):
//  - each rank is a lane of its own: it carries the counts for those who have its place in their nodes, from its like to its like in
//    the other nodes, ceil(log2 N) messages, and needs nothing of the other lanes;
//  - in a round each lane sends to another node, all counts for some nodes, and what came is shown on the board:
//    ceil(log_r N) rounds of one message a lane and one step of the board, with r - 1 lanes.
// What ranks of a node send each other lies in its store, and is read there.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bsp/processes/node_board.hpp"
#include "bsp/processes/node_store.hpp"
#include "mpi/node_ranks.hpp"
#include "run/comm/node_map.hpp"

namespace chasqui::bsp::detail {

/// Those who exchange in rounds, members of a machine or whole nodes, as one rank sees them: by distance from itself.
struct Circle {
  /// The members of a machine, each for itself.
  static Circle of_members(std::int32_t count, std::int32_t own);

  std::int32_t count() const { return static_cast<std::int32_t>(members.size()); }

  std::int32_t radix = 2;             ///< in a round one sends to radix - 1 others
  std::int32_t turn = 1;              ///< to which of them this rank does, from 1
  bool shared = false;                ///< what comes in a round is for all ranks of the node: they show it
  std::vector<std::int32_t> members;  ///< by distance: the one who is this rank's turn there; -1: nobody is
  std::vector<std::size_t> begin;     ///< by distance: where the counts for its ranks begin; and where all end
};

/// How the nodes exchange. Equal nodes of `smallest` ranks each may go either way; where nodes differ, what came must be shown.
struct LaneChoice {
  std::int32_t radix = 2;
  bool shared = false;
};
LaneChoice choose_lanes(std::int32_t nodes, std::int32_t smallest, bool equal);

/// The nodes of the ranks of a communicator, and what this rank's has: a board, and a store for blocks.
class MpiNodes {
 public:
  /// Nothing where each rank is a node of its own, or a node cannot share memory. What was found stays with `owner`, whose ranks
  /// are `all`, for the next time. `pretended`: as Options::pretend_node_size.
  static std::shared_ptr<MpiNodes> of(MPI_Comm owner, mpi::Together& all, int pretended);
  /// Something went wrong: whoever comes next begins anew.
  static void forget(MPI_Comm owner);

  const Circle& circle() const { return circle_; }
  /// Which of the counts that travel along circle() is that for `rank`; -1: another lane carries it.
  std::ptrdiff_t count_for(std::int32_t rank) const;
  std::int32_t count() const { return map_.count(); }
  std::int32_t rank_at(int slot) const { return map_.members(node_)[static_cast<std::size_t>(slot)]; }
  /// The place of `rank` on the board; -1: it is on another node.
  int slot_of(std::int32_t rank) const { return map_.node_of(rank) == node_ ? map_.place_of(rank) : -1; }

  NodeBoard& board() { return *board_; }
  NodeStore* store() { return store_.get(); }  ///< nullptr: blocks go by messages
  int cores() const { return cores_; }         ///< that the ranks of the node may run on, all together

 private:
  /// Memory of all ranks of a node: a board, then an area for each, of which nothing is reserved yet.
  struct Memory {
    Memory(int shared_file, std::size_t board_bytes) : file(shared_file), board(board_bytes) {}
    ~Memory();
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    bool map(std::size_t area_bytes);                          ///< false: it cannot be had
    bool reserve(std::size_t begin, std::size_t bytes) const;  ///< of the areas

    int file;  ///< -1: there is none
    std::size_t board, areas = 0;
    std::byte* begin = nullptr;  ///< nullptr: it is not mapped
  };

  static std::unique_ptr<MpiNodes> find(MPI_Comm owner, mpi::Together& all, int pretended);
  MpiNodes(run::NodeMap map, std::int32_t rank);

  run::NodeMap map_;
  std::int32_t node_, place_;
  int cores_ = 1;
  Circle circle_;
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<NodeBoard> board_;
  std::unique_ptr<NodeStore> store_;
};

}  // namespace chasqui::bsp::detail
