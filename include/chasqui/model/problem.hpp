// SPDX-License-Identifier: MIT
// What a schedule is meant to achieve.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "chasqui/model/logp.hpp"
#include "chasqui/model/units.hpp"

namespace chasqui {
/// The collectives.
enum class Kind {
  broadcast,  ///< items 0..k-1 from the root to all
  scatter,    ///< item r from the root to rank r
  gather,     ///< item r from rank r to the root
  allgather,  ///< rank r owns items rk .. rk+k-1; everybody gets all
  reduce,     ///< the fold of one contribution per rank, at the root
  allreduce,  ///< the fold of one contribution per rank, at every rank
  scan,       ///< rank i gets the fold of ranks 0..i (exclusive: 0..i-1)
  barrier,    ///< everybody hears, directly or not, from everybody
  sum,        ///< n operands, placed by the plan, folded at the root; an addition takes one tick
  stream,     ///< one new item from the root every step, for ever, to all
};
/// A collective with its parameters; what a kind does not use stays as it is here.
struct Problem {
  Kind kind = Kind::broadcast;
  Rank root{0};             ///< broadcast, scatter, gather, reduce, sum, stream
  std::int64_t items = 1;   ///< broadcast, reduce: k in all; allgather: k a rank
  bool commutative = true;  ///< combining kinds: may the operands be reordered (cyclically)?
  bool exclusive = false;

  friend bool operator==(const Problem&, const Problem&) = default;
};

/// The kinds whose messages carry folds of contributions instead of items.
constexpr bool combines(Kind kind) {
  return kind == Kind::reduce || kind == Kind::allreduce || kind == Kind::scan || kind == Kind::barrier ||
         kind == Kind::sum;
}

/// Do messages name an item? All kinds that do not combine, and reductions of several items, where a message hands
/// over all that its sender has of the item (docs/model.md, "Reductions of several items").
constexpr bool names_items(const Problem& problem) {
  return !combines(problem.kind) || (problem.kind == Kind::reduce && problem.items > 1);
}

/// The kinds that have a distinguished processor.
constexpr bool has_root(Kind kind) {
  return kind == Kind::broadcast || kind == Kind::scatter || kind == Kind::gather || kind == Kind::reduce ||
         kind == Kind::sum || kind == Kind::stream;
}

std::string_view to_string(Kind kind);                 ///< the name that files and the command line use
std::optional<Kind> kind_from(std::string_view name);  ///< the inverse of to_string; nothing for any other word

/// Throws an Error if root or items are out of range on this machine.
void validate(const Problem& problem, const LogP& machine);

}  // namespace chasqui
