// SPDX-License-Identifier: MIT
// The component with a step before its own first one in MPI_Init: the ranks of other nodes are known to Open MPI by their names alone, as where many
// nodes take part, and asking for their settings makes nothing more of them. Linked with --wrap=chasqui_component_begin and --wrap=ompi_proc_for_name.
#include <stdio.h>
#include <stdlib.h>

#include "ompi_config.h"
//
#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/group/group.h"
#include "ompi/proc/proc.h"
#include "preload/component/component.h"

static int made = 0;
opal_proc_t* __real_ompi_proc_for_name(opal_process_name_t name);
opal_proc_t* __wrap_ompi_proc_for_name(opal_process_name_t name);
opal_proc_t* __wrap_ompi_proc_for_name(opal_process_name_t name) {
  ++made;
  return __real_ompi_proc_for_name(name);
}

void __real_chasqui_component_begin(int many_threads);
void __wrap_chasqui_component_begin(int many_threads);

void __wrap_chasqui_component_begin(int many_threads) {
  ompi_communicator_t* const world = &ompi_mpi_comm_world.comm;
  ompi_proc_t** const processes = world->c_remote_group->grp_proc_pointers;
  const int size = ompi_comm_size(world);
  ompi_proc_t** const known = malloc((size_t)size * sizeof *known);
  if (known == NULL) abort();
  int asked = 0;
  for (int r = 0; r < size; ++r) {
    known[r] = processes[r];
    if (r != ompi_comm_rank(world)) processes[r] = (ompi_proc_t*)ompi_proc_name_to_sentinel(known[r]->super.proc_name);
  }
  for (int r = 0; r < size; ++r) {
    uint64_t theirs = 0;
    asked += chasqui_component_hash_of(r, &theirs) != 0 && theirs == chasqui_component_hash();
  }
  for (int r = 0; r < size; ++r) processes[r] = known[r];
  free(known);
  if (ompi_comm_rank(world) == 0) fprintf(stderr, "%d asked, %d made\n", asked, made);
  __real_chasqui_component_begin(many_threads);
}
