// SPDX-License-Identifier: MIT
// The arguments of an all-to-all with blocks of different lengths.
#pragma once

#include <memory>

#include "preload/calls/buffer.hpp"

namespace chasqui::preload {

/// What a rank gives to, or gets from, each: counts[r] elements, of a type of its own or of one for all.
struct ExchangeArgument {
  const void* where;
  Numbers counts, displacements;
  const MPI_Datatype* types;
  bool a_type_each;  ///< and displacements in bytes (Alltoallw)

  MPI_Datatype type(int r) const { return types[a_type_each ? r : 0]; }
  MPI_Aint place(int r, const TypeFacts& facts) const {
    return displacements[r] * (a_type_each ? MPI_Aint{1} : facts.extent);
  }
  bool good(int ranks) const {
    if (counts.missing() || displacements.missing() || types == nullptr || where == MPI_IN_PLACE) return false;
    TypeUse use;
    MPI_Datatype looked_at{};  // lists have few types
    for (int r = 0; r < ranks; ++r) {
#ifdef MPICH
      if (counts[r] == 0) continue;  // the type of no data may be missing
#endif
      if (!use.valid || type(r) != looked_at) use = use_of(looked_at = type(r));
      if (counts[r] < 0 || !use.valid) return false;
      if (where == nullptr && use.dense && counts[r] != 0 && !a_type_each) return false;
    }
    return true;
  }
  std::size_t bytes(int r) const {
    return counts[r] == 0 ? 0 : static_cast<std::size_t>(counts[r]) * facts_of(type(r)).size;
  }
  std::size_t total(int ranks) const {
    std::size_t sum = 0;
    for (int r = 0; r < ranks; ++r) sum += bytes(r);
    return sum;
  }
  Output output(int ranks) const {
    return {.where = const_cast<void*>(where),
            .type = a_type_each ? MPI_DATATYPE_NULL : types[0],
            .blocks = ranks,
            .counts = counts,
            .displacements = displacements,
            .types = a_type_each ? types : nullptr};
  }
};

struct UnevenExchange {
  ExchangeArgument send, receive;

  bool in_place() const { return send.where == MPI_IN_PLACE; }
  bool surely_good(const CommState& state) const {
    return receive.where != nullptr && send.where != nullptr && send.where != receive.where &&
           receive.good(state.size) && (in_place() || send.good(state.size));
  }
  CallFacts look(const CommState& state) const {
    if (!receive.good(state.size) || (!in_place() && !send.good(state.size))) return bad();
    CallFacts facts;
    facts.shape.kind = Kind::alltoall;
    facts.output = receive.output(state.size);
    return overlap_is_an_error(send.where, receive.where, receive.total(state.size)) ? bad() : facts;
  }
};

/// The call. The lists may go.
std::unique_ptr<OwnedCall> make_exchange(const UnevenExchange& exchange, const CommState& state);

}  // namespace chasqui::preload
