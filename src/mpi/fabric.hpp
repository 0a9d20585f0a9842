// SPDX-License-Identifier: MIT
// What a communicator over MPI stands on: messages, nodes, the board of this rank's node. Shared by make_comm() and the
// drop-in library, which compiles it with every MPI call through PMPI.
#pragma once

#include <mpi.h>

#include "chasqui/mpi/comm.hpp"
#include "run/comm/fabric.hpp"

namespace chasqui::mpi {

/// Collective over `own`, whose error handler returns; the messages take ownership of it. REQUIRES options.profile.
/// Where a node's memory cannot be shared there is no board on any rank, and every rank counts as a node. Patience, the
/// library's own collectives and splitting are left to the caller.
run::Fabric make_fabric(MPI_Comm own, const Options& options);

}  // namespace chasqui::mpi
