// SPDX-License-Identifier: MIT
// A stream as a plan, one period of the steady state; and its messages on a machine that is seen in steps.
#pragma once

#include "chasqui/plan/stream.hpp"
#include "plan/postal_step.hpp"

namespace chasqui::plan {

/// The step of this machine for a stream of this latency. Throws an Error if there is none.
PostalStep step_of(const LogP& machine, const Stream& stream);

/// The message in ticks. REQUIRES ranks and item within 32 bits.
Send in_steps(const StreamMessage& message, PostalStep step);

}  // namespace chasqui::plan
