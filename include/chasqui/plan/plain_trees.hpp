// SPDX-License-Identifier: MIT
// What people use without a planner: binomial tree, chain, flat tree. They are here to be compared with; the verifier
// judges them like any other schedule. They carry no bound.
#pragma once

#include <optional>
#include <string_view>
#include <variant>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::plan {

/// A tree that needs no planning. All-gather: gather and broadcast, a ring, direct sends; reduce-scatter: these backwards; all-to-all:
/// hops by binary digits, a ring, direct sends; scan: doubling, a chain.
enum class PlainTree {
  binomial,  ///< rank v serves v + 1, v + 2, v + 4, … below its lowest set bit, the farthest first
  chain,     ///< rank v serves v + 1
  flat,      ///< the root serves everybody
};

inline constexpr PlainTree kPlainTrees[] = {PlainTree::binomial, PlainTree::chain, PlainTree::flat};

/// "binomial", "chain" or "flat".
std::string_view to_string(PlainTree tree);
/// One line for people.
std::string_view summary(PlainTree tree);
/// The inverse of to_string; nothing for any other word.
std::optional<PlainTree> plain_tree_from(std::string_view name);

/// A schedule, or words that say why there is none.
using PlainSchedule = std::variant<Schedule, std::string_view>;

/// The collective on this tree, messages as early as the tree's order allows. Streams: use a broadcast of their first items;
/// sums: plain_sum. Nothing with more than `most` messages. Time: O(n log n) for n messages.
PlainSchedule plain_schedule(PlainTree tree, const LogP& machine, const Problem& problem, std::int64_t most = 50'000);

/// Summation of n >= 1 operands, dealt out evenly to min(P, n) ranks: each adds its own, then the children's as they come.
Schedule plain_sum(PlainTree tree, const LogP& machine, std::int64_t n);

}  // namespace chasqui::plan
