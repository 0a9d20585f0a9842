// SPDX-License-Identifier: MIT
// Which side makes a reduction whose result depends on the order of folding: chosen before its first call, by rehearsals with the program's
// data, because the same reduction gives the same bits throughout a run.
#pragma once

#include <mpi.h>

#include "preload/output.hpp"
#include "preload/serve.hpp"
#include "preload/verdict/decide.hpp"

namespace chasqui::preload {

/// Rehearses as often as it takes to be sure, or until an error, which is that of the call. before: of what is in place.
int choose_for_good(Collective what, MPI_Comm comm, const Interposed& call, const Decision& decision,
                    const OutputCopy& before);

}  // namespace chasqui::preload
