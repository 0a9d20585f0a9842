// SPDX-License-Identifier: MIT
// Sorting by regular samples: sort what is here, agree on splitters, send every part where it belongs, merge. Equal items
// are told apart by where they came from, so the sort is stable, and nobody ends with more than 2n/p + p items whatever
// they are (with at most p(p-1) samples, one for each n/p^2 items).
// BSP costs: T = 3, h <= max(p^2, 2n/p + p) values, w = (n/p) log2(n/p) + (n/p) log2 p + p^2 log2 p comparisons.
// Source: Shi and Schaeffer, Parallel sorting by regular sampling, J. Parallel Distrib. Comput. 14, 1992.
#pragma once

#include <algorithm>
#include <bit>
#include <functional>
#include <vector>

#include "chasqui/bsp/world.hpp"

namespace chasqui::bsp {

/// All items in order: those of processor i before those of i + 1. Everybody calls it; parts may have any length.
template <Sendable T, typename Less = std::less<T>>
std::vector<T> sample_sort(World& w, std::vector<T> items, const Less& less = {}) {
  struct Sample {
    T value;
    std::int64_t from, index;
  };
  const auto before = [&](const Sample& a, const Sample& b) {
    if (less(a.value, b.value)) return true;
    if (less(b.value, a.value)) return false;
    return a.from != b.from ? a.from < b.from : a.index < b.index;
  };
  const auto p = static_cast<std::size_t>(w.size());
  const auto log = [](std::size_t n) { return static_cast<std::int64_t>(std::bit_width(n)); };
  const auto n = static_cast<std::int64_t>(items.size());

  std::stable_sort(items.begin(), items.end(), less);
  w.charge(n * log(items.size()));
  Queue<Sample> samples(w), splitters(w);
  for (std::size_t i = 1; i < p && !items.empty(); ++i) {
    const std::size_t at = items.size() * i / p;
    samples.send(0, Sample{items[at], w.rank(), static_cast<std::int64_t>(at)});
  }
  w.sync();
  if (w.rank() == 0) {
    std::vector<Sample> all = samples.received().values();
    std::sort(all.begin(), all.end(), before);
    w.charge(static_cast<std::int64_t>(all.size()) * log(all.size()));
    std::vector<Sample> chosen;
    for (std::size_t i = 1; i < p && !all.empty(); ++i) chosen.push_back(all[all.size() * i / p]);
    for (int to = 0; to < w.size(); ++to) splitters.send(to, chosen);
  }
  w.sync();

  const std::vector<Sample> chosen = splitters.received().values();
  Queue<T> route(w);
  std::size_t begin = 0;
  for (std::size_t to = 0; to < p; ++to) {
    std::size_t end = items.size();
    if (to < chosen.size()) {
      // The first item that does not come before the splitter.
      const Sample& splitter = chosen[to];
      const auto first = items.begin() + static_cast<std::ptrdiff_t>(begin);
      if (w.rank() < splitter.from)
        end = static_cast<std::size_t>(std::upper_bound(first, items.end(), splitter.value, less) - items.begin());
      else if (w.rank() > splitter.from)
        end = static_cast<std::size_t>(std::lower_bound(first, items.end(), splitter.value, less) - items.begin());
      else end = std::max(begin, static_cast<std::size_t>(splitter.index));
    }
    if (end > begin) route.send(static_cast<int>(to), std::span<const T>(items).subspan(begin, end - begin));
    begin = end;
  }
  w.charge(static_cast<std::int64_t>(chosen.size()) * log(items.size()));
  w.sync();

  // Sorted parts, in the order of their senders: merged two by two.
  std::vector<std::size_t> ends{0};
  items.clear();
  for (const auto& part : route) {
    items.insert(items.end(), part.values.begin(), part.values.end());
    ends.push_back(items.size());
  }
  w.charge(static_cast<std::int64_t>(items.size()) * log(p));
  const auto at = [&](std::size_t part) {
    return items.begin() + static_cast<std::ptrdiff_t>(ends[std::min(part, ends.size() - 1)]);
  };
  for (std::size_t width = 1; width + 1 < ends.size(); width *= 2) {
    for (std::size_t part = 0; part + width + 1 < ends.size(); part += 2 * width)
      std::inplace_merge(at(part), at(part + width), at(part + 2 * width), less);
  }
  return items;
}

}  // namespace chasqui::bsp
