// SPDX-License-Identifier: MIT
// The executor: plays one rank's local form over point-to-point messages. Only the order of a plan's events matters
// here, time is what the machine makes of it; receives are posted before they are due.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "chasqui/run/call.hpp"
#include "chasqui/schedule/local_form.hpp"
#include "run/messages/transport.hpp"
#include "run/wait/task.hpp"

namespace chasqui::run {

/// The ranks that take part, in the numbering of the plan.
struct Group {
  Transport* transport = nullptr;  ///< between the members
  std::vector<int> members;        ///< plan rank -> transport rank; empty: the same
  int rank = 0;                    ///< this rank, in the plan
  int size = 1;                    ///< members
  std::uint32_t tag = 0;           ///< tells this collective's messages apart

  int member(Rank r) const {
    return members.empty() ? r.index : members[static_cast<std::size_t>(r.index)];
  }  ///< the transport's rank of a plan's rank
};

/// Sends that wait for their planned time, so that messages under way do not share a link (move_items).
struct Pace {
  double tick = 0;    ///< nanoseconds; 0: messages go as soon as they can
  double flight = 0;  ///< nanoseconds that a message really takes; the plan has whole ticks
  Time finish;        ///< when the plan ends, in ticks
};
/// A plan as one rank executes it: local form and the machine whose times order its events.
/// reversed: every message goes the other way and the last comes first (a broadcast becomes a reduction).
struct Script {
  LocalForm form;         ///< what this rank does
  LogP machine;           ///< whose times order the events
  bool reversed = false;  ///< run backwards
  Pace pace;              ///< whether sends wait for their time
};
/// One message of this rank.
struct Step {
  Time at;                ///< when, in the plan
  bool receives = false;  ///< it comes in; otherwise it goes out
  int peer = 0;           ///< plan rank
  Part part;              ///< what it carries
  Part second;            ///< messages of two values
};
/// The messages of a script in the order in which this rank deals with them.
std::vector<Step> steps_of(const Script& script);

/// `items` segments of a buffer travel along the plan's trees. Reversed: they are folded on the way (op commutes).
/// Segment i holds elements i*count/items .. (i+1)*count/items - 1.
Task move_items(Group group, Script script, std::byte* data, std::size_t count, std::size_t element, std::int64_t items,
                Operator op);

/// Intervals of blocks travel (allgather, gather; reversed: scatter, reduce-scatter). Block b is bytes
/// offsets[b] .. offsets[b+1]-1 of data; intervals wrap around. With an operator, what arrives is folded in.
Task move_blocks(Group group, Script script, std::byte* data, std::vector<std::size_t> offsets, std::size_t element,
                 Operator op);

}  // namespace chasqui::run
