// SPDX-License-Identifier: MIT
// Plans made for the postal machine, played on a LogP machine: everybody sends at multiples of a step, and the step is
// chosen so that no send overhead ever meets a receive overhead (items.md, Theorem 14).
#pragma once

#include <cstdint>
#include <vector>

#include "chasqui/plan/stream.hpp"

namespace chasqui::plan {

struct PostalStep {
  Time step;           ///< ticks
  std::int64_t L = 1;  ///< latency of the postal machine, in steps

  friend bool operator==(const PostalStep&, const PostalStep&) = default;
};

/// Legal steps worth trying, shortest first. A step q with q >= max(g, 2o) is legal exactly when no multiple of q lies
/// strictly between L and L+2o: two sends are either close (at most L apart) or far (at least L+2o apart). Then the
/// latency is ceil((L+2o)/q) steps. For o = 0 the only one is g.
std::vector<PostalStep> postal_steps(const LogP& machine);

/// The step of this machine for a stream of this latency. Throws an Error if there is none.
PostalStep step_of(const LogP& machine, const Stream& stream);

/// A message of a stream in ticks. REQUIRES ranks and item within 32 bits.
Send in_steps(const StreamMessage& message, PostalStep step);

}  // namespace chasqui::plan
