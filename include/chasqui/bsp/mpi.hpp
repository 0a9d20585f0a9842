// SPDX-License-Identifier: MIT
// The same programs over MPI ranks. Link chasqui_bsp_mpi_openmpi or chasqui_bsp_mpi_mpich; this header needs
// no mpi.h.
#pragma once

#include "chasqui/bsp/run.hpp"

namespace chasqui::bsp {

/// Runs `program` on the ranks of a communicator, one processor each; all its ranks call it. Starts MPI (and
/// ends it at exit) when the program has not. Returns the ledger on every rank. A failure on one rank is
/// thrown on all: the first one's own exception there, a MachineError that names it elsewhere. A program on several ranks that calls exit() ends the job.
/// `communicator`: what MPI_Comm_c2f gives; without it MPI_COMM_WORLD.
Ledger run_mpi(const Program& program, const Options& options = {});
Ledger run_mpi(int communicator, const Program& program, const Options& options = {});  ///< on any communicator

/// This process's rank in MPI_COMM_WORLD, and how many there are. Starts MPI when needed.
int mpi_rank();
int mpi_size();  ///< ranks of MPI_COMM_WORLD

}  // namespace chasqui::bsp
