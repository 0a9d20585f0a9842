// SPDX-License-Identifier: MIT
// mca_coll_chasqui.so as Open MPI sees it: a component that offers a module to each communicator, and what the module below it
// did. The collectives themselves are those of the drop-in library (preload/*_calls.cpp).
#include "preload/component/component.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ompi_config.h"
//
#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/hook/base/base.h"
#include "ompi/proc/proc.h"
#include "opal/mca/pmix/pmix.h"

// Every collective: its name in MPI and here, its parameters and arguments. The forms differ in what follows these.
#define CHASQUI_COLLECTIVES(X)                                                                                         \
  X(Barrier, barrier, (MPI_Comm comm), (comm))                                                                         \
  X(Bcast, bcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm comm), (b, n, t, root, comm))                    \
  X(Reduce, reduce, (const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm comm),                \
    (s, r, n, t, o, root, comm))                                                                                       \
  X(Allreduce, allreduce, (const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm comm),                    \
    (s, r, n, t, o, comm))                                                                                             \
  X(Scan, scan, (const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm comm), (s, r, n, t, o, comm))       \
  X(Exscan, exscan, (const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm comm), (s, r, n, t, o, comm))   \
  X(Reduce_scatter, reduce_scatter, (const void* s, void* r, const int* c, MPI_Datatype t, MPI_Op o, MPI_Comm comm),   \
    (s, r, c, t, o, comm))                                                                                             \
  X(Reduce_scatter_block, reduce_scatter_block,                                                                        \
    (const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm comm), (s, r, n, t, o, comm))                   \
  X(Gather, gather, (const void* s, int n, MPI_Datatype st, void* r, int m, MPI_Datatype rt, int root, MPI_Comm comm), \
    (s, n, st, r, m, rt, root, comm))                                                                                  \
  X(Scatter, scatter,                                                                                                  \
    (const void* s, int n, MPI_Datatype st, void* r, int m, MPI_Datatype rt, int root, MPI_Comm comm),                 \
    (s, n, st, r, m, rt, root, comm))                                                                                  \
  X(Allgather, allgather, (const void* s, int n, MPI_Datatype st, void* r, int m, MPI_Datatype rt, MPI_Comm comm),     \
    (s, n, st, r, m, rt, comm))                                                                                        \
  X(Allgatherv, allgatherv,                                                                                            \
    (const void* s, int n, MPI_Datatype st, void* r, const int* c, const int* d, MPI_Datatype rt, MPI_Comm comm),      \
    (s, n, st, r, c, d, rt, comm))                                                                                     \
  X(Gatherv, gatherv,                                                                                                  \
    (const void* s, int n, MPI_Datatype st, void* r, const int* c, const int* d, MPI_Datatype rt, int root,            \
     MPI_Comm comm),                                                                                                   \
    (s, n, st, r, c, d, rt, root, comm))                                                                               \
  X(Scatterv, scatterv,                                                                                                \
    (const void* s, const int* c, const int* d, MPI_Datatype st, void* r, int n, MPI_Datatype rt, int root,            \
     MPI_Comm comm),                                                                                                   \
    (s, c, d, st, r, n, rt, root, comm))                                                                               \
  X(Alltoall, alltoall, (const void* s, int n, MPI_Datatype st, void* r, int m, MPI_Datatype rt, MPI_Comm comm),       \
    (s, n, st, r, m, rt, comm))                                                                                        \
  X(Alltoallv, alltoallv,                                                                                              \
    (const void* s, const int* n, const int* sd, MPI_Datatype st, void* r, const int* m, const int* rd,                \
     MPI_Datatype rt, MPI_Comm comm),                                                                                  \
    (s, n, sd, st, r, m, rd, rt, comm))                                                                                \
  X(Alltoallw, alltoallw,                                                                                              \
    (const void* s, const int* n, const int* sd, MPI_Datatype const* st, void* r, const int* m, const int* rd,         \
     MPI_Datatype const* rt, MPI_Comm comm),                                                                           \
    (s, n, sd, st, r, m, rd, rt, comm))
#define CHASQUI_OPEN(...) __VA_ARGS__

typedef struct {
  mca_coll_base_module_t super;
  mca_coll_base_comm_coll_t below;
} chasqui_module_t;

/// Forgets nothing: the modules below are held from enable() on.
static void construct(chasqui_module_t* module) { memset(&module->below, 0, sizeof module->below); }

static void destruct(chasqui_module_t* module) {
#define CHASQUI_LET_GO(Name, name, parameters, arguments) \
  if (module->below.coll_##name##_module != NULL) OBJ_RELEASE(module->below.coll_##name##_module);
  CHASQUI_COLLECTIVES(CHASQUI_LET_GO)
}

OBJ_CLASS_DECLARATION(chasqui_module_t);
OBJ_CLASS_INSTANCE(chasqui_module_t, mca_coll_base_module_t, construct, destruct);

/// Of the collective that this thread is in: what is passed on goes below it.
static _Thread_local chasqui_module_t* current;

#define CHASQUI_BLOCKING(Name, name, parameters, arguments)                                         \
  int chasqui_called_##Name parameters;                                                             \
  int chasqui_below_##Name parameters;                                                              \
  int chasqui_below_##Name parameters {                                                             \
    return current->below.coll_##name(CHASQUI_OPEN arguments, current->below.coll_##name##_module); \
  }                                                                                                 \
  static int called_##name(CHASQUI_OPEN parameters, mca_coll_base_module_t* module) {               \
    chasqui_module_t* const before = current;                                                       \
    current = (chasqui_module_t*)module;                                                            \
    const int code = chasqui_called_##Name arguments;                                               \
    current = before;                                                                               \
    return code;                                                                                    \
  }
CHASQUI_COLLECTIVES(CHASQUI_BLOCKING)

static int enable(mca_coll_base_module_t* module, struct ompi_communicator_t* comm) {
  chasqui_module_t* const own = (chasqui_module_t*)module;
#define CHASQUI_IS_THERE(Name, name, parameters, arguments) \
  if (comm->c_coll->coll_##name == NULL) return OMPI_ERR_NOT_FOUND;
#define CHASQUI_HOLD(Name, name, parameters, arguments)                 \
  own->below.coll_##name = comm->c_coll->coll_##name;                   \
  own->below.coll_##name##_module = comm->c_coll->coll_##name##_module; \
  OBJ_RETAIN(own->below.coll_##name##_module);
  CHASQUI_COLLECTIVES(CHASQUI_IS_THERE)
  CHASQUI_COLLECTIVES(CHASQUI_HOLD)
  return OMPI_SUCCESS;
}

static int chosen_priority = 80;

/// Is there something to serve on this communicator?
static mca_coll_base_module_t* query(struct ompi_communicator_t* comm, int* priority) {
  if (OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2) return NULL;
  chasqui_module_t* const module = OBJ_NEW(chasqui_module_t);
  if (module == NULL) return NULL;
  module->super.coll_module_enable = enable;
#define CHASQUI_OFFER(Name, name, parameters, arguments) module->super.coll_##name = called_##name;
  CHASQUI_COLLECTIVES(CHASQUI_OFFER)
  *priority = chosen_priority;
  return &module->super;
}

static void initialized(int argc, char** argv, int requested, int* provided) {
  (void)argc, (void)argv, (void)requested, (void)provided;
  chasqui_component_begin();
}

static ompi_hook_base_component_t hooks = {
    .hookm_version = {OMPI_HOOK_BASE_VERSION_1_0_0, .mca_component_name = "chasqui"},
    .hookm_mpi_init_bottom = initialized,
    .hookm_mpi_finalize_top = chasqui_component_end,
};

static char kKey[] = "chasqui.settings";

/// Once in MPI_Init, when all components of all processes are open.
static int init_query(bool progress_threads, bool mpi_threads) {
  (void)progress_threads, (void)mpi_threads;
  return ompi_hook_base_register_callbacks(&hooks);
}

int chasqui_component_hash_of(int rank, uint64_t* hash) {
  ompi_proc_t* const proc = ompi_comm_peer_lookup(&ompi_mpi_comm_world.comm, rank);
  uint8_t* bytes = NULL;
  size_t size = 0;
  int code = OMPI_SUCCESS;
  OPAL_MODEX_RECV_STRING(code, kKey, &proc->super.proc_name, &bytes, &size);
  const int found = code == OPAL_SUCCESS && size == sizeof *hash;
  if (found) memcpy(hash, bytes, sizeof *hash);
  free(bytes);
  return found;
}

int chasqui_component_is_named(MPI_Datatype type) { return ompi_datatype_is_predefined(type) && type->args == NULL; }

/// Is this the Open MPI that the component was compiled for? Its structures change from one minor version to the next.
static bool same_version(void) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "", wanted[64];
  int length = 0;
  PMPI_Get_library_version(text, &length);
  snprintf(wanted, sizeof wanted, "Open MPI v%d.%d.", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION);
  return strncmp(text, wanted, strlen(wanted)) == 0;
}

static int open_component(void) {
  if (!same_version()) {
    fprintf(stderr, "chasqui: this component is for Open MPI %d.%d: build it against the library that is used\n",
            OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION);
    return OMPI_ERR_NOT_AVAILABLE;
  }
  const char* const preloaded = getenv("LD_PRELOAD");
  if (preloaded != NULL && strstr(preloaded, "libchasqui-mpi-") != NULL) return OMPI_ERR_NOT_AVAILABLE;  // it serves
  if (opal_pmix.put == NULL) return OMPI_SUCCESS;  // no job: somebody lists components
  const uint64_t hash = chasqui_component_hash();
  int code = OMPI_SUCCESS;
  OPAL_MODEX_SEND_STRING(code, OPAL_PMIX_GLOBAL, kKey, &hash, sizeof hash);
  return code;
}

static int register_parameters(void);

mca_coll_base_component_2_0_0_t mca_coll_chasqui_component = {
    .collm_version = {MCA_COLL_BASE_VERSION_2_0_0, .mca_component_name = "chasqui", .mca_component_major_version = 0,
                      .mca_open_component = open_component, .mca_register_component_params = register_parameters},
    .collm_data = {MCA_BASE_METADATA_PARAM_NONE},
    .collm_init_query = init_query,
    .collm_comm_query = query,
};

static int register_parameters(void) {
  mca_base_component_var_register(&mca_coll_chasqui_component.collm_version, "priority",
                                  "Priority of the component chasqui: above those whose collectives it may serve",
                                  MCA_BASE_VAR_TYPE_INT, NULL, 0, 0, OPAL_INFO_LVL_6, MCA_BASE_VAR_SCOPE_READONLY,
                                  &chosen_priority);
  return OMPI_SUCCESS;
}
