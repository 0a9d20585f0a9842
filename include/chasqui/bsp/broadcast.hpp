// SPDX-License-Identifier: MIT
// Three broadcasts from rank 0 that the models tell apart. Each returns the value on every processor.
// Source: docs/results.md, "Bulk-synchronous machines".
#pragma once

#include "chasqui/bsp/world.hpp"

namespace chasqui::bsp {

/// In superstep t = 0, 1, … every processor i < 2^t sends to i + 2^t.
/// BSP costs: T = ceil(log2 p) supersteps with h = 1. On a D-BSP hypercube: (log p)^2 + log p.
template <Sendable T>
T broadcast_doubling(World& w, T value) {
  for (std::int64_t have = 1; have < w.size(); have *= 2) {
    if (w.rank() < have && w.rank() + have < w.size()) w.send(static_cast<int>(w.rank() + have), value);
    w.sync();
    for (const auto& message : w.received<T>()) value = message.value();
  }
  return value;
}

/// Root(p): among the first √p processors, then one message to the first of each of √p groups, then inside
/// the groups. D-BSP costs: O(Σ_i 2^i (L(p^(1/2^i)) + g(p^(1/2^i)))); on a hypercube O(log p · log log p).
template <Sendable T>
T broadcast_root(World& w, T value) {
  if (w.size() == 1) return value;
  const auto take = [&] {
    for (const auto& message : w.received<T>()) value = message.value();
  };
  if (w.size() == 2) {
    if (w.rank() == 0) w.send(1, value);
    w.sync();
    take();
    return value;
  }
  int side = 1;
  while (std::int64_t{side} * side < w.size()) ++side;
  const int groups = (w.size() + side - 1) / side;  // at most as many as the first group has processors
  {
    World group = w.split(groups);
    if (w.part(groups) == 0) value = broadcast_root(group, value);
  }
  if (w.rank() > 0 && w.rank() < groups) w.send(w.first_of(groups, w.rank()), value);
  w.sync();
  take();
  World group = w.split(groups);
  return broadcast_root(group, value);
}

/// Along the optimal LogP tree, without supersteps. Time: B(p).
template <Sendable T>
T broadcast_tree(World& w, T value) {
  return w.broadcast(value, 0);
}

}  // namespace chasqui::bsp
