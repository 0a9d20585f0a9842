// SPDX-License-Identifier: MIT
// A long all-reduce in pieces which the ranks of a node lead by turns (docs/clusters.md, "Running on lanes"). The board folds a piece
// for its leader, who exchanges it with the leaders of the other nodes; then the board hands it out. Boards, messages and the
// ranks' own overheads work side by side: while a leader's messages are under way it brings and reads the pieces of others.
#pragma once

#include <cstdint>
#include <vector>

#include "chasqui/model/cluster.hpp"
#include "run/messages/local_plan.hpp"
#include "run/messages/program.hpp"

namespace chasqui::run {

struct LedPieces {
  int count = 1;    ///< piece i is led by the rank of place i mod leaders
  int leaders = 1;  ///< of a node
  int radix = 2;    ///< of the exchange between the leaders of a piece
  int lag = 1;      ///< pieces that the board folds before it hands out the first
};

/// What a timetable depends on. All nodes do the same at the same times. Times in nanoseconds.
struct LedCosts {
  std::int64_t nodes;  ///< N
  bool more_ranks;     ///< than lead: they bring and read
  double bytes;        ///< of a piece
  double fold;         ///< of a piece on the board; half of it is who brings it busy, half its leader
  double hand_out;     ///< the same, first the leader
  Level network;
  double adapter;  ///< of a node, a byte
};

/// In which order the ranks of a node go on with the pieces, and how long that takes. A rank goes on where it can: with messages that
/// have come before what its board wants of it, of several pieces with the oldest.
struct LedTimetable {
  /// By place, the last for all that do not lead: the piece whose next step is due. Steps of a piece: it is brought or folded, and
  /// the leader sends; the leader takes a message and sends what then can go; it is handed out.
  std::vector<std::vector<int>> order;
  double nanoseconds = 0;
};
/// Time: O(count · (ranks + messages of a piece)) steps, each in the logarithm of the messages under way.
LedTimetable led_timetable(const LedPieces& pieces, const LedCosts& costs);

/// One rank's program; `shape`, `ranks`: as in lanes.hpp. Folds are in any order. REQUIRES an all-reduce of at least N elements a
/// piece, and nodes of at least as many ranks as lead.
Program led_program(const Shape& shape, const LedPieces& pieces, const LedTimetable& timetable, const Nodes& nodes,
                    const std::vector<int>& ranks);

}  // namespace chasqui::run
