// SPDX-License-Identifier: MIT
// A beam search for the send times of all-reduce, scan and barrier on a machine with overhead or a gap
// above 1.
#pragma once

#include "chasqui/model/logp.hpp"
#include "plan/exchange/send_times.hpp"

namespace chasqui::plan {

/// Replaces `best` (a legal set that serves P) by one that ends earlier, if the search finds one. Level j
/// holds sets of j send times; kept are the Pareto sets in (last time, F_j) and then those of the best growth
/// per tick. Does nothing beyond a few thousand rounds. REQUIRES best not empty.
void improve_by_beam(const LogP& machine, SendTimes& best);

}  // namespace chasqui::plan
