// SPDX-License-Identifier: MIT
// Datatypes and operations as the private collectives see them: bytes in the order of the type map.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "chasqui/mpi/comm.hpp"
#include "chasqui/run/operator.hpp"

namespace chasqui::preload {

struct TypeFacts {
  bool valid = false;
  bool dense = false;  ///< predefined, without gaps: elements can be copied as bytes
  int kind = 0;        ///< predefined: which operations are defined on it
  std::size_t size = 0;
  MPI_Aint extent = 0, true_lb = 0, true_extent = 0;
};

/// Predefined types are remembered per thread; nothing is kept of derived ones, whose handles come again.
TypeFacts facts_of(MPI_Datatype type);

/// The bytes that `count` elements at `address` span: address+low .. address+high-1.
struct Span {
  MPI_Aint low = 0, high = 0;
};
Span span_of(const TypeFacts& facts, MPI_Aint count);

/// Addresses as MPI counts them: what lies before the element's origin is reached with negative numbers.
template <typename T>
T* moved(T* where, MPI_Aint bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<MPI_Aint>(where) + bytes);
}

/// Copies elements to and from packed bytes. `comm` is private (or, with buffers that are not MPI_BOTTOM, any) and
/// `rank` the own one in it. Throws Error when the MPI library refuses or packs otherwise.
void pack(const void* from, int count, MPI_Datatype type, const TypeFacts& facts, void* packed, MPI_Comm comm,
          int rank);
void unpack(void* to, int count, MPI_Datatype type, const TypeFacts& facts, const void* packed, MPI_Comm comm,
            int rank);

/// Is `op` a user's, or one that MPI defines on the predefined type?
bool defined(MPI_Op op, const TypeFacts& facts);

/// Fast loops for the common pairs, the MPI library's for all others; `context` must stay while it is used.
run::Operator operator_for(mpi::FoldContext& context);

}  // namespace chasqui::preload
