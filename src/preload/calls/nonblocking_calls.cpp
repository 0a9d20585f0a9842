// SPDX-License-Identifier: MIT
// Calls that always go to the MPI library, counted with the reason: the non-blocking collectives, and those that make persistent ones. MPI
// promises that they go on whatever the program does next, a receive or a file operation included; only the MPI library can keep that.
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

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

#define CHASQUI_PASS(Name, name, parameters, arguments)                                               \
  extern "C" int MPI_I##name(CHASQUI_OPEN parameters, MPI_Request* request) {                         \
    CHASQUI_CALLER                                                                                    \
    pass_on(Collective::I##name);                                                                     \
    return next::I##name(CHASQUI_OPEN arguments, request);                                            \
  }                                                                                                   \
  CHASQUI_NAMES(I##name)                                                                              \
  extern "C" int CHASQUI_MAKER(Name)(CHASQUI_OPEN parameters, MPI_Info info, MPI_Request * request) { \
    CHASQUI_CALLER                                                                                    \
    pass_on(Collective::Name##_init);                                                                 \
    return next::Name##_init(CHASQUI_OPEN arguments, info, request);                                  \
  }                                                                                                   \
  extern "C" decltype(CHASQUI_MAKER(Name)) CHASQUI_OTHER_MAKER(Name) [[gnu::alias(CHASQUI_PREFIX #Name "_init")]];
CHASQUI_COLLECTIVES(CHASQUI_PASS)

#ifdef CHASQUI_LARGE_COUNTS
#define CHASQUI_PASS_LARGE(Name, name, parameters, arguments)                                        \
  extern "C" int MPI_I##name##_c(CHASQUI_OPEN parameters, MPI_Request* request) {                    \
    CHASQUI_CALLER                                                                                   \
    pass_on(Collective::I##name);                                                                    \
    return next::I##name##_c(CHASQUI_OPEN arguments, request);                                       \
  }                                                                                                  \
  CHASQUI_NAMES(I##name##_c)                                                                         \
  extern "C" int MPI_##Name##_init_c(CHASQUI_OPEN parameters, MPI_Info info, MPI_Request* request) { \
    CHASQUI_CALLER                                                                                   \
    pass_on(Collective::Name##_init);                                                                \
    return next::Name##_init_c(CHASQUI_OPEN arguments, info, request);                               \
  }                                                                                                  \
  CHASQUI_NAMES(Name##_init_c)
CHASQUI_WITH_COUNTS_OF(CHASQUI_PASS_LARGE, MPI_Count, MPI_Aint)
#endif
