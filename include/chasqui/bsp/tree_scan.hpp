// SPDX-License-Identifier: MIT
// Prefix sums over the processors as a bulk-synchronous program: a tree of degree k, both directions at once.
// BSP costs: T = 2 ceil(log_k p) supersteps, h <= 2(k-1) each, messages of the length of the values.
#pragma once

#include <span>
#include <vector>

#include "chasqui/bsp/world.hpp"

namespace chasqui::bsp {

/// What lies before and after a processor; empty where there is nothing.
template <Sendable T>
struct Both {
  std::vector<T> before;  ///< fold of the forward values of ranks 0 .. rank-1, in this order
  std::vector<T> after;   ///< fold of the backward values of ranks size-1 .. rank+1, in this order
};

/// fold(a, b): a becomes "a, then b". Associative; called with non-empty vectors only. Values must not be
/// empty on processors that contribute; an empty value contributes nothing.
template <Sendable T, typename Forward, typename Backward>
Both<T> tree_scan(World& w, std::vector<T> forward, std::vector<T> backward, const Forward& fold,
                  const Backward& fold_back, int k) {
  const auto add = [](auto& into, const auto& value, const auto& by) {
    if (value.empty()) return;
    if (into.empty()) into = value;
    else by(into, value);
  };
  const std::int64_t p = w.size(), r = w.rank(), degree = k < 2 ? 2 : k;
  Queue<T> up_forward(w), up_backward(w), down_before(w), down_after(w);
  // Level by level: the first processor of every block of width·degree learns the totals of its up to k
  // parts.
  std::vector<std::vector<std::vector<T>>> parts_forward, parts_backward;
  std::int64_t width = 1;
  for (; width < p; width *= degree) {
    const bool sends = r % width == 0 && r % (width * degree) != 0;
    const bool leads = r % (width * degree) == 0;
    if (sends) {
      const int leader = static_cast<int>(r / (width * degree) * (width * degree));
      up_forward.send(leader, forward);
      up_backward.send(leader, backward);
    }
    w.sync();
    if (!leads) continue;
    std::vector<std::vector<T>> fs{forward}, bs{backward};
    for (const auto& m : up_forward) fs.emplace_back(m.values.begin(), m.values.end());
    for (const auto& m : up_backward) bs.emplace_back(m.values.begin(), m.values.end());
    for (std::size_t i = 1; i < fs.size(); ++i) add(forward, fs[i], fold);
    backward.clear();
    for (std::size_t i = bs.size(); i-- > 0;) add(backward, bs[i], fold_back);
    parts_forward.push_back(std::move(fs));
    parts_backward.push_back(std::move(bs));
  }
  // And back: every leader tells its parts what lies before and after them.
  Both<T> both;
  for (width /= degree; width >= 1; width /= degree) {
    if (r % (width * degree) == 0) {
      auto fs = std::move(parts_forward.back()), bs = std::move(parts_backward.back());
      parts_forward.pop_back(), parts_backward.pop_back();
      std::vector<T> before = both.before, after = both.after;
      std::vector<std::vector<T>> afters(bs.size());
      for (std::size_t i = bs.size(); i-- > 0;) {
        afters[i] = after;
        add(after, bs[i], fold_back);
      }
      for (std::size_t i = 0; i < fs.size(); ++i) {
        if (i == 0) {
          both.after = afters[0];
        } else {
          down_before.send(static_cast<int>(r + static_cast<std::int64_t>(i) * width), before);
          down_after.send(static_cast<int>(r + static_cast<std::int64_t>(i) * width), afters[i]);
        }
        add(before, fs[i], fold);
      }
    }
    w.sync();
    for (const auto& m : down_before) both.before.assign(m.values.begin(), m.values.end());
    for (const auto& m : down_after) both.after.assign(m.values.begin(), m.values.end());
  }
  return both;
}

/// Segmented parallel prefix: values[i] becomes the fold from the nearest head at or before i up to i, over
/// all processors in rank order. BSP costs: T = 2 ceil(log_k p), W = 2 applications a value.
template <Sendable T, typename Op>
void segmented_prefix(World& w, std::span<T> values, std::span<const char> heads, const Op& op, int k = 2) {
  struct Segment {
    T fold;
    std::int64_t restarts;  ///< a head lies inside
  };
  std::vector<Segment> mine;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (mine.empty()) mine.push_back({values[i], heads[i] != 0});
    else if (heads[i] != 0) mine[0] = {values[i], 1};
    else mine[0].fold = op(mine[0].fold, values[i]);
  }
  const auto fold = [&](std::vector<Segment>& a, const std::vector<Segment>& b) {
    a[0] = b[0].restarts != 0 ? b[0] : Segment{op(a[0].fold, b[0].fold), a[0].restarts};
  };
  const auto before = tree_scan(w, mine, std::vector<Segment>{}, fold, fold, k).before;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (heads[i] != 0) continue;
    if (i > 0) values[i] = op(values[i - 1], values[i]);
    else if (!before.empty()) values[i] = op(before[0].fold, values[i]);
  }
  w.charge(2 * static_cast<std::int64_t>(values.size()));
}

}  // namespace chasqui::bsp
