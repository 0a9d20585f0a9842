// SPDX-License-Identifier: MIT
#include "plan/exchange/allgather_ring.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"

namespace chasqui::plan {

Time RingAllgather::when(std::int64_t c, std::int64_t block, std::int64_t round) const {
  return Time{ring_.offset[static_cast<std::size_t>(c)] + block * ring_.block + round * ring_.period};
}

/// All items of `owner`, one each in k consecutive rounds.
void RingAllgather::pass(std::vector<Send>& list, Place from, Place to, std::int64_t block, std::int64_t round,
                         Place owner) const {
  const std::int64_t k = ring_.items;
  for (std::int64_t j = 0; j < k; ++j) {
    list.push_back(send_item(when(from.c, block, round * k + j), rank(from), rank(to),
                             static_cast<std::int32_t>(rank(owner).index * k + j)));
  }
}

LocalForm RingAllgather::local(Rank me) const {
  CHASQUI_CHECK(me.index >= 0 && me.index < machine_.P, "rank={} P={}", me.index, machine_.P);
  LocalForm local{.rank = me, .sends = {}, .receives = {}, .adds = {}};
  const auto [c, i] = place(me);
  const std::int64_t m = ring_.m, h = ring_.columns, next = after(c), previous = before(c);
  const Place lone{0, h - 1};
  for (std::int64_t b = 0; b < m; ++b) {
    const std::int64_t mine = c >= b ? c - b : c - b + m;                         // whose items I pass on
    const std::int64_t theirs = previous >= b ? previous - b : previous - b + m;  // whose items I receive
    const std::int64_t skipped = b == m - 1 ? 1 : 0;
    for (std::int64_t p = skipped; p < h; ++p) {
      const std::int64_t shift = b % 2 == 0 ? p : (h - p) % h;
      const std::int64_t there = i + shift < h ? i + shift : i + shift - h;
      if (exists({next, there})) {
        if (exists({mine, i})) pass(local.sends, {c, i}, {next, there}, b, p - skipped, {mine, i});
      } else if (mine == 0 && c != 0) {
        pass(local.sends, {c, i}, {next, shift - 1}, b, p - skipped, lone);
      }
      const std::int64_t source = i >= shift ? i - shift : i - shift + h;
      if (exists({previous, source})) {
        if (exists({theirs, source}))
          pass(local.receives, {previous, source}, {c, i}, b, p - skipped, {theirs, source});
      } else if (theirs == 0 && c != 0) {
        pass(local.receives, {previous, h - 2 - i}, {c, i}, b, p - skipped, lone);
      }
    }
  }
  if (ring_.rest == 1 && c == m - 1) pass(local.sends, {c, i}, {0, i}, m - 1, h - 1, lone);
  if (ring_.rest == 1 && c == 0 && i < h - 1) pass(local.receives, {m - 1, i}, {c, i}, m - 1, h - 1, lone);
  return local;
}

/// Built by following every item on its way round the ring.
Schedule RingAllgather::schedule() const {
  Schedule schedule = empty_schedule();
  const std::int64_t m = ring_.m, h = ring_.columns;
  for (std::int64_t r = 0; r < machine_.P; ++r) {
    const Place owner = place(Rank{static_cast<std::int32_t>(r)});
    const bool alone = ring_.rest == 1 && owner.i == h - 1;
    for (std::int64_t b = 0; b < m; ++b) {
      const std::int64_t c = (owner.c + b) % m;
      for (std::int64_t there = 0; there < h; ++there) {
        const Place to{after(c), there};
        if (!exists(to) || (b == m - 1 && there == owner.i)) continue;
        const std::int64_t distance = (there - owner.i + h) % h;
        std::int64_t round = b % 2 == 0 ? distance : (h - distance) % h;
        if (b == m - 1) --round;
        Place from{c, owner.i};
        if (alone && c > 0) from.i = h - 2 - there;
        if (alone && c == m - 1) from.i = there, round = h - 1;
        pass(schedule.sends, from, to, b, round, owner);
      }
    }
  }
  normalise(schedule);
  return schedule;
}

}  // namespace chasqui::plan
