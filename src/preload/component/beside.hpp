// SPDX-License-Identifier: MIT
// A communicator that sees nothing but non-blocking collectives gets its private part beside them: by messages of its own, which go
// on whenever Open MPI makes progress. No call waits for another rank, and yet a call is ours on all ranks or on none:
//
// 1. It begins in the first call that would be ours, if the communicator were prepared, after CHASQUI_AFTER others. Calls are counted
//    alike on all ranks, so each begins in the same one, whenever it comes to it. That call and some more go to Open MPI.
// 2. From the call on that comes some later (kBeside), calls wait for its end: a rank that has not come there holds them back, in their
//    order, and gives the program requests that stand for them. Such a request ends only after all ranks have begun to prepare, in an
//    earlier collective, which MPI allows.
// 3. All ranks get a private part or none (mpi::Together). Then what was held back begins in the order in which it was called, by
//    ours or, where there is none, by Open MPI: in one order on all ranks, whoever held back and whoever did not. So all that is not
//    blocking is held back together, because Open MPI counts it together: what it calls for itself (MPI_Comm_dup), and neighbourhood
//    collectives, which are not served.
// 4. A blocking collective, or the planning of a persistent one, waits for the end, and the communicator is prepared from it on: all
//    ranks come to it after the same calls.
// 5. Communicators have tags by the numbers that Open MPI gives them, and it gives the number of a freed one again. The second one
//    waits on each rank for the end of the first there, so messages of the two come one after the other.
#pragma once

#include <mpi.h>

#include <functional>

#include "preload/state.hpp"

namespace chasqui::preload {

enum class Standing {
  left,   ///< to Open MPI, for now
  ready,  ///< the communicator is prepared, or never is
  held    ///< until that is known: the component's other half holds the call back
};
/// Of a non-blocking call that would be ours if the communicator were prepared. The same on all ranks, but for `ready` on one and
/// `held` on another. REQUIRES that it has been counted.
Standing stand(CommState& state, MPI_Comm comm);

/// Goes on, in Open MPI's progress. How many requests have ended.
int go_on_beside();
/// In a wait of ours, in which go_on_beside() may begin nothing: begins what was held back in vain.
void begin_held_back();
/// At the end: nothing goes on any more.
void abandon_beside();

}  // namespace chasqui::preload
