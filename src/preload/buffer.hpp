// SPDX-License-Identifier: MIT
// A buffer as a call of data movement describes it, and what a look at the arguments says. Data travels as bytes in the
// order of the type map; derived types are packed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "serve.hpp"

namespace chasqui::preload {

inline constexpr std::size_t kMostMoved = std::size_t{1} << 28;  ///< bytes of all blocks together

inline constexpr auto nothing = [](Work&) {};

/// `blocks` blocks of `count` elements each, one after another, in the program's memory.
struct Buffer {
  void* where;
  int count;
  MPI_Datatype type;
  TypeFacts facts;

  Buffer(const void* where_, int count_, MPI_Datatype type_)
      : where(const_cast<void*>(where_)), count(count_), type(type_), facts(facts_of(type_)) {}
  std::size_t bytes() const { return static_cast<std::size_t>(count) * facts.size; }
  void* block(int i) const {
    return reinterpret_cast<void*>(reinterpret_cast<MPI_Aint>(where) + static_cast<MPI_Aint>(i) * count * facts.extent);
  }
  bool good() const {
    return count >= 0 && facts.valid && where != MPI_IN_PLACE && !(where == nullptr && facts.dense && bytes() != 0);
  }
};

inline bool overlap_is_an_error(const void* a, const void* b, std::size_t bytes) {
#ifdef MPICH
  return a == b && bytes != 0;
#else
  return static_cast<void>(a), static_cast<void>(b), static_cast<void>(bytes), false;
#endif
}

inline Demand demand_of(Kind kind, std::size_t bytes, int ranks) {
  Demand demand;
  demand.bytes = bytes;
  demand.shape.kind = kind;
  if (bytes == 0) demand.reason = Reason::empty;
  if (bytes > kMostMoved / static_cast<std::size_t>(ranks)) demand.reason = Reason::too_long;
  return demand;
}

inline Demand bad() {
  Demand demand;
  demand.reason = Reason::argument;
  return demand;
}

inline void returns(Demand& demand, const Buffer& buffer, int blocks) {
  demand.out = buffer.where;
  demand.touched = demand.result = span_of(buffer.facts, static_cast<MPI_Aint>(buffer.count) * blocks);
}

inline run::Call call_of(Kind kind, std::size_t bytes, int root) {
  run::Call call;
  call.kind = kind;
  call.count = static_cast<std::int64_t>(bytes);
  call.root = root;
  return call;
}

using Bytes = std::vector<std::byte>;

}  // namespace chasqui::preload
