// SPDX-License-Identifier: MIT
// Private parts that freed communicators leave for later ones of the same ranks in the same order: programs duplicate a communicator, make some
// calls on it and free it, again and again, and making a part takes as long as thousands of calls. On one node, and where one thread at a time
// makes calls of MPI: then the ranks of such communicators prepare them in one order, so they can name a part by its place.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "chasqui/run/comm.hpp"

namespace chasqui::mpi {
class Together;
}

namespace chasqui::preload {

/// Of the board of a private part.
std::size_t board_bytes(const run::Comm& comm);

/// Where a part belongs while its communicator lives: ranks in MPI_COMM_WORLD, and its place among the parts of these.
struct SpareOf {
  std::vector<int> world;
  std::size_t place = 0;
};

/// What the ranks of a communicator have found among the spare parts.
struct SpareFound {
  std::unique_ptr<run::Comm> comm;   ///< one that no rank needs any more, if there is one
  std::optional<std::size_t> place;  ///< its place, or that of a new one; none: a new one will not be kept
};
/// Collective over the ranks of `all`, which are `world`, on one node. willing: may this rank have any? Ranks may differ in that: MPI_Init_thread
/// gives each the level that it asks for.
SpareFound find_spare(mpi::Together& all, const std::vector<int>& world, bool willing);
/// A new part got this place, on all ranks. Local.
void enter_spare(const SpareOf& of);
/// The communicator is freed. REQUIRES that every call on it has succeeded on this rank. Local; given back where parts have enough memory.
void keep_spare(const SpareOf& of, std::unique_ptr<run::Comm> comm);
/// Gives all back.
void drop_spares();

}  // namespace chasqui::preload
