// SPDX-License-Identifier: MIT
// Calls that always go to the MPI library, counted with the reason: the non-blocking collectives. MPI promises that they
// go on whatever the program does next, a receive or a file operation included; only the MPI library can keep that.
#include <mpi.h>

#include "preload/serve.hpp"

#define CHASQUI_PASS(Name, name, parameters, arguments)                       \
  extern "C" int MPI_I##name(CHASQUI_OPEN parameters, MPI_Request* request) { \
    chasqui::preload::pass_on(chasqui::preload::Collective::I##name);         \
    return PMPI_I##name(CHASQUI_OPEN arguments, request);                     \
  }
CHASQUI_COLLECTIVES(CHASQUI_PASS)
