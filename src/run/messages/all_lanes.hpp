// SPDX-License-Identifier: MIT
// Programs in which every rank of a node talks to other nodes (docs/clusters.md, "Running on lanes").
//   shares: a rank carries its share of each value, or its own blocks, to and from the ranks of its place on the other nodes; of values
//           there are as many shares as the smallest node has ranks, blocks need nodes of one size
//   dealt:  a message has all that one node has for another, and the ranks of a node take these messages in turn, as many as it has
#pragma once

#include <cstdint>
#include <vector>

#include "chasqui/model/cluster.hpp"
#include "run/messages/local_plan.hpp"
#include "run/messages/message_cost.hpp"
#include "run/messages/program.hpp"

namespace chasqui::run {

/// A rank among nodes: `shape` has its rank and its root, both counted node after node; `ranks`: the same ranks as messages and blocks
/// of buffers count them.
struct OnNodes {
  const Shape& shape;
  const Nodes& nodes;
  const std::vector<int>& ranks;
};

/// How the ranks of one place talk to each other: a method by messages for what a share is.
struct Between {
  Method method = Method::tree;
  std::int64_t parts = 1;
};

/// Does this collective cut values into shares, whatever sizes nodes have? Others carry blocks.
bool cuts_values(Kind kind);

/// Any collective but the barrier. Folds keep the order of the ranks if `between` does.
Program share_program(const OnNodes& where, const Between& between, const Machine& machine);

/// All-gather (in rounds of such radices), gather, scatter, all-to-all; reduce-scatter and scan (radices) fold in any order.
Program dealt_program(const OnNodes& where, const std::vector<std::int64_t>& radices);

/// Messages that a rank has for other nodes at most if N - 1 are dealt to n ranks.
std::int64_t dealt_messages(std::int64_t nodes, std::int64_t node_size);

}  // namespace chasqui::run
