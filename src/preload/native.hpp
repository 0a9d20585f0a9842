// SPDX-License-Identifier: MIT
// A collective has two names here: the one by which it is called, and the one by which a call that is passed on goes to the MPI
// library. In the drop-in library these are MPI_X and PMPI_X; in the component of Open MPI (component/) what its module
// offers, and what the module below it does.
#pragma once

#include <mpi.h>

#include "preload/names.hpp"

#ifdef CHASQUI_COMPONENT
#define CHASQUI_CALLED(name) chasqui_called_##name
#define CHASQUI_NATIVE(name) chasqui_below_##name
#define CHASQUI_DECLARE(name) extern "C" decltype(MPI_##name) chasqui_called_##name, chasqui_below_##name;
CHASQUI_SERVED(CHASQUI_DECLARE)
#undef CHASQUI_DECLARE
#else
#define CHASQUI_CALLED(name) MPI_##name
#define CHASQUI_NATIVE(name) PMPI_##name
#endif

namespace chasqui::preload {

/// Who calls the program's error handler when a collective returns an error? In a component, whoever called it.
#ifdef CHASQUI_COMPONENT
inline constexpr bool kCallsHandlers = false;
#else
inline constexpr bool kCallsHandlers = true;
#endif

}  // namespace chasqui::preload
