// SPDX-License-Identifier: MIT
// The ranks of this rank's node, as a part of a communicator in which all ranks ask alike: no communicator is made for
// them, which a library that works behind a program's back must not do while other threads make theirs.
#pragma once

#include <mpi.h>

#include <vector>

#include "mpi/together.hpp"
#include "run/board/node_ranks.hpp"

namespace chasqui::mpi {

/// Bytes of shared memory that a node can give. Much where nobody says. The MPI library has files there too, which it fills as it goes,
/// and dies of a bus error where it cannot: half of a small memory, 256 MiB of a large one, is left to it.
std::size_t free_node_memory();

class NodeRanks final : public run::NodeRanks {
 public:
  /// nodes[r]: the node of rank r of `all`.
  NodeRanks(Together& all, const std::vector<int>& nodes);

  int most(int mine) override { return all_.most(mine); }
  /// A file in /dev/shm without a name: nothing is left of it, whoever is killed when. Where the others cannot open it (they
  /// see no processes of this one's) it has a name until they have.
  int open_memory(std::size_t bytes) override;
  std::size_t free_memory() const override { return free_node_memory(); }

 private:
  void gather_bytes(const void* mine, std::size_t bytes, void* all) override;
  NodeRanks(std::vector<int> members, Together& all);

  Together& all_;
  std::vector<int> members_;  ///< its ranks that are on this node, ascending
};

}  // namespace chasqui::mpi
