// SPDX-License-Identifier: MIT
// A different item for every rank, from the root, and back. Finish: L + 2o + (P-2)·max(g, o), optimal: the root
// alone has P-1 messages to send, or to receive.
#pragma once

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

PlanPtr scatter(const LogP& machine, Rank root = {});  ///< item r from the root to rank r
PlanPtr gather(const LogP& machine, Rank root = {});   ///< item r from rank r to the root

}  // namespace chasqui::plan
