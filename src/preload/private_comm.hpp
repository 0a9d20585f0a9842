// SPDX-License-Identifier: MIT
// What MPI_Init makes before it returns: one communicator of our own, and the map of nodes. No other communicator is made
// behind the program's back, because MPI libraries stumble over threads that make communicators at the same time, and all
// that the ranks of a program's communicator must agree on later, they agree on by its own collectives, in a call of it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "mpi/fabric.hpp"

namespace chasqui::preload {

/// Collective over MPI_COMM_WORLD, in MPI_Init. besides: what each rank does beside it. Throws an Error on all ranks.
void open_private(void (*besides)());
/// Before PMPI_Finalize, when no channel is in use.
void close_private();

/// A duplicate of MPI_COMM_WORLD whose error handler returns.
MPI_Comm private_world();
/// This process in it.
int private_rank();
/// Processes in it.
int private_size();
/// A tag of this thread on it, for messages to itself.
int private_self_tag();

/// The nodes of ranks of MPI_COMM_WORLD, numbered by first appearance. Local.
std::vector<int> nodes_among(const std::vector<int>& world_ranks);

/// Tags of the private communicator that no other communicator of any of these ranks uses. Collective over `all`, whose
/// ranks are these of MPI_COMM_WORLD; nothing, on all ranks, when too many are in use.
std::optional<mpi::Channel> agree_on_channel(mpi::Together& all, const std::vector<int>& world_ranks);

/// For messages between the ranks of a communicator that has no channel, by which they make its private part: a tag of its own, by its
/// number. Nothing where there are no tags for that. The same on all ranks that have the same number.
std::optional<int> tag_beside(std::uint32_t number);

}  // namespace chasqui::preload
