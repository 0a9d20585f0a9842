// SPDX-License-Identifier: MIT
// CHASQUI_REPRODUCIBLE: reductions folded from the left in rank order, whatever the timing, the size or the nodes.
// The vector is shared out: one rank gets every contribution to its share, folds them in rank order and hands the
// results round. About 2 times the vector leaves each rank, as in an ordinary all-reduce of long vectors. Every element
// is folded as ((x0 o x1) o x2) o ... alone, so the bits do not depend on how the vector is cut.
#pragma once

#include <vector>

#include "preload/serve.hpp"

namespace chasqui::preload {

/// Who gets which fold: all ranks, the root, rank r that of ranks 0..r (or 0..r-1), or each rank its own share.
enum class Keep { all, root, upto, before, share };

struct ReproducibleFold {
  const void* in;
  void* out;
  int count;  ///< elements of one rank
  MPI_Datatype type;
  MPI_Op op;
  Keep keep;
  int root = -1;
  std::vector<int> shares{};  ///< Keep::share: elements of each rank, `count` together
};

/// Moves data by the MPI library's own collectives on the program's communicator, piece by piece: memory of a few MiB.
/// Throws Error when the MPI library refuses.
void fold_reproducibly(ServedCall& served, const ReproducibleFold& fold);

}  // namespace chasqui::preload
