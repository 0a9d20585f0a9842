// SPDX-License-Identifier: MIT
// A reduction on a derived datatype: elements travel packed and are laid out as the program described them wherever
// two are folded, because the program's operation expects them so. Ranks may describe their elements differently.
#pragma once

#include "chasqui/run/operator.hpp"
#include "types.hpp"

namespace chasqui::preload {

/// Must stay in place while its operator is used.
struct PackedFold {
  MPI_Op op = MPI_OP_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  TypeFacts facts{};
  MPI_Comm comm = MPI_COMM_NULL;  ///< for packing
  int rank = 0;                   ///< in comm
};

/// Elements of `facts.size` bytes. Time: three typed copies beside the program's operation.
run::Operator operator_of(PackedFold& fold);

}  // namespace chasqui::preload
