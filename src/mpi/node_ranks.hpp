// SPDX-License-Identifier: MIT
// The ranks of this rank's node, as a part of a communicator in which all ranks ask alike: no communicator is made for
// them, which a library that works behind a program's back must not do while other threads make theirs.
#pragma once

#include <mpi.h>

#include <vector>

#include "run/board/node_ranks.hpp"

namespace chasqui::mpi {

class NodeRanks final : public run::NodeRanks {
 public:
  /// nodes[r]: the node of rank r of `all`.
  NodeRanks(MPI_Comm all, const std::vector<int>& nodes, int own);

  int most(int mine) override;
  /// POSIX shared memory that has a name until all have opened it.
  int open_memory(std::size_t bytes) override;
  /// Much where nobody says. The MPI library has files there too, which it fills as it goes, and dies of a bus error where
  /// it cannot: half of a small memory, 256 MiB of a large one, is left to it.
  std::size_t free_memory() const override;

 private:
  void gather_bytes(const void* mine, std::size_t bytes, void* all) override;
  NodeRanks(MPI_Comm all, int ranks, std::vector<int> members, int own);

  MPI_Comm comm_;             ///< whose collectives are used
  int ranks_;                 ///< its size
  std::vector<int> members_;  ///< its ranks that are on this node, ascending
};

}  // namespace chasqui::mpi
