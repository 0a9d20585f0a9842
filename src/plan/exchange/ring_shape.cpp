// SPDX-License-Identifier: MIT
#include "plan/exchange/ring_shape.hpp"

#include <algorithm>
#include <utility>

#include "chasqui/base/arithmetic.hpp"

namespace chasqui::plan {
namespace {

/// Fills in `block`: a whole number of periods that leaves room for a block's rounds, and no less than what
/// an item needs from one class to the next.
void set_block(RingShape& ring, const Spacing& spacing) {
  std::int64_t least_step = ring.offset.front() - ring.offset.back();
  for (std::size_t c = 1; c < ring.offset.size(); ++c) {
    least_step = std::min(least_step, ring.offset[c] - ring.offset[c - 1]);
  }
  std::int64_t rounds = std::max(ring.columns * ring.items, divide_up(spacing.D - least_step, ring.period));
  if (ring.rest > 1) {  // one round more a block, and it comes one round earlier in the last block
    rounds = std::max((ring.columns + 1) * ring.items, divide_up(spacing.D - least_step, ring.period) + ring.items);
  }
  ring.block = saturating_multiply(rounds, ring.period);
}

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

std::vector<std::int64_t> ring_periods(const Spacing& spacing, std::int64_t m) {
  const auto [L, D, G] = spacing;
  const std::int64_t least = std::max(G, spacing.overheads());
  std::vector<std::int64_t> all;
  const auto consider = [&, L = L, D = D](std::int64_t q) {
    if (q < D && m * L / q < divide_up(m * (D - q), q)) return;
    all.push_back(q);
  };
  for (std::int64_t q = least; q < least + 12; ++q) consider(q);
  const std::int64_t most = m * L / least;
  for (std::int64_t k = most; k >= 0 && k > most - 24; --k) consider(std::max(least, divide_up(m * D, m + k)));
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::int64_t RingShape::last_send() const {
  const std::int64_t top = *std::max_element(offset.begin(), offset.end());
  const auto at = [&](std::int64_t blocks, std::int64_t round) {
    return saturating_add(saturating_multiply(blocks, block), saturating_multiply(round, period));
  };
  if (columns == 1) return saturating_add(top, at(m - 2, items - 1));
  const std::int64_t rounds = (columns - 1) * items - 1;
  const std::int64_t usual = saturating_add(top, at(m - 1, rounds));
  if (rest == 0) return usual;
  return std::max(usual, saturating_add(offset.back(), at(m - 1, rounds + rest * items)));
}

std::optional<RingShape> ring_shape(const LogP& machine, std::int64_t items, std::int64_t m, std::int64_t unless_by) {
  const Spacing spacing(machine);
  std::optional<RingShape> best;
  RingShape ring{.m = m, .columns = divide_up(machine.P, m), .rest = machine.P % m, .items = items, .offset = {}};
  for (const std::int64_t q : ring_periods(spacing, m)) {
    ring.period = q;
    ring.offset.assign(static_cast<std::size_t>(m), 0);
    set_block(ring, spacing);
    if (ring.last_send() >= unless_by) continue;  // offsets only make it later
    auto offset = ring_offsets(spacing, m, q);
    if (!offset) continue;
    ring.offset = std::move(*offset);
    set_block(ring, spacing);
    if (ring.last_send() >= unless_by) continue;
    unless_by = ring.last_send();
    best = ring;
  }
  return best;
}

}  // namespace chasqui::plan
