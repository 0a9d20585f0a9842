// SPDX-License-Identifier: MIT
// What the two halves of the component say to each other: Open MPI's side, which must be C (component.c: its internal headers
// are not C++), and the serving code of this room. Of calls that go on MPICH's side (hooked/) says and hears the same.
#pragma once

#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// MPI_Init is about to return. Collective over MPI_COMM_WORLD.
void chasqui_component_begin(int many_threads);
/// MPI_Finalize has been called.
void chasqui_component_end(void);

/// Of the settings that this process reads.
uint64_t chasqui_component_hash(void);
/// Of those that a rank of MPI_COMM_WORLD has read. 0: it has not loaded the component. Local: the ranks gave it to the launcher
/// before MPI_Init exchanged such things.
int chasqui_component_hash_of(int rank, uint64_t* hash);

/// Begins a call that was planned; `request` is completed when it ends, perhaps before this returns. An error code of MPI.
int chasqui_component_start(void* call, void* request, int persistent);
/// Gives a turn to what was started. How many have ended.
int chasqui_component_advance(void);
/// Ends a planned call that is not under way; nullptr: there is none.
void chasqui_component_forget(void* call);
/// The other way round: the program's request has ended with this code.
void chasqui_component_complete(void* request, int code);

/// Has chasqui_component_advance called whenever Open MPI makes progress.
void chasqui_component_keep_going(void);
/// Lets Open MPI make progress.
void chasqui_component_progress(void);

/// What Open MPI calls the communicator: the same number on all its ranks, and no other of this process has it meanwhile.
uint32_t chasqui_component_number(MPI_Comm comm);
/// May be waited for without waiting?
int chasqui_component_is_complete(MPI_Request request);

/// The module whose call is being planned: from this one on all that does not block is held back by `holder`, until it is released.
void* chasqui_component_hold(void* holder);
void chasqui_component_release(void* module);
/// The request stands for a call below: what was planned for it is returned.
void* chasqui_component_take_call(void* request);
/// Has Open MPI's request ended? Then it is freed.
int chasqui_component_ended_below(void* inner, int* code);
/// What was held back held it.
void chasqui_component_release_comm(MPI_Comm comm);

/// One of MPI's own types, as MPI_Type_get_envelope would say.
int chasqui_component_is_named(MPI_Datatype type);
/// Predefined without a name, if its envelope says so, too.
int chasqui_component_is_f90(MPI_Datatype type);

#ifdef __cplusplus
}
#endif
