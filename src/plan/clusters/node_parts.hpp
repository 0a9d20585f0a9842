// SPDX-License-Identifier: MIT
// The contributions of neighbouring nodes as the parts of a message.
#pragma once

#include <algorithm>
#include <utility>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/schedule/schedule.hpp"
#include "plan/clusters/node_index.hpp"

namespace chasqui::plan {

/// Of `count` nodes from `node` on, cyclically; where the operands may not be reordered, two parts around the end of the rank
/// order. REQUIRES 1 <= count <= N.
inline std::pair<Part, Part> node_parts(const NodeIndex& nodes, const Problem& problem, std::int64_t node,
                                        std::int64_t count) {
  const std::int64_t N = nodes.count(), P = nodes.ranks();
  const std::int64_t from = modulo(node, N), to = from + count;
  const std::int64_t lo = nodes.first_rank(from);
  const std::int64_t before_end = nodes.first_rank(std::min(to, N)) - lo;
  const std::int64_t wrapped = to > N ? nodes.first_rank(to - N) : 0;
  const auto small = [](std::int64_t x) { return static_cast<std::int32_t>(x); };
  if (wrapped == 0 || problem.commutative) return {Part{small(lo), small(std::min(before_end + wrapped, P))}, Part{}};
  return {Part{small(lo), small(before_end)}, Part{0, small(wrapped)}};
}

}  // namespace chasqui::plan
