// SPDX-License-Identifier: MIT
// A second verifier for small schedules, as naive as possible: bit masks, tick by tick, exact cover by trying.
// Which rules does it find broken? Shares nothing with the first.
#pragma once

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::oracle {

/// Bit r: rule r is broken. REQUIRES: no stream, P <= 16, times of a few hundred ticks, exact receptions.
unsigned broken_rules(const Schedule& schedule);

}  // namespace chasqui::oracle
