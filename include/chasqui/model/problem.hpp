// SPDX-License-Identifier: MIT
// What a schedule is meant to achieve.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "chasqui/model/kind.hpp"
#include "chasqui/model/logp.hpp"
#include "chasqui/model/units.hpp"

namespace chasqui {
/// A collective with its parameters; what a kind does not use stays as it is here.
struct Problem {
  Kind kind = Kind::broadcast;
  Rank root{0};  ///< broadcast, scatter, gather, reduce, sum, stream
  std::int64_t items =
      1;  ///< broadcast, reduce, allreduce: k in all; allgather, reduce-scatter: k a rank; alltoall: k a pair
  bool commutative = true;  ///< combining kinds: may the operands be reordered (cyclically)?
  bool exclusive = false;

  friend bool operator==(const Problem&, const Problem&) = default;
};

/// Do messages name an item? All kinds that do not combine, and reductions and all-reduces of several items, where a message
/// carries all that its sender has of the item (docs/model.md, "Reductions of several items"); reduce-scatter is one of them.
constexpr bool names_items(const Problem& problem) {
  return !combines(problem.kind) || problem.kind == Kind::reduce_scatter ||
         ((problem.kind == Kind::reduce || problem.kind == Kind::allreduce) && problem.items > 1);
}

std::optional<Kind> kind_from(std::string_view name);  ///< the inverse of to_string; nothing for any other word

/// Throws an Error if root or items are out of range on this machine.
void validate(const Problem& problem, const LogP& machine);

}  // namespace chasqui
