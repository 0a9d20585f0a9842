// SPDX-License-Identifier: MIT
// Stable integer sort by digits, least significant first. Afterwards processor i holds the i-th part of the
// sorted sequence; all parts but the last have ceil(n/p) items. BSP costs: c passes for keys below
// 2^(c·bits): T = c (2 ceil(log_k p) + 1), and h <= min(p, 2^bits + 1) blocks of items.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "chasqui/bsp/tree_scan.hpp"

namespace chasqui::bsp {

/// key(item) < key_bound, an unsigned 64-bit number. `bits`: the digit's width, 1 to 20.
template <Sendable T, typename Key>
std::vector<T> integer_sort(World& w, std::vector<T> items, const Key& key, std::uint64_t key_bound, int bits = 8,
                            int k = 2) {
  const std::size_t radix = std::size_t{1} << bits;
  const int digits = key_bound <= 1 ? 0 : (static_cast<int>(std::bit_width(key_bound - 1)) + bits - 1) / bits;
  const auto add = [](std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  };
  for (int digit = 0; digit < std::max(digits, 1); ++digit) {
    const auto value = [&](const T& item) {
      return static_cast<std::size_t>((key(item) >> (digit * bits)) & (radix - 1));
    };
    std::vector<std::int64_t> counts(radix);
    for (const T& item : items) ++counts[value(item)];
    const Both<std::int64_t> others = tree_scan(w, counts, counts, add, add, k);
    // Where the first item of each digit goes: all smaller digits, then the same digit on earlier processors.
    std::vector<std::int64_t> position(radix);
    std::int64_t total = 0;
    for (std::size_t v = 0; v < radix; ++v) {
      const std::int64_t before = others.before.empty() ? 0 : others.before[v];
      const std::int64_t after = others.after.empty() ? 0 : others.after[v];
      position[v] = total + before;
      total += before + counts[v] + after;
    }
    const std::int64_t part = std::max<std::int64_t>(1, (total + w.size() - 1) / w.size());
    struct Placed {
      std::int64_t at;
      T item;
    };
    Queue<Placed> route(w);
    for (const T& item : items) {
      const std::int64_t at = position[value(item)]++;
      route.send(static_cast<int>(at / part), Placed{at, item});
    }
    w.charge(2 * static_cast<std::int64_t>(items.size()) + static_cast<std::int64_t>(radix));
    w.sync();
    const std::int64_t first = part * w.rank();
    items.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(total - first, 0, part)));
    for (const auto& message : route)
      items[static_cast<std::size_t>(message.value().at - first)] = message.value().item;
  }
  return items;
}

}  // namespace chasqui::bsp
