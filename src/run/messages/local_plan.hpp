// SPDX-License-Identifier: MIT
// From a method to one rank's part of a plan, and its messages in order. Only the order of a plan's events matters to
// the machine; where messages share a link, sends also wait for their time.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "chasqui/plan/plan.hpp"
#include "chasqui/run/call.hpp"
#include "chasqui/schedule/schedule.hpp"
#include "run/messages/sized_machine.hpp"

namespace chasqui::run {

/// What of a call and its rank decides which messages there are. `root` and `rank` count in the plan.
struct Shape {
  Kind kind = Kind::barrier;
  int rank = 0;
  int size = 1;
  int root = 0;
  std::size_t count = 0;    ///< elements of one contribution; 0 for a barrier
  std::size_t element = 1;  ///< bytes
  bool commutative = true;
  bool exclusive = false;

  std::size_t bytes() const { return count * element; }
  auto operator<=>(const Shape&) const = default;
};

/// Sends that wait for their planned time, so that messages under way do not share a link.
struct Pace {
  double tick = 0;    ///< nanoseconds; 0: messages go as soon as they can
  double flight = 0;  ///< nanoseconds that a message really takes; the plan has whole ticks
  Time finish;        ///< when the plan ends, in ticks
  double start = 0;   ///< nanoseconds from the call until the first send can go
};
/// A plan as one rank executes it.
struct LocalPlan {
  LocalForm form;  ///< what this rank does
  LogP machine;    ///< whose times order the events
  bool reversed =
      false;  ///< every message goes the other way and the last comes first: a broadcast becomes a reduction
  Pace pace;  ///< whether sends wait for their time
};
/// One message of this rank.
struct Step {
  Time at;                ///< when, in the plan
  bool receives = false;  ///< it comes in; otherwise it goes out
  int peer = 0;           ///< plan rank
  Part part;              ///< what it carries
  Part second;            ///< messages of two values
};
/// The messages in the order in which this rank deals with them.
std::vector<Step> steps_of(const LocalPlan& plan);

/// All-gather on a circulant graph: windows grow up to `radix`-fold a round, for every P. Time is in rounds.
/// Time per rank: O(radix log P). Reversed it is a reduce-scatter.
LocalPlan circulant(std::int64_t ranks, int rank, int radix);

/// All-to-all on circulant graphs: a block that has to go d ranks far goes z*radix^j of them for every digit z of d, together
/// with all others of the same digit; a part is {z*radix^j, so many blocks}. A radix of P or more: every block straight.
/// Time is in rounds. Time per rank: O(radix log P).
LocalPlan by_distance(std::int64_t ranks, int rank, std::int64_t radix);

/// The plans that depend on the machine: tree, windows, messages, items.
LocalPlan local_plan(const Shape& shape, Method method, std::int64_t parts, const Level& level);

/// One rank's part of a plan that moves items of `bytes` on `sized`, item_machine() of the level.
LocalPlan local_items(const plan::Plan& plan, const SizedMachine& sized, const Level& level, double bytes, int rank);

}  // namespace chasqui::run
