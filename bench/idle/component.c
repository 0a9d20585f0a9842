// SPDX-License-Identifier: MIT
// Stands below the component of Open MPI while passed_calls.cpp counts and times: where that says so, collectives do nothing at all, so
// what is left of a call is what stands above. Otherwise they go on to the module below. On communicators that are made meanwhile it can
// stand above the component instead: what is left there is a call without it.
#include "ompi_config.h"
//
#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/mca/coll/coll.h"
#include "preload/collectives.h"

extern int chasqui_idle, chasqui_idle_above;  ///< the program's

typedef struct {
  mca_coll_base_module_t super;
  mca_coll_base_comm_coll_t below;
} chasqui_idle_module_t;
OBJ_CLASS_DECLARATION(chasqui_idle_module_t);
OBJ_CLASS_INSTANCE(chasqui_idle_module_t, mca_coll_base_module_t, NULL, NULL);

#define CHASQUI_IDLE(Name, name, parameters, arguments)                                                               \
  static int called_##name(CHASQUI_OPEN parameters, mca_coll_base_module_t* module) {                                 \
    if (chasqui_idle != 0) return OMPI_SUCCESS;                                                                       \
    const mca_coll_base_comm_coll_t* const below = &((chasqui_idle_module_t*)module)->below;                          \
    return below->coll_##name(CHASQUI_OPEN arguments, below->coll_##name##_module);                                   \
  }                                                                                                                   \
  static int called_i##name(CHASQUI_OPEN parameters, ompi_request_t** request, mca_coll_base_module_t* module) {      \
    const mca_coll_base_comm_coll_t* const below = &((chasqui_idle_module_t*)module)->below;                          \
    if (chasqui_idle == 0) return below->coll_i##name(CHASQUI_OPEN arguments, request, below->coll_i##name##_module); \
    *request = MPI_REQUEST_NULL;                                                                                      \
    return OMPI_SUCCESS;                                                                                              \
  }
CHASQUI_COLLECTIVES(CHASQUI_IDLE)

static int enable(mca_coll_base_module_t* module, struct ompi_communicator_t* comm) {
  ((chasqui_idle_module_t*)module)->below = *comm->c_coll;
  return OMPI_SUCCESS;
}

static mca_coll_base_module_t* query(struct ompi_communicator_t* comm, int* priority) {
  if (OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2) return NULL;
  chasqui_idle_module_t* const module = OBJ_NEW(chasqui_idle_module_t);
  if (module == NULL) return NULL;
  module->super.coll_module_enable = enable;
#define CHASQUI_OFFER(Name, name, parameters, arguments) \
  module->super.coll_##name = called_##name;             \
  module->super.coll_i##name = called_i##name;
  CHASQUI_COLLECTIVES(CHASQUI_OFFER)
  *priority = chasqui_idle_above != 0 ? 90 : 70;
  return &module->super;
}

static int init_query(bool progress_threads, bool mpi_threads) {
  (void)progress_threads, (void)mpi_threads;
  return OMPI_SUCCESS;
}

mca_coll_base_component_2_0_0_t mca_coll_chasqui_idle_component = {
    .collm_version = {MCA_COLL_BASE_VERSION_2_0_0, .mca_component_name = "chasqui_idle"},
    .collm_data = {.param_field = MCA_BASE_METADATA_PARAM_NONE},
    .collm_init_query = init_query,
    .collm_comm_query = query,
};
