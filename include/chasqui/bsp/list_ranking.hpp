// SPDX-License-Identifier: MIT
// How far each element of linked lists is from the end of its list, by pointer jumping: in every round each element learns
// of the element twice as far ahead. An element is asked by one other at most, so every round is balanced.
// BSP costs: T = 2 ceil(log2 n), h <= n/p in each superstep, w = O(n/p) each.
// Source: Wyllie, The complexity of parallel computations, Cornell University, 1979.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "chasqui/bsp/world.hpp"

namespace chasqui::bsp {

/// Element i of n lies on processor i / ceil(n/p), and `next` has its part: the number of the element behind, or -1 at an
/// end. REQUIRES that no element is behind two others, and that no list is a circle.
/// Returns how many elements are behind each.
inline std::vector<std::int64_t> list_ranks(World& w, std::int64_t n, std::span<const std::int64_t> next) {
  struct Question {
    std::int64_t of, by;  ///< elements
  };
  struct Answer {
    std::int64_t to, next, rank;
  };
  const std::int64_t part = std::max<std::int64_t>(1, (n + w.size() - 1) / w.size());
  const std::int64_t first = part * w.rank();
  std::vector<std::int64_t> ahead(next.begin(), next.end()), rank(next.size());
  for (std::size_t i = 0; i < rank.size(); ++i) rank[i] = ahead[i] < 0 ? 0 : 1;
  Queue<Question> ask(w);
  Queue<Answer> answer(w);
  for (std::int64_t jump = 1; jump < n; jump *= 2) {
    for (std::size_t i = 0; i < ahead.size(); ++i) {
      if (ahead[i] >= 0)
        ask.send(static_cast<int>(ahead[i] / part), Question{ahead[i], first + static_cast<std::int64_t>(i)});
    }
    w.charge(static_cast<std::int64_t>(ahead.size()));
    w.sync();
    for (const auto& message : ask) {
      const auto [of, by] = message.value();
      const auto i = static_cast<std::size_t>(of - first);
      answer.send(message.from, Answer{by, ahead[i], rank[i]});
    }
    w.charge(static_cast<std::int64_t>(ahead.size()));
    w.sync();
    for (const auto& message : answer) {
      const auto [to, further, more] = message.value();
      const auto i = static_cast<std::size_t>(to - first);
      ahead[i] = further;
      rank[i] += more;
    }
  }
  return rank;
}

}  // namespace chasqui::bsp
