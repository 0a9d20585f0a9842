// SPDX-License-Identifier: MIT
// The non-blocking collectives, and those that make persistent ones. MPI promises that they go on whatever the program does next, a receive or a
// file operation included. Under MPICH non-blocking ones are ours where its progress is seen (hooked/progress.hpp). All others go to the MPI
// library, counted with the reason.
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include "preload/hooked/requests.hpp"
#include "preload/native.hpp"
#include "preload/serve.hpp"

namespace chasqui::preload::next {

// Open MPI 4.1 has them under names of its own.
#if defined(OPEN_MPI) && MPI_VERSION < 4
#define CHASQUI_MAKER(Name) MPIX_##Name##_init
#define CHASQUI_OTHER_MAKER(Name) PMPIX_##Name##_init
#define CHASQUI_PREFIX "MPIX_"
#else
#define CHASQUI_MAKER(Name) MPI_##Name##_init
#define CHASQUI_OTHER_MAKER(Name) PMPI_##Name##_init
#define CHASQUI_PREFIX "MPI_"
#endif
#define CHASQUI_NEXT_MAKER(Name, name, parameters, arguments) \
  constinit const Next<decltype(&CHASQUI_MAKER(Name))> Name##_init("P" CHASQUI_PREFIX #Name "_init");
CHASQUI_COLLECTIVES(CHASQUI_NEXT_MAKER)
#ifdef CHASQUI_LARGE_COUNTS
#define CHASQUI_NEXT_LARGE_MAKER(Name, name, parameters, arguments) \
  constinit const Next<decltype(&MPI_##Name##_init_c)> Name##_init_c("PMPI_" #Name "_init_c");
CHASQUI_WITH_COUNTS(CHASQUI_NEXT_LARGE_MAKER)
#endif

}  // namespace chasqui::preload::next

using namespace chasqui::preload;

#ifdef CHASQUI_GOES_ON
/// Ends a function that is called, if the call is ours.
#define CHASQUI_UNLESS_OURS(name, form, give, arguments)                                          \
  if (may_go_on(comm, request)) {                                                                 \
    void* const call = chasqui_plan_##name(static_cast<int>(Form::form), CHASQUI_OPEN arguments); \
    if (call != nullptr) return give(call, comm, request);                                        \
  }
#define CHASQUI_PLANS(Name, name, parameters, arguments) \
  extern "C" void* chasqui_plan_##Name(int form, CHASQUI_OPEN parameters);
#define CHASQUI_PLANS_LARGE(Name, name, parameters, arguments) \
  extern "C" void* chasqui_plan_##Name##_c(int form, CHASQUI_OPEN parameters);
CHASQUI_COLLECTIVES(CHASQUI_PLANS)
CHASQUI_WITH_COUNTS_OF(CHASQUI_PLANS_LARGE, MPI_Count, MPI_Aint)
#define CHASQUI_NOT_OURS(what)
#else
#define CHASQUI_UNLESS_OURS(name, form, give, arguments)
#define CHASQUI_NOT_OURS(what) pass_on(Collective::what);
#endif

#define CHASQUI_PASS(Name, name, parameters, arguments)                                               \
  extern "C" int MPI_I##name(CHASQUI_OPEN parameters, MPI_Request* request) {                         \
    CHASQUI_CALLER                                                                                    \
    CHASQUI_UNLESS_OURS(Name, nonblocking, hand_out, arguments)                                       \
    CHASQUI_NOT_OURS(I##name)                                                                         \
    return next::I##name(CHASQUI_OPEN arguments, request);                                            \
  }                                                                                                   \
  CHASQUI_NAMES(I##name)                                                                              \
  extern "C" int CHASQUI_MAKER(Name)(CHASQUI_OPEN parameters, MPI_Info info, MPI_Request * request) { \
    CHASQUI_CALLER                                                                                    \
    CHASQUI_UNLESS_OURS(Name, persistent, hand_out_persistent, arguments)                             \
    CHASQUI_NOT_OURS(Name##_init)                                                                     \
    return next::Name##_init(CHASQUI_OPEN arguments, info, request);                                  \
  }                                                                                                   \
  extern "C" decltype(CHASQUI_MAKER(Name)) CHASQUI_OTHER_MAKER(Name) [[gnu::alias(CHASQUI_PREFIX #Name "_init")]];
CHASQUI_COLLECTIVES(CHASQUI_PASS)

#ifdef CHASQUI_LARGE_COUNTS
#define CHASQUI_PASS_LARGE(Name, name, parameters, arguments)                                        \
  extern "C" int MPI_I##name##_c(CHASQUI_OPEN parameters, MPI_Request* request) {                    \
    CHASQUI_CALLER                                                                                   \
    CHASQUI_UNLESS_OURS(Name##_c, nonblocking, hand_out, arguments)                                  \
    CHASQUI_NOT_OURS(I##name)                                                                        \
    return next::I##name##_c(CHASQUI_OPEN arguments, request);                                       \
  }                                                                                                  \
  CHASQUI_NAMES(I##name##_c)                                                                         \
  extern "C" int MPI_##Name##_init_c(CHASQUI_OPEN parameters, MPI_Info info, MPI_Request* request) { \
    CHASQUI_CALLER                                                                                   \
    CHASQUI_UNLESS_OURS(Name##_c, persistent, hand_out_persistent, arguments)                        \
    CHASQUI_NOT_OURS(Name##_init)                                                                    \
    return next::Name##_init_c(CHASQUI_OPEN arguments, info, request);                               \
  }                                                                                                  \
  CHASQUI_NAMES(Name##_init_c)
CHASQUI_WITH_COUNTS_OF(CHASQUI_PASS_LARGE, MPI_Count, MPI_Aint)
#endif
