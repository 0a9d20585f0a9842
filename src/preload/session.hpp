// SPDX-License-Identifier: MIT
// The time in which calls are served: from MPI_Init to MPI_Finalize. Nothing is thrown here: what fails is said, and
// everything goes to the MPI library.
#pragma once

namespace chasqui::preload {

/// The MPI library is ready. Collective over MPI_COMM_WORLD.
void begin();
/// It is about to end: what communicators have is given back, and the report is written.
void end();
/// Sees to it that MPI_Finalize calls end() when the program has made its last call. Throws where that fails.
void arrange_end();
/// The MPI library has ended, and end() was not called: the report is written.
void end_too_late();
/// A communicator may have ended: what it had is given back.
void give_back();

}  // namespace chasqui::preload
