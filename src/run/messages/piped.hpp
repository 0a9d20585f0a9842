// SPDX-License-Identifier: MIT
// One leader a node, and boards that work while messages are under way: a long value is cut into items, and each has its own step
// on the board of a node (docs/clusters.md, "Running on lanes").
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "chasqui/model/cluster.hpp"
#include "run/messages/local_plan.hpp"
#include "run/messages/program.hpp"

namespace chasqui::run {

/// What a leader sees of the network who is busy for so many nanoseconds with each item on its board.
Level with_board(const Level& network, Kind kind, double busy);

/// One rank's program of a broadcast, of a reduce in any order, or of both as an all-reduce. `shape`, `ranks`: as in lanes.hpp;
/// `busy`: as above, of a broadcast or a reduce. REQUIRES at least two items.
Program piped_program(const Shape& shape, const Nodes& nodes, const std::vector<int>& ranks, std::int64_t items,
                      const Level& level, const std::function<double(Kind)>& busy);

}  // namespace chasqui::run
