// SPDX-License-Identifier: MIT
// Latency 1, every P: k items in k - 1 + ceil(log2 P) steps, each message from a closed form. A hypercube of single ranks
// and pairs; docs/items.md, Theorem 10, has the construction and why it is legal.
#pragma once

#include <cstdint>

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan::kernel {

/// The index of the last step with a message: k - 2 + ceil(log2 P).
std::int64_t telephone_last_step(std::int64_t P, std::int64_t k);

/// `step`: ticks of a postal step, with latency 1. local() takes O(1) per step, schedule() O(kP). REQUIRES P >= 2.
PlanPtr telephone_plan(const LogP& machine, const Problem& problem, Claim claim, Time step);

}  // namespace chasqui::plan::kernel
