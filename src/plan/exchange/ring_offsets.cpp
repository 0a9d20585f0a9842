// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "plan/exchange/ring_shape.hpp"

namespace chasqui::plan {
namespace {

using Interval = std::pair<std::int64_t, std::int64_t>;
using Positions = std::vector<Interval>;  ///< disjoint, ascending

/// Steps from one class to the next: up by [up.first, up.second] or down by [down.first, down.second].
struct Steps {
  Interval up, down;
};

Positions merged(Positions all) {
  std::sort(all.begin(), all.end());
  Positions result;
  for (const Interval& x : all) {
    if (!result.empty() && x.first <= result.back().second + 1) {
      result.back().second = std::max(result.back().second, x.second);
    } else {
      result.push_back(x);
    }
  }
  return result;
}

/// Where a walk from 0 inside [0, top] can be after 0, 1, …, m steps.
std::vector<Positions> reachable(const Steps& steps, std::int64_t m, std::int64_t top) {
  std::vector<Positions> where = {{{0, 0}}};
  for (std::int64_t c = 0; c < m; ++c) {
    Positions next;
    const auto add = [&](std::int64_t low, std::int64_t high) {
      low = std::max<std::int64_t>(low, 0);
      high = std::min(high, top);
      if (low <= high) next.emplace_back(low, high);
    };
    for (const auto& [low, high] : where.back()) {
      add(low + steps.up.first, high + steps.up.second);
      add(low - steps.down.second, high - steps.down.first);
    }
    where.push_back(merged(std::move(next)));
  }
  return where;
}

bool closes(const std::vector<Positions>& where) { return !where.back().empty() && where.back().front().first == 0; }

/// The smallest position of `options` in [low, high], or -1.
std::int64_t pick(const Positions& options, std::int64_t low, std::int64_t high) {
  for (const Interval& x : options) {
    if (x.second >= low && x.first <= high) return std::max(x.first, low);
  }
  return -1;
}

}  // namespace

std::optional<std::vector<std::int64_t>> ring_offsets(const Spacing& spacing, std::int64_t m, std::int64_t period) {
  const std::int64_t low = spacing.D % period;
  const std::int64_t high = low + period - spacing.overheads();
  if (period < spacing.overheads()) return std::nullopt;
  if (low == 0 || high >= period) return std::vector<std::int64_t>(static_cast<std::size_t>(m), 0);
  const Steps steps{{low, high}, {period - high, period - low}};
  std::int64_t bad = -1, good = period - 1;
  if (!closes(reachable(steps, m, good))) return std::nullopt;
  while (good - bad > 1) {
    const std::int64_t middle = bad + (good - bad) / 2;
    (closes(reachable(steps, m, middle)) ? good : bad) = middle;
  }
  const std::vector<Positions> where = reachable(steps, m, good);
  std::vector<std::int64_t> offset(static_cast<std::size_t>(m), 0);
  std::int64_t at = 0;
  for (std::size_t c = static_cast<std::size_t>(m) - 1; c > 0; --c) {
    std::int64_t before = pick(where[c], at - steps.up.second, at - steps.up.first);
    if (before < 0) before = pick(where[c], at + steps.down.first, at + steps.down.second);
    offset[c] = at = before;
  }
  return offset;
}

}  // namespace chasqui::plan
