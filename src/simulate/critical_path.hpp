// SPDX-License-Identifier: MIT
// Why a play took as long as it did: back from the last event, always to what it waited for.
#pragma once

#include <vector>

#include "chasqui/schedule/trace.hpp"
#include "chasqui/simulate/simulate.hpp"

namespace chasqui::simulate {

/// Last link first. Time: O(messages log messages).
std::vector<CriticalStep> critical_path(const Trace& trace, const Latency& latency, const Options& options);

}  // namespace chasqui::simulate
