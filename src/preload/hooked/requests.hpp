// SPDX-License-Identifier: MIT
// The requests that a program gets under MPICH for calls that go on: receives of nothing from this process itself, which is sent when the call has
// ended. MPICH waits for them in every function as for its own. (Generalized requests are not so: MPI_Waitall of MPICH 4.0.2 ends the job
// where one is under way and another place of its list is MPI_REQUEST_NULL.) Of a persistent one its start and its freeing are ours to see.
#pragma once

#include <mpi.h>

namespace chasqui::preload {

/// May a call on this communicator be planned? Before chasqui_plan_….
bool may_go_on(MPI_Comm comm, const MPI_Request* request);

/// Starts a non-blocking call that was planned.
int hand_out(void* call, MPI_Comm comm, MPI_Request* request);
/// For a persistent one.
int hand_out_persistent(void* call, MPI_Comm comm, MPI_Request* request);

/// In MPICH's progress, after some have ended: a wait looks again at what it waits for when MPICH has counted a step, which a message from this
/// process to itself is not. The end of a generalized request is one.
void wake();

/// In MPI_Init: what messages to itself need.
void open_requests();
void close_requests();

}  // namespace chasqui::preload
