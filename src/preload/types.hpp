// SPDX-License-Identifier: MIT
// Datatypes and operations as the private collectives see them: packed bytes in the order of the type map, folded by the
// program's operation on elements that are laid out as the program described them.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/mpi/comm.hpp"
#include "chasqui/run/call.hpp"

namespace chasqui::preload {

/// Numbers with a sign, by their bytes.
enum class Number { other, int1, int2, int4, int8, real4, real8 };

struct TypeFacts {
  bool valid = false;
  bool derived = false;           ///< its handle may come to mean another type
  bool dense = false;             ///< predefined, without gaps: elements can be copied as bytes
  int kind = 0;                   ///< predefined: which operations are defined on it
  Number number = Number::other;  ///< predefined: what it is in C, whatever its name is
  std::size_t size = 0;
  MPI_Aint extent = 0, true_lb = 0, true_extent = 0;
};

/// Remembered per thread; those of a derived type until a derived type that was looked at ends.
TypeFacts facts_of(MPI_Datatype type);
/// Two of them, for calls that look at nothing else.
struct TypeUse {
  bool valid = false, dense = false;
};
TypeUse use_of(MPI_Datatype type);

extern std::atomic<std::uint64_t> type_generation;
/// Grows whenever the handle of a derived type that facts_of() has seen may come to mean another type: the type has an attribute that says so
/// when it is deleted with it.
inline std::uint64_t generation_of_types() { return type_generation.load(std::memory_order_acquire); }

/// In MPI_Init, before anything is served.
void open_types();

#ifndef CHASQUI_COMPONENT
/// Where there is a list, facts_of() puts the derived types that it is asked about there.
extern constinit thread_local std::vector<MPI_Datatype>* derived_types_seen;
#endif

/// The bytes that `count` elements at `address` span: address+low .. address+high-1.
struct ByteRange {
  MPI_Aint low = 0, high = 0;
};
ByteRange range_of(const TypeFacts& facts, MPI_Aint count);

/// Addresses as MPI counts them: what lies before the element's origin is reached with negative numbers.
template <typename T>
T* moved(T* where, MPI_Aint bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<MPI_Aint>(where) + bytes);
}

/// Copies elements of a datatype to and from packed bytes. Throws Error when the MPI library refuses or packs otherwise.
struct TypePacker {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  TypeFacts facts{};

  void pack(const void* from, MPI_Aint count, void* packed) const;
  void unpack(void* to, MPI_Aint count, const void* packed) const;
};

bool of_program(MPI_Op op);  ///< MPI_Op_create made it

/// Is `op` a user's, or one that MPI defines on the predefined type?
bool defined(MPI_Op op, const TypeFacts& facts);

/// Of two floating-point numbers each, predefined?
bool is_complex(const TypeFacts& facts);

/// May the order of folding so many ranks' elements change the bits? Not with MPI's own operations on whole numbers, logical values and bytes. Of
/// floating-point numbers even the larger of two depends on it: +0 and -0, and values that are no numbers. The sum or product of two is one
/// in either order, but for which of two values that are no numbers it is. Sums of 8 and 16 bits that overflow saturate in
/// Open MPI 4.1 where it adds many at a time, and wrap where it adds one.
bool order_matters(MPI_Op op, const TypeFacts& facts, int ranks);

/// An operation on packed elements. Must stay in place while its operator is used.
struct TypeFold {
  MPI_Op op = MPI_OP_NULL;
  TypePacker packer{};
  mpi::FoldContext dense{};

  /// Fast loops for the common pairs, the MPI library's for all others. Elements with gaps are laid out wherever two are
  /// folded, because the program's operation expects them so: three typed copies beside it.
  run::Operator operator_of();
};

}  // namespace chasqui::preload
