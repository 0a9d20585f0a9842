// SPDX-License-Identifier: MIT
// All nodes do the same at the same times, and every node learns of all others (clusters.md, Theorem 10;
// clusters.md, Theorem 23). What one node does is the whole plan.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chasqui/model/cluster.hpp"

namespace chasqui::plan {

/// As node i sees it: the contributions of `count` nodes from i + window on; or of one rank of node i + window alone.
struct WindowCargo {
  std::int64_t window = 0, count = 0;
  std::int64_t place = -1;  ///< that rank, counted from the first of its node; -1: all of the nodes
};

/// From rank `from` of node i + sender to rank `to` of node i. Ranks are counted from the first of their node.
struct WindowMessage {
  std::int64_t from = 0, to = 0, sender = 0;
  Time begin;         ///< of the send
  WindowCargo cargo;  ///< as its receiver sees it
};

struct WindowPublication {
  std::int64_t place = 0;
  Time begin;
  WindowCargo cargo;
};

struct WindowReading {
  std::int64_t reader = 0;
  Time begin;
  std::size_t publication = 0;
};

/// How a node's own contributions get to all its ranks in the beginning.
enum class OwnBoard {
  everybody,  ///< reads everybody
  first,      ///< the first rank has them folded, and publishes the fold
  listed,     ///< publications and readings are among those of the exchange
};

/// What a node of the largest size does; smaller ones leave out the ranks that they have not.
struct Exchange {
  std::vector<WindowMessage> messages;
  std::vector<WindowPublication> publications;
  std::vector<WindowReading> readings;
  OwnBoard own = OwnBoard::everybody;
  Time folded{0};  ///< OwnBoard::first: when the first rank has the fold
  Time finish{0};
  std::string how;
};

/// The fastest of those that were tried.
Exchange best_exchange(const Cluster& cluster);

}  // namespace chasqui::plan
