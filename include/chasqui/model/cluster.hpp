// SPDX-License-Identifier: MIT
// A cluster of nodes whose ranks share memory (docs/clusters.md). Between nodes a message is LogP; inside a node a rank
// publishes what it has on the node's board, and any number of ranks read it at the same time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chasqui/model/logp.hpp"
#include "chasqui/model/units.hpp"

namespace chasqui {

/// The nodes: how many ranks each has, in rank order, and what their adapters and boards cost. Without a node this is a
/// plain LogP machine. Equal neighbours are one entry, so a million equal nodes cost as much as one.
struct Nodes {
  /// `count` nodes one after another with `size` ranks each.
  struct Run {
    std::int64_t count = 0;
    std::int64_t size = 0;

    friend constexpr bool operator==(const Run&, const Run&) = default;
  };
  std::vector<Run> runs{};
  Time gamma{0};    ///< two sends of one node begin so far apart, and so do two receptions; 0: no limit
  Time publish{0};  ///< a rank is busy so long when it puts something on the board
  Time read{0};     ///< … and so long when it takes one thing from the board

  friend bool operator==(const Nodes&, const Nodes&) = default;

  bool empty() const { return runs.empty(); }        ///< no nodes: a plain LogP machine
  bool uniform() const { return runs.size() == 1; }  ///< all nodes have the same size
  std::int64_t count() const;                        ///< N
  std::int64_t ranks() const;                        ///< P
  std::int64_t largest() const;                      ///< of the sizes; 0 without nodes
  std::int64_t smallest() const;                     ///< of the sizes; 0 without nodes
  std::int64_t size(std::int64_t node) const;        ///< REQUIRES 0 <= node < count()
  std::int64_t first_rank(std::int64_t node) const;  ///< REQUIRES 0 <= node <= count()
  std::int64_t node_of(Rank rank) const;             ///< REQUIRES 0 <= rank < ranks()

  /// Puts a node behind the last one.
  void add(std::int64_t size, std::int64_t count = 1);
};

/// A LogP machine whose ranks live in nodes. base.P is the number of ranks of all nodes.
struct Cluster {
  LogP base;
  Nodes nodes;

  /// `N` nodes of `n` ranks. base.P follows.
  static Cluster uniform(std::int64_t N, std::int64_t n, LogP base, Time gamma, Time publish, Time read);

  friend bool operator==(const Cluster&, const Cluster&) = default;
};

/// Throws an Error that names the first parameter out of range, its value and the remedy. Nodes must hold exactly
/// machine.P ranks; gamma <= max(g, o), because a rank's own gap includes its adapter's; publish + read <= L + 2o, because a
/// board that is slower than the network is none. Without nodes nothing is checked.
void validate(const Nodes& nodes, const LogP& machine);
void validate(const Cluster& cluster);  ///< the machine and its nodes; there must be some

/// "N=64 n=16 gamma=1 publish=2 read=2"; unequal nodes: "N=3 n=16,16,8 …".
std::string to_string(const Nodes& nodes);
/// "N=64 n=16 L=28 o=2 g=6 gamma=1 publish=2 read=2"
std::string to_string(const Cluster& cluster);

}  // namespace chasqui
