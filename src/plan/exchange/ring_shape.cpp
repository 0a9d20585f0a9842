// SPDX-License-Identifier: MIT
#include "plan/exchange/ring_shape.hpp"

#include <algorithm>

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

}  // namespace

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
