// SPDX-License-Identifier: MIT
#include "plan/exchange/matched_allgather.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "plan/exchange/slot_matcher.hpp"

namespace chasqui::plan {

std::optional<std::vector<Send>> matched_ring(const LogP& machine, std::int64_t items, std::int64_t period,
                                              const std::vector<std::int64_t>& offset, std::int64_t unless_by) {
  const std::size_t m = offset.size(), P = static_cast<std::size_t>(machine.P), regular = P / m * m;
  std::vector<std::vector<int>> members(m);
  for (std::size_t r = 0; r < P; ++r) {
    for (std::size_t c = 0; c < m; ++c) {
      if (r >= regular || r % m == c) members[c].push_back(static_cast<int>(r));
    }
  }
  std::vector<std::size_t> order(m);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return offset[a] < offset[b]; });
  SlotMatcher matcher(machine, items);
  for (std::int64_t start = 0;; start += period) {
    for (const std::size_t c : order) {
      if (matcher.done()) return matcher.sends();
      const std::int64_t t = start + offset[c];
      if (t >= unless_by || matcher.hopeless(t, unless_by)) return std::nullopt;
      matcher.slot(t, members[c], members[(c + 1) % m]);
    }
  }
}

std::optional<std::vector<Send>> matched_at_random(const LogP& machine, std::int64_t items, std::int64_t good_enough,
                                                   std::int64_t unless_by) {
  constexpr int kAttempts = 1 << 12;
  const std::int64_t unit = std::gcd(std::gcd(machine.L.ticks, machine.o.ticks), machine.gap().ticks);
  if (machine.P * items > 6 || unless_by / unit > 255) return std::nullopt;
  const LogP scaled{machine.P, Time{machine.L.ticks / unit}, Time{machine.o.ticks / unit},
                    Time{machine.gap().ticks / unit}};
  std::int64_t end = unless_by / unit;
  std::optional<std::vector<Send>> best;
  SlotMatcher matcher(scaled, items);
  std::mt19937 random(19);
  std::vector<int> everybody(static_cast<std::size_t>(machine.P)), from;
  std::iota(everybody.begin(), everybody.end(), 0);
  for (int attempt = 0; attempt < kAttempts && end * unit > good_enough; ++attempt) {
    const unsigned idle_of_16 = static_cast<unsigned>(attempt) % 8;
    matcher.reset();
    for (std::int64_t t = 0; !matcher.done() && !matcher.hopeless(t, end); ++t) {
      for (std::size_t i = everybody.size() - 1; i > 0; --i) std::swap(everybody[i], everybody[random() % (i + 1)]);
      from.clear();
      for (const int r : everybody) {
        if (random() % 16 >= idle_of_16) from.push_back(r);
      }
      matcher.slot(t, from, everybody);
    }
    if (!matcher.done()) continue;
    best = matcher.sends();
    end = best->back().begin.ticks;
  }
  if (best) {
    for (Send& send : *best) send.begin = unit * send.begin;
  }
  return best;
}

}  // namespace chasqui::plan
