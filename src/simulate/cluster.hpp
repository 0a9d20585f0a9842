// SPDX-License-Identifier: MIT
// Plays a schedule on a cluster (docs/clusters.md, Definition 1). Ranks act as on a LogP machine; besides, two sends of a node
// begin at least gamma apart, and so do two receptions, and a reading begins once what it reads has been published.
#pragma once

#include "chasqui/schedule/trace.hpp"
#include "chasqui/simulate/simulate.hpp"

namespace chasqui::simulate {

/// REQUIRES a schedule with nodes. Throws an Error for a machine, problem or rank that does not exist.
/// Time: O(events log events), and for each send that folds, what its rank has received before.
Trace play_on_cluster(Schedule schedule, const Latency& latency, const Options& options);

}  // namespace chasqui::simulate
