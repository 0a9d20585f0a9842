// SPDX-License-Identifier: MIT
// CHASQUI_REPRODUCIBLE: reductions folded from the left in rank order, whatever the timing, the size or the nodes.
#pragma once

#include "serve.hpp"

namespace chasqui::preload {

/// `count` elements of every rank are brought together piece by piece by the MPI library's gathers and folded here:
/// P times the traffic of a reduction, and memory of a few MiB. `prefix` = -1: the fold of all ranks; else of the
/// first `prefix` ranks (0: `out` stays). root < 0: everybody gets it. Throws Error when the MPI library refuses.
void fold_in_order(Work& work, const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, int prefix);

}  // namespace chasqui::preload
