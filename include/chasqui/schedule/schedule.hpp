// SPDX-License-Identifier: MIT
// The value in the middle: a schedule is data. Planners and solvers make it, the verifier, the simulator and the
// drawings read it. Nothing is stored that can be derived.
#pragma once

#include <cstdint>
#include <vector>

#include "chasqui/model/cluster.hpp"
#include "chasqui/model/logp.hpp"
#include "chasqui/model/problem.hpp"
#include "chasqui/model/units.hpp"

namespace chasqui {

/// Times in files, and in anything the verifier accepts, lie within so many ticks of 0: differences fit.
inline constexpr std::int64_t kMaxTime = 4'000'000'000'000'000'000;

/// What a message carries. Where messages name items: item `lo` (len is 1). Other combining kinds: the fold of the
/// contributions of ranks lo .. lo+len-1, cyclically. len = 0 is nothing.
struct Part {
  std::int32_t lo = 0;   ///< item, or first contribution
  std::int32_t len = 0;  ///< how many contributions; 1 for an item

  friend constexpr auto operator<=>(const Part&, const Part&) = default;
};

/// One message. The send overhead begins at `begin`; what it carries is available at `to` at begin + L + 2o.
/// `second` is used only by messages of two values (non-commutative combining across the end of the rank order).
struct Send {
  Time begin;  ///< when the send overhead begins
  Rank from;
  Rank to;
  Part part;
  Part second{};  ///< messages of two values: the wrapped part

  constexpr Item item() const { return {part.lo}; }  ///< broadcasts and gathers: the item it carries
  /// All-to-all: the item it carries. Above 46340 ranks there are more than 31 bits can number: second.lo has the rest.
  constexpr std::int64_t item_number() const { return std::int64_t{second.lo} * (std::int64_t{1} << 31) + part.lo; }
  friend constexpr auto operator<=>(const Send&, const Send&) = default;
};
static_assert(sizeof(Send) == 32, "a materialised schedule costs 32 bytes a message");

/// A message of one item.
constexpr Send send_item(Time begin, Rank from, Rank to, std::int32_t item) { return {begin, from, to, {item, 1}}; }

/// Local work of a summation: `count` additions of one tick each, one after another from `begin` on.
/// from == rank: the rank's own operands. Otherwise count is 1: the value received from `from` is added.
struct Add {
  Time begin;  ///< when the first of them begins
  Rank rank;   ///< who adds
  Rank from;   ///< whose value is added; `rank` itself: own operands
  std::int64_t count = 1;

  friend constexpr auto operator<=>(const Add&, const Add&) = default;
};

/// On a cluster: `rank` puts something on the board of its node, busy for Nodes::publish from `begin` on.
struct Publication {
  Time begin;
  Rank rank;
  Part part;
  Part second{};  ///< two values, as in a message

  friend constexpr auto operator<=>(const Publication&, const Publication&) = default;
};

/// On a cluster: `rank` takes what `from` published from the board of their node, busy for Nodes::read from `begin` on.
struct Reading {
  Time begin;
  Rank rank;
  Rank from;
  Part part;  ///< as it was published
  Part second{};

  friend constexpr auto operator<=>(const Reading&, const Reading&) = default;
};

/// A whole schedule. Order of `sends`, `adds`, `publications` and `readings`: by begin, then rank (see `normalise`).
/// Invariant of a well-formed value: none beyond the types; the verifier judges everything else.
struct Schedule {
  LogP machine;     ///< whose rules it obeys
  Problem problem;  ///< what it achieves
  Time finish;      ///< claimed: the last availability or addition (stream: unused, 0)
  Time bound;       ///< claimed: no legal schedule finishes earlier
  std::vector<Send> sends;

  std::vector<std::int64_t> operands;  ///< sum: how many operands each rank holds
  std::vector<Add> adds;               ///< sum: the computations

  Time period{0};  ///< stream: the steady state repeats every `period` ticks with items advanced alike
  Time delay{0};   ///< stream: from the item's first send by the root to its availability everywhere

  Nodes nodes{};  ///< clusters: machine.P ranks in nodes; empty on a plain LogP machine, and so are the next two
  std::vector<Publication> publications{};
  std::vector<Reading> readings{};

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// When the receive overhead of a message begins.
constexpr Time reception_begin(const LogP& machine, const Send& send) { return send.begin + machine.o + machine.L; }

/// When what a message carries is available at its receiver.
constexpr Time available(const LogP& machine, const Send& send) { return send.begin + machine.lambda(); }

/// Sorts all lists into the canonical order (begin, from, to, parts), so that equal schedules compare equal.
void normalise(Schedule& schedule);

/// The last availability, end of an addition or end of a reading; 0 if nothing happens. Time: O(n).
Time actual_finish(const Schedule& schedule);

/// What one rank does, each list by time. Runtimes and the simulator need only this; nobody materialises a schedule for a
/// million ranks.
struct LocalForm {
  Rank rank;
  std::vector<Send> sends;                  ///< from this rank, by begin
  std::vector<Send> receives;               ///< to this rank, by begin
  std::vector<Add> adds;                    ///< sum: this rank's computations, by begin
  std::int64_t operands = 0;                ///< sum: how many operands it holds
  std::vector<Publication> publications{};  ///< clusters: what it puts on its node's board, by begin
  std::vector<Reading> readings{};          ///< clusters: what it takes from there, by begin

  friend bool operator==(const LocalForm&, const LocalForm&) = default;
};

/// The part of `rank` in a materialised schedule. Time: O(sends).
LocalForm restrict_to(const Schedule& schedule, Rank rank);

}  // namespace chasqui
