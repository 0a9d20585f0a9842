// SPDX-License-Identifier: MIT
// Several ranks of a node talk to other nodes side by side, on lanes (docs/clusters.md): programs whose steps on the board stand
// among their messages. Broadcast and reduce follow the plan of the cluster; all-reduce and barrier go in rounds of
// windows of nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "chasqui/model/cluster.hpp"
#include "chasqui/plan/plan.hpp"
#include "run/messages/local_plan.hpp"
#include "run/messages/program.hpp"

namespace chasqui::run {

/// What lanes see of the machine, for contributions of one size. Times in nanoseconds.
struct LaneCosts {
  Level network;
  double bytes = 0;         ///< of a contribution
  double port = 0;          ///< from one message of a rank to its next
  double gamma = 0;         ///< from one message of a node to its next, whichever rank sends it
  double broadcast = 0;     ///< inside a node, on the board
  double read_share = 0.5;  ///< of it, the readers' part
  double reduce = 0;
  double allreduce = 0;
  double one_read = 0;    ///< on the board, what one rank brings, to all
  double more_reads = 0;  ///< what each further rank brings
  bool in_slots = true;   ///< a slot holds a contribution: some ranks alone may bring one
};

/// The plan of a broadcast for these nodes; of a commutative reduce that of a broadcast on N nodes of so many ranks, to be played backwards. Nothing
/// where the board is slower than the network.
struct LanePlan {
  plan::PlanPtr plan;
  std::int64_t lanes = 0;  ///< ranks a node in it, at most
  double nanoseconds = 0;  ///< that the program takes
  double tick = 1;         ///< nanoseconds
};
LanePlan lane_plan(Kind kind, const Nodes& nodes, int root, const LaneCosts& costs);

/// The rounds of an all-reduce or barrier of N nodes, `lanes` of whose ranks talk at most: the radices, as predicted to be the fastest.
struct LaneWindows {
  std::vector<std::int64_t> radices;
  std::int64_t lanes = 1;  ///< that are used in some round
  double nanoseconds = 0;
};
LaneWindows lane_windows(std::int64_t N, std::int64_t lanes, const LaneCosts& costs);

/// One rank's program. `shape`: its rank and root count node after node; `ranks`: the same ranks as messages call them. Folds are in any
/// order. REQUIRES broadcast, reduce, allreduce or barrier, and a board that is no slower than the network.
Program lane_program(const Shape& shape, std::int64_t lanes, const Nodes& nodes, const std::vector<int>& ranks,
                     const LaneCosts& costs);

}  // namespace chasqui::run
