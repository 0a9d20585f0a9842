// SPDX-License-Identifier: MIT
// Collectives that go on after their call has returned: non-blocking ones, and persistent ones, which are planned once and
// started many times. They are advanced whenever the MPI library makes progress, so a rank inside a foreign MPI_Recv goes on: in Open MPI by
// the component's other half, in MPICH by hooked/.
// Whether one is ours follows from agreed things alone, so all ranks decide alike: whether the communicator is prepared, the size,
// and the blocking form's verdict.
#pragma once

#include <memory>

#include "preload/repeated.hpp"

namespace chasqui::preload {

/// Makes the call if it is ours; nullptr: it goes to the MPI library. What is returned belongs to who hands out the request. like: one
/// that has the same length whatever the addresses are; without a communicator where that cannot be said.
void* plan(const RepeatedCall& like, Form form, MPI_Comm comm, FunctionRef<CallFacts(const CommState&)> look,
           FunctionRef<std::unique_ptr<OwnedCall>(const CommState&)> make);

/// A call that was planned, and is not ours after all.
void leave(void* call, Reason reason);

/// While a call of ours waits: maybe for a rank that waits for what was held back here.
void begin_meanwhile();

/// What a program has not waited for before MPI_Finalize goes no further.
void abandon();

/// Nothing is planned, for this reason: any thread may make progress, say. Before agree_on_leaving().
void leave_all(Reason reason);
/// What one rank leaves to the MPI library is left by all. Collective over MPI_COMM_WORLD, before the first call.
void agree_on_leaving();

}  // namespace chasqui::preload
