// SPDX-License-Identifier: MIT
// What the exact solver is asked: a problem on a machine, and two questions that plans do not have (single sending,
// a prescribed period) or leave to the algorithm (messages of two values). Small instances only; `validate` says where it stops.
#pragma once

#include <string>

#include "chasqui/model/cluster.hpp"
#include "chasqui/model/logp.hpp"
#include "chasqui/model/problem.hpp"

namespace chasqui::solve {
/// What the exact search is asked for.
struct Instance {
  LogP machine;                 ///< small: variables grow with items · P · horizon, of folds with P^4 · horizon
  Problem problem;              ///< a kind that the table of collectives calls solved
  bool single_sending = false;  ///< broadcast: the root sends each item once
  bool two_values = false;      ///< reduce, allreduce, scan: a message may carry two folds
  Time period{0};               ///< stream: the schedule repeats after this many ticks, a multiple of max(g, o)
  Nodes nodes{};                ///< a cluster of the atlas, which solve_on_cluster answers; otherwise none

  friend bool operator==(const Instance&, const Instance&) = default;
};

/// "broadcast P=10 L=4 o=0 g=1 items=2 root=0", with "single-sending", "exclusive", "non-commutative", "two-values" or "period=4" where they apply.
std::string to_string(const Instance& instance);

/// Throws an Error for a kind that the solver does not do, a parameter out of range or an instance far too large.
void validate(const Instance& instance);

/// The greatest common divisor of L, o, g and the period. Given the order of all events, the earliest times are longest paths over
/// constants that it divides: so an optimum is a multiple of it, and `coarsened` has the same schedules on a coarser clock.
std::int64_t scale(const Instance& instance);
Instance coarsened(const Instance& instance);  ///< all times divided by scale(instance)

/// How many different items there are (stream: in one period). REQUIRES a kind that moves items.
std::int64_t item_count(const Instance& instance);

/// Who has the item at the start. REQUIRES a kind that moves items.
Rank owner(const Instance& instance, std::int64_t item);

/// Must the rank have the item at the end? REQUIRES a kind that moves items.
bool wants(const Instance& instance, Rank rank, std::int64_t item);

/// A reduce-scatter backwards in time is an all-gather, with the same least time (exchange.md, Theorem 18); anything else as it is.
Instance forwards(const Instance& instance);

/// When the item is at its owner, absolutely: 0, in a stream one step of max(g, o) after the item before it.
Time birth(const Instance& instance, std::int64_t item);

}  // namespace chasqui::solve
