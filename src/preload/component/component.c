// SPDX-License-Identifier: MIT
// mca_coll_chasqui.so as Open MPI sees it: a component that offers a module to each communicator, and what the module below it
// did. The collectives themselves are those of the drop-in library (preload/*_calls.cpp).
#define _GNU_SOURCE  // dladdr1
#include "preload/component/component.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ompi_config.h"
//
#include "mpi.h"
#include "ompi/attribute/attribute.h"
#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/group/group.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/hook/base/base.h"
#include "ompi/runtime/mpiruntime.h"
#include "opal/mca/pmix/pmix.h"
#include "opal/runtime/opal_progress.h"
#include "preload/collectives.h"

// The three forms of a collective as members of Open MPI's structures.
#define CHASQUI_FORMS(X, name) X(name) X(i##name) X(name##_init)
/// Those in which Open MPI counts the calls on a communicator.
#define CHASQUI_COUNTED_FORMS(X, name) X(i##name) X(name##_init)

typedef struct {
  mca_coll_base_module_t super;
  mca_coll_base_comm_coll_t below;
  bool steps_aside;  ///< of what is below something may look for its own in the communicator
  void* holder;      ///< of what does not block, if it is held back
} chasqui_module_t;

static void construct(chasqui_module_t* module) {
  memset(&module->below, 0, sizeof module->below);
  module->steps_aside = false;
  module->holder = NULL;
}

static void destruct(chasqui_module_t* module) {
#define CHASQUI_LET_ONE_GO(name) \
  if (module->below.coll_##name##_module != NULL) OBJ_RELEASE(module->below.coll_##name##_module);
#define CHASQUI_LET_GO(Name, name, parameters, arguments) CHASQUI_FORMS(CHASQUI_LET_ONE_GO, name)
#define CHASQUI_LET_NEIGHBOURS_GO(Name, name, parameters, arguments) CHASQUI_COUNTED_FORMS(CHASQUI_LET_ONE_GO, name)
  CHASQUI_COLLECTIVES(CHASQUI_LET_GO)
  CHASQUI_NEIGHBOURHOOD_COLLECTIVES(CHASQUI_LET_NEIGHBOURS_GO)
}

OBJ_CLASS_DECLARATION(chasqui_module_t);
OBJ_CLASS_INSTANCE(chasqui_module_t, mca_coll_base_module_t, construct, destruct);

/// Of the collective that a thread is in: what is passed on goes below it. One place for all threads where they call one after another; see
/// this_thread.hpp.
static _Thread_local chasqui_module_t* current_of_thread;
static chasqui_module_t* current_of_all;
static chasqui_module_t** current_place(void) {
  return ompi_mpi_thread_multiple ? &current_of_thread : &current_of_all;
}

/// Where Open MPI's component han does not fit a communicator, it calls what the communicator has by now, which it takes for what was there before
/// itself. That would be us, who pass the call on to han, without end. So han is called while the communicator has what we found there: before, and
/// again afterwards. What han puts there meanwhile is below us from then on.
static void change_places(MPI_Comm comm, chasqui_module_t* own) {
  mca_coll_base_comm_coll_t *const here = comm->c_coll, *const below = &own->below;
#define CHASQUI_SWAP(member)                            \
  do {                                                  \
    __typeof__(here->member) const kept = here->member; \
    here->member = below->member;                       \
    below->member = kept;                               \
  } while (0);
#define CHASQUI_TRADE(Name, name, parameters, arguments) CHASQUI_SWAP(coll_##name) CHASQUI_SWAP(coll_##name##_module)
  CHASQUI_COLLECTIVES(CHASQUI_TRADE)
}

#define CHASQUI_BLOCKING(Name, name, parameters, arguments)                                       \
  int chasqui_called_##Name parameters;                                                           \
  int chasqui_below_##Name parameters;                                                            \
  int chasqui_below_##Name parameters {                                                           \
    chasqui_module_t* const own = *current_place();                                               \
    const mca_coll_base_comm_coll_t* const below = own->steps_aside ? comm->c_coll : &own->below; \
    if (own->steps_aside) change_places(comm, own);                                               \
    const int code = below->coll_##name(CHASQUI_OPEN arguments, below->coll_##name##_module);     \
    if (own->steps_aside) change_places(comm, own);                                               \
    return code;                                                                                  \
  }                                                                                               \
  static int called_##name(CHASQUI_OPEN parameters, mca_coll_base_module_t* module) {             \
    chasqui_module_t** const current = current_place();                                           \
    chasqui_module_t* const before = *current;                                                    \
    *current = (chasqui_module_t*)module;                                                         \
    const int code = chasqui_called_##Name arguments;                                             \
    *current = before;                                                                            \
    return code;                                                                                  \
  }
CHASQUI_COLLECTIVES(CHASQUI_BLOCKING)

/// A request of Open MPI's non-blocking collectives: into it Open MPI puts the program's types and operations until the end. The
/// header of its own needs one that Debian does not ship, so it is described here, as it is in 4.1; same_version() compares sizes.
typedef struct {
  ompi_request_t super;
  void *callback, *callback_data;
  opal_object_t* kept[2];
} ompi_coll_base_nbc_request_t;
OBJ_CLASS_DECLARATION(ompi_coll_base_nbc_request_t);

/// A request that Open MPI completes by our word. Never given back, but used again: Open MPI looks into it after freeing it.
typedef struct chasqui_request_t {
  ompi_coll_base_nbc_request_t super;
  void* call;
  struct chasqui_request_t* next;  ///< among those that nobody has
} chasqui_request_t;

static chasqui_request_t* spare;

void chasqui_component_complete(void* request, int code) {
  ompi_request_t* const one = request;
  one->req_status.MPI_ERROR = code;
  ompi_request_complete(one, true);
}

static int start_requests(size_t count, ompi_request_t** requests) {
  for (size_t i = 0; i < count; ++i) {
    if (!REQUEST_COMPLETE(requests[i])) return MPI_ERR_REQUEST;
    requests[i]->req_state = OMPI_REQUEST_ACTIVE;
    requests[i]->req_complete = REQUEST_PENDING;
    requests[i]->req_status.MPI_ERROR = MPI_SUCCESS;
    const int code = chasqui_component_start(((chasqui_request_t*)requests[i])->call, requests[i], 1);
    if (code == MPI_SUCCESS) continue;
    chasqui_component_complete(requests[i], code);
    return code;
  }
  return OMPI_SUCCESS;
}

static int free_request(ompi_request_t** request) {
  ompi_request_t* const one = *request;
  chasqui_request_t* const own = (chasqui_request_t*)one;
  if (!REQUEST_COMPLETE(one)) return MPI_ERR_REQUEST;
  chasqui_component_forget(own->call);
  OMPI_REQUEST_FINI(one);
  OBJ_RELEASE(one->req_mpi_object.comm);
  own->next = spare;
  spare = own;
  *request = MPI_REQUEST_NULL;
  return OMPI_SUCCESS;
}

static int cancel_request(ompi_request_t* request, int flag) {
  (void)request, (void)flag;
  return MPI_ERR_REQUEST;
}

static void construct_request(chasqui_request_t* request) {
  ompi_request_t* const one = &request->super.super;
  one->req_type = OMPI_REQUEST_COLL;
  one->req_start = start_requests;
  one->req_free = free_request;
  one->req_cancel = cancel_request;
}

OBJ_CLASS_DECLARATION(chasqui_request_t);
OBJ_CLASS_INSTANCE(chasqui_request_t, ompi_coll_base_nbc_request_t, construct_request, NULL);

void chasqui_component_keep_going(void) {
  static bool advancing = false;
  if (!advancing) opal_progress_register(chasqui_component_advance);
  advancing = true;
}

void chasqui_component_progress(void) { opal_progress(); }

uint32_t chasqui_component_number(MPI_Comm comm) { return comm->c_contextid; }

int chasqui_component_is_complete(MPI_Request request) { return REQUEST_COMPLETE(request); }

void* chasqui_component_hold(void* holder) {
  chasqui_module_t* const module = *current_place();
  OBJ_RETAIN(module);
  module->holder = holder;
  return module;
}

void chasqui_component_release(void* module) {
  chasqui_module_t* own = module;
  own->holder = NULL;
  OBJ_RELEASE(own);
}

void* chasqui_component_take_call(void* request) {
  chasqui_request_t* const own = request;
  void* const call = own->call;
  own->call = NULL;
  return call;
}

int chasqui_component_ended_below(void* inner, int* code) {
  ompi_request_t* request = inner;
  if (!REQUEST_COMPLETE(request)) return 0;
  *code = request->req_status.MPI_ERROR;
  ompi_request_free(&request);
  return 1;
}

void chasqui_component_release_comm(MPI_Comm comm) { OBJ_RELEASE(comm); }

/// A request for a call that was planned; one that is neither persistent nor held back is started.
static int hand_out(void* call, MPI_Comm comm, bool persistent, bool held, ompi_request_t** request) {
  chasqui_component_keep_going();
  chasqui_request_t* own = spare;
  if (own != NULL) spare = own->next;
  else own = OBJ_NEW(chasqui_request_t);
  if (own == NULL) return OMPI_ERR_OUT_OF_RESOURCE;
  own->call = call;
  ompi_request_t* const one = &own->super.super;
  OMPI_REQUEST_INIT(one, persistent);
  one->req_free = free_request;
  one->req_mpi_object.comm = comm;
  OBJ_RETAIN(comm);  // the program may free it before the request
  one->req_status = ompi_status_empty;
  *request = one;
  if (persistent) return OMPI_SUCCESS;
  one->req_state = OMPI_REQUEST_ACTIVE;
  if (held) return OMPI_SUCCESS;
  const int code = chasqui_component_start(call, one, 0);
  if (code == MPI_SUCCESS) return OMPI_SUCCESS;
  one->req_complete = REQUEST_COMPLETED;
  free_request(request);
  return code;
}

/// The instructions of a function.
typedef struct {
  const char *begin, *end;
} chasqui_code_t;

static chasqui_code_t code_of(const void* function) {
  Dl_info info;
  const ElfW(Sym)* symbol = NULL;
  const int found = dladdr1(function, &info, (void**)&symbol, RTLD_DL_SYMENT);
  const chasqui_code_t code = {function, (const char*)function + (found != 0 && symbol != NULL ? symbol->st_size : 0)};
  return code;
}

/// Does the program call, through MPI's function? Open MPI makes non-blocking calls of its own on the program's communicators
/// (MPI_Comm_idup), whenever it makes progress: these come in another order on each rank, and go below.
#define CHASQUI_OF_THE_PROGRAM(function, caller)                             \
  (__extension__({                                                           \
    static chasqui_code_t code;                                              \
    if (code.begin == NULL) code = code_of((const void*)(function));         \
    (const char*)(caller) >= code.begin && (const char*)(caller) < code.end; \
  }))

/// Open MPI counts what it is asked to plan together with what does not block. Planning may wait.
static void wait_for_held_back(chasqui_module_t* module) {
  while (module->holder != NULL) opal_progress();
}

#define CHASQUI_LATER(Name, name, parameters, arguments)                                                         \
  void chasqui_hold_back_##Name(void* holder, void* module, void* call, void* request, CHASQUI_OPEN parameters); \
  int chasqui_begin_below_##Name(void* module, void** request, CHASQUI_OPEN parameters);                         \
  int chasqui_begin_below_##Name(void* module, void** request, CHASQUI_OPEN parameters) {                        \
    const mca_coll_base_comm_coll_t* const below = &((chasqui_module_t*)module)->below;                          \
    return below->coll_i##name(CHASQUI_OPEN arguments, (ompi_request_t**)request, below->coll_i##name##_module); \
  }
CHASQUI_COLLECTIVES(CHASQUI_LATER)
CHASQUI_NEIGHBOURHOOD_COLLECTIVES(CHASQUI_LATER)

// What is not ours goes below, in the same form. What is held back, ours or not, is begun later.
#define CHASQUI_LASTING(Name, name, parameters, arguments)                                                             \
  void* chasqui_plan_##Name(int form, CHASQUI_OPEN parameters);                                                        \
  static int called_i##name(CHASQUI_OPEN parameters, ompi_request_t** request, mca_coll_base_module_t* module) {       \
    mca_coll_base_comm_coll_t* const below = &((chasqui_module_t*)module)->below;                                      \
    chasqui_module_t** const current = current_place();                                                                \
    chasqui_module_t* const before = *current;                                                                         \
    *current = (chasqui_module_t*)module;                                                                              \
    void* const call = CHASQUI_OF_THE_PROGRAM(PMPI_I##name, __builtin_return_address(0))                               \
                           ? chasqui_plan_##Name(1, CHASQUI_OPEN arguments)                                            \
                           : NULL;                                                                                     \
    int code;                                                                                                          \
    if (((chasqui_module_t*)module)->holder != NULL) {                                                                 \
      code = hand_out(call, comm, false, true, request);                                                               \
      if (code == OMPI_SUCCESS) {                                                                                      \
        OBJ_RETAIN(comm);                                                                                              \
        chasqui_hold_back_##Name(((chasqui_module_t*)module)->holder, module, call, *request, CHASQUI_OPEN arguments); \
      }                                                                                                                \
    } else {                                                                                                           \
      code = call != NULL ? hand_out(call, comm, false, false, request)                                                \
                          : below->coll_i##name(CHASQUI_OPEN arguments, request, below->coll_i##name##_module);        \
    }                                                                                                                  \
    *current = before;                                                                                                 \
    return code;                                                                                                       \
  }                                                                                                                    \
  static int called_##name##_init(CHASQUI_OPEN parameters, MPI_Info info, ompi_request_t** request,                    \
                                  mca_coll_base_module_t* module) {                                                    \
    mca_coll_base_comm_coll_t* const below = &((chasqui_module_t*)module)->below;                                      \
    chasqui_module_t** const current = current_place();                                                                \
    chasqui_module_t* const before = *current;                                                                         \
    *current = (chasqui_module_t*)module;                                                                              \
    void* const call = chasqui_plan_##Name(2, CHASQUI_OPEN arguments);                                                 \
    if (call == NULL) wait_for_held_back((chasqui_module_t*)module);                                                   \
    const int code = call != NULL ? hand_out(call, comm, true, false, request)                                         \
                                  : below->coll_##name##_init(CHASQUI_OPEN arguments, info, request,                   \
                                                              below->coll_##name##_init_module);                       \
    *current = before;                                                                                                 \
    return code;                                                                                                       \
  }
CHASQUI_COLLECTIVES(CHASQUI_LASTING)

// Those between neighbours always go below, but in their place among the others.
#define CHASQUI_NEIGHBOURS(Name, name, parameters, arguments)                                                          \
  static int called_i##name(CHASQUI_OPEN parameters, ompi_request_t** request, mca_coll_base_module_t* module) {       \
    chasqui_module_t* const own = (chasqui_module_t*)module;                                                           \
    if (own->holder == NULL)                                                                                           \
      return own->below.coll_i##name(CHASQUI_OPEN arguments, request, own->below.coll_i##name##_module);               \
    const int code = hand_out(NULL, comm, false, true, request);                                                       \
    if (code != OMPI_SUCCESS) return code;                                                                             \
    OBJ_RETAIN(comm);                                                                                                  \
    chasqui_hold_back_##Name(own->holder, module, NULL, *request, CHASQUI_OPEN arguments);                             \
    return OMPI_SUCCESS;                                                                                               \
  }                                                                                                                    \
  static int called_##name##_init(CHASQUI_OPEN parameters, MPI_Info info, ompi_request_t** request,                    \
                                  mca_coll_base_module_t* module) {                                                    \
    chasqui_module_t* const own = (chasqui_module_t*)module;                                                           \
    wait_for_held_back(own);                                                                                           \
    return own->below.coll_##name##_init(CHASQUI_OPEN arguments, info, request, own->below.coll_##name##_init_module); \
  }
CHASQUI_NEIGHBOURHOOD_COLLECTIVES(CHASQUI_NEIGHBOURS)

static bool is_han(const mca_coll_base_module_t* module) {
  return strcmp(module->super.obj_class->cls_name, "mca_coll_han_module_t") == 0;
}

static int enable(mca_coll_base_module_t* module, struct ompi_communicator_t* comm) {
  chasqui_module_t* const own = (chasqui_module_t*)module;
#define CHASQUI_ONE_IS_THERE(name) \
  if (comm->c_coll->coll_##name == NULL) return OMPI_ERR_NOT_FOUND;
#define CHASQUI_IS_THERE(Name, name, parameters, arguments) CHASQUI_FORMS(CHASQUI_ONE_IS_THERE, name)
#define CHASQUI_HOLD_ONE(name)                                          \
  own->below.coll_##name = comm->c_coll->coll_##name;                   \
  own->below.coll_##name##_module = comm->c_coll->coll_##name##_module; \
  OBJ_RETAIN(own->below.coll_##name##_module);
#define CHASQUI_HOLD(Name, name, parameters, arguments) CHASQUI_FORMS(CHASQUI_HOLD_ONE, name)
#define CHASQUI_LOOK(Name, name, parameters, arguments) \
  own->steps_aside = own->steps_aside || is_han(own->below.coll_##name##_module);
#define CHASQUI_HOLD_ONE_THAT_IS_THERE(name)                            \
  if (comm->c_coll->coll_##name == NULL) own->super.coll_##name = NULL; \
  else {                                                                \
    CHASQUI_HOLD_ONE(name)                                              \
  }
#define CHASQUI_HOLD_NEIGHBOURS(Name, name, parameters, arguments) \
  CHASQUI_COUNTED_FORMS(CHASQUI_HOLD_ONE_THAT_IS_THERE, name)
  CHASQUI_COLLECTIVES(CHASQUI_IS_THERE)
  CHASQUI_COLLECTIVES(CHASQUI_HOLD)
  CHASQUI_NEIGHBOURHOOD_COLLECTIVES(CHASQUI_HOLD_NEIGHBOURS)
  CHASQUI_COLLECTIVES(CHASQUI_LOOK)
  return OMPI_SUCCESS;
}

static int chosen_priority = 80;

/// Is there something to serve on this communicator?
static mca_coll_base_module_t* query(struct ompi_communicator_t* comm, int* priority) {
  if (OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2) return NULL;
  chasqui_module_t* const module = OBJ_NEW(chasqui_module_t);
  if (module == NULL) return NULL;
  module->super.coll_module_enable = enable;
#define CHASQUI_OFFER_ONE(name) module->super.coll_##name = called_##name;
#define CHASQUI_OFFER(Name, name, parameters, arguments) CHASQUI_FORMS(CHASQUI_OFFER_ONE, name)
#define CHASQUI_OFFER_NEIGHBOURS(Name, name, parameters, arguments) CHASQUI_COUNTED_FORMS(CHASQUI_OFFER_ONE, name)
  CHASQUI_COLLECTIVES(CHASQUI_OFFER)
  CHASQUI_NEIGHBOURHOOD_COLLECTIVES(CHASQUI_OFFER_NEIGHBOURS)
  *priority = chosen_priority;
  return &module->super;
}

static void initialized(int argc, char** argv, int requested, int* provided) {
  (void)argc, (void)argv, (void)requested, (void)provided;
  chasqui_component_begin(ompi_mpi_thread_multiple);
}

/// MPI_Finalize first deletes what the program has attached to MPI_COMM_SELF, by functions of the program's, which may call collectives. So this
/// is done here, as MPI_Finalize would do it next, and what serves ends after the last of them.
static void finalizing(void) {
  static bool called = false;
  if (called) return;
  called = true;
  ompi_communicator_t* const self = &ompi_mpi_comm_self.comm;
  if (self->c_keyhash != NULL) {
    ompi_attr_delete_all(COMM_ATTR, self, self->c_keyhash);
    OBJ_RELEASE(self->c_keyhash);
    self->c_keyhash = NULL;
  }
  chasqui_component_end();
}

static ompi_hook_base_component_t hooks = {
    .hookm_version = {OMPI_HOOK_BASE_VERSION_1_0_0, .mca_component_name = "chasqui"},
    .hookm_mpi_init_bottom = initialized,
    .hookm_mpi_finalize_top = finalizing,
};

static char kKey[] = "chasqui.settings";

/// Once in MPI_Init, when all components of all processes are open.
static int init_query(bool progress_threads, bool mpi_threads) {
  (void)progress_threads, (void)mpi_threads;
  return ompi_hook_base_register_callbacks(&hooks);
}

int chasqui_component_hash_of(int rank, uint64_t* hash) {
  // Of most processes on other nodes Open MPI has nothing but the name until somebody talks to them.
  const opal_process_name_t name = ompi_group_get_proc_name(ompi_mpi_comm_world.comm.c_remote_group, rank);
  uint8_t* bytes = NULL;
  size_t size = 0;
  int code = OMPI_SUCCESS;
  OPAL_MODEX_RECV_STRING(code, kKey, &name, &bytes, &size);
  const int found = code == OPAL_SUCCESS && size == sizeof *hash;
  if (found) memcpy(hash, bytes, sizeof *hash);
  free(bytes);
  return found;
}

int chasqui_component_is_named(MPI_Datatype type) { return ompi_datatype_is_predefined(type) && type->args == NULL; }
int chasqui_component_is_f90(MPI_Datatype type) { return ompi_datatype_is_predefined(type) && type->args != NULL; }

/// Is this the Open MPI that the component was compiled for? Its structures change from one minor version to the next.
static bool same_version(void) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "", wanted[64];
  int length = 0;
  PMPI_Get_library_version(text, &length);
  snprintf(wanted, sizeof wanted, "Open MPI v%d.%d.", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION);
  return strncmp(text, wanted, strlen(wanted)) == 0 &&
         ompi_coll_base_nbc_request_t_class.cls_sizeof == sizeof(ompi_coll_base_nbc_request_t);
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
    .collm_data = {.param_field = MCA_BASE_METADATA_PARAM_NONE},
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
