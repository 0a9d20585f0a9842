// SPDX-License-Identifier: MIT
// Calls like one before, but for addresses and root: that the arguments are good, and who serves them, was found then. What
// is left is to see that nothing has changed since. Whatever is unusual goes the long way, through serve(), which decides the same.
#pragma once

#include <mpi.h>

#include "preload/serve.hpp"

namespace chasqui::preload {

struct RepeatedCall {
  Collective what;
  MPI_Comm comm;
  MPI_Aint count;  ///< of elements that this rank gives or gets; of a block, where there are several
  MPI_Datatype type;
  MPI_Op op = MPI_OP_NULL;
  bool operator==(const RepeatedCall&) const = default;
};

/// The addresses and the root of this one. What a rank does not use may be anything.
struct Places {
  const void* in = nullptr;
  void* out = nullptr;
  int root = 0;
  bool alike = true;  ///< the other side's count and type are the same; looked at where that side counts
};

/// Makes the call as the one before; false: there is none, or it must be decided anew.
bool repeats(const RepeatedCall& call, const Places& places, FunctionRef<int()> native, int& code);

/// After serve(): is anything on this communicator served? Before the arguments are looked at.
bool may_repeat(MPI_Comm comm);

/// If there is a verdict, the next one like it is repeated. `shape` without addresses, of a predefined type; its
/// operator must outlive it. rounds: may the order of folding change the bits? REQUIRES may_repeat(call.comm)
void remember(const RepeatedCall& call, const run::Call& shape, bool rounds);

/// Of a call that brings nothing: the next one like it goes to the MPI library at once. REQUIRES may_repeat(call.comm)
void remember_empty(const RepeatedCall& call);

}  // namespace chasqui::preload
