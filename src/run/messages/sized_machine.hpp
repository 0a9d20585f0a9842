// SPDX-License-Identifier: MIT
// A level of the profile as the LogP machine that messages of one size see.
#pragma once

#include <cstdint>

#include "chasqui/model/logp.hpp"
#include "chasqui/model/profile.hpp"

namespace chasqui::run {

/// The LogP machine that a message of `bytes` sees on a level, in ticks of `tick` nanoseconds; lambda() stays below
/// `most` ticks where the parameters allow it.
struct SizedMachine {
  LogP machine;     ///< in ticks
  double tick = 1;  ///< nanoseconds
};
inline constexpr std::int64_t kTreeTicks = 1'000'000'000;  ///< trees are planned by arithmetic: any resolution will do
SizedMachine machine_for(const Level& level, std::int64_t ranks, double bytes,
                         std::int64_t most);  ///< for one message of `bytes`
SizedMachine receiving_machine_for(const Level& level, std::int64_t ranks, double bytes,
                                   std::int64_t most);  ///< the same for reductions, whose gap is the receiver's

/// The machine in steps of one item: what the k-item plan is asked for.
SizedMachine item_machine(const Level& level, std::int64_t ranks, double bytes);

/// What the plan of so many items on that machine takes in one direction, where a message takes `flight`. Sends that keep to the plan's
/// times begin whole steps after each other, but the last message is there when it arrives, not at the end of a step.
double items_time(const SizedMachine& sized, const Level& level, double flight, std::int64_t items);

}  // namespace chasqui::run
