// SPDX-License-Identifier: MIT
// The ranks of this rank's node, as a part of a communicator in which all ranks ask alike: no communicator is made for
// them, which a library that works behind a program's back must not do while other threads make theirs.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "mpi/check.hpp"

namespace chasqui::mpi {

struct NodeRanks {
  MPI_Comm comm;             ///< whose collectives are used
  int ranks;                 ///< its size
  std::vector<int> members;  ///< its ranks that are on this node, ascending
  int rank;                  ///< the own place among them

  /// nodes[r]: the node of rank r of `all`.
  NodeRanks(MPI_Comm all, const std::vector<int>& nodes, int own) : comm(all), ranks(static_cast<int>(nodes.size())) {
    for (int r = 0; r < ranks; ++r) {
      if (r == own) rank = static_cast<int>(members.size());
      if (nodes[static_cast<std::size_t>(r)] == nodes[static_cast<std::size_t>(own)]) members.push_back(r);
    }
  }
  int size() const { return static_cast<int>(members.size()); }

  /// What each of the node says, `count` values from everybody. Collective over `comm`.
  template <typename T>
  std::vector<T> gather(const T* mine, std::size_t count = 1) const {
    std::vector<T> all(count * static_cast<std::size_t>(ranks)), here;
    const int bytes = static_cast<int>(count * sizeof(T));
    check(MPI_Allgather(mine, bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, comm), "MPI_Allgather");
    for (const int r : members) {
      const auto from = all.begin() + static_cast<std::ptrdiff_t>(count) * r;
      here.insert(here.end(), from, from + static_cast<std::ptrdiff_t>(count));
    }
    return here;
  }
  /// Do all ranks say yes, on every node? Collective over `comm`.
  bool agreed(bool mine) const {
    const int here = mine ? 1 : 0;
    int everywhere = 0;
    check(MPI_Allreduce(&here, &everywhere, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
    return everywhere != 0;
  }
};

}  // namespace chasqui::mpi
