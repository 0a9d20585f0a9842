// SPDX-License-Identifier: MIT
// What a launcher told the processes that it started, by their environment. Nobody else reads these variables.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace chasqui::run {

struct Launched {
  std::string launcher;  ///< "chasqui launch", "torchrun", "Open MPI", "MPICH", "Slurm"; empty: nobody says
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;  ///< among those on this node, where it says so; else all are taken to be here
  std::string rank_variable;           ///< where the rank was found
  std::string job;                     ///< what tells this start from others of the same launcher, as far as it says so
};

/// By the first launcher whose variables are there and make sense; those that say how many there are on this node come first.
std::optional<Launched> launched();
std::optional<Launched> launched_by_mpi();  ///< of the MPI launchers alone
/// Local rank and size, by the first that says so, whatever else it says.
std::optional<std::pair<int, int>> place_on_node();

}  // namespace chasqui::run
