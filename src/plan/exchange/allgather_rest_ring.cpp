// SPDX-License-Identifier: MIT
#include "plan/exchange/allgather_rest_ring.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"

namespace chasqui::plan {

void RestRingAllgather::pass(std::vector<Send>& list, std::int64_t c, std::int64_t from, std::int64_t to,
                             std::int64_t block, std::int64_t round, std::int64_t owner_class,
                             std::int64_t owner_column) const {
  const std::int64_t m = ring_.m, k = ring_.items;
  const auto rank = [&](std::int64_t cls, std::int64_t column) { return static_cast<std::int32_t>(column * m + cls); };
  const std::int64_t start = ring_.offset[static_cast<std::size_t>(c)] + block * ring_.block;
  for (std::int64_t j = 0; j < k; ++j) {
    list.push_back(send_item(Time{start + (round * k + j) * ring_.period}, Rank{rank(c, from)}, Rank{rank(next(c), to)},
                             static_cast<std::int32_t>(rank(owner_class, owner_column) * k + j)));
  }
}

void RestRingAllgather::local_sends(std::int64_t c, std::int64_t i, std::vector<Send>& list) const {
  const std::int64_t m = ring_.m, h = full(), e = ring_.rest, to = next(c);
  for (std::int64_t b = 0; b < (i < h ? m : 1); ++b) {
    const std::int64_t owner = (c - b + m) % m, skipped = b == m - 1 ? 1 : 0;
    for (std::int64_t shift = skipped; shift <= h; ++shift) {
      const std::int64_t there = (i + shift) % (h + 1);
      if (exists(to, there)) pass(list, c, i, there, b, shift - skipped, owner, i);
    }
    if (b > 0 && owner < e) pass(list, c, i, i, b, h + 1 - skipped, owner, h);
  }
  // The end: the rank of column 0 serves the rest of the next class.
  if (i != 0 || to >= e) return;
  std::int64_t round = h + 1;
  for (std::int64_t owner = (to + 1) % e; owner != (to == 0 ? 0 : to - 1); owner = (owner + 1) % e) {
    pass(list, c, 0, h, m - 1, round++, owner, h);
  }
}

void RestRingAllgather::local_receives(std::int64_t c, std::int64_t i, std::vector<Send>& list) const {
  const std::int64_t m = ring_.m, h = full(), e = ring_.rest, from = previous(c);
  for (std::int64_t b = 0; b < m; ++b) {
    const std::int64_t owner = (from - b + m) % m, skipped = b == m - 1 ? 1 : 0;
    for (std::int64_t shift = skipped; shift <= h; ++shift) {
      const std::int64_t source = (i - shift + h + 1) % (h + 1);
      if (source < h || (b == 0 && from < e)) pass(list, from, source, i, b, shift - skipped, owner, source);
    }
    if (b > 0 && owner < e && i < h) pass(list, from, i, i, b, h + 1 - skipped, owner, h);
  }
  if (i != h) return;
  std::int64_t round = h + 1;
  for (std::int64_t owner = (c + 1) % e; owner != (c == 0 ? 0 : c - 1); owner = (owner + 1) % e) {
    pass(list, from, 0, h, m - 1, round++, owner, h);
  }
}

LocalForm RestRingAllgather::local(Rank me) const {
  CHASQUI_CHECK(me.index >= 0 && me.index < machine_.P, "rank={} P={}", me.index, machine_.P);
  LocalForm local{.rank = me, .sends = {}, .receives = {}, .adds = {}};
  local_sends(me.index % ring_.m, me.index / ring_.m, local.sends);
  local_receives(me.index % ring_.m, me.index / ring_.m, local.receives);
  return local;
}

/// Built by following every owner's items through the classes.
Schedule RestRingAllgather::schedule() const {
  Schedule schedule = empty_schedule();
  const std::int64_t m = ring_.m, h = full(), e = ring_.rest;
  for (std::int64_t r = 0; r < machine_.P; ++r) {
    const std::int64_t home = r % m, column = r / m;
    for (std::int64_t b = 0; b < m; ++b) {
      const std::int64_t c = (home + b) % m, to = next(c), late = b == m - 1 ? 1 : 0;
      for (std::int64_t there = 0; there <= h; ++there) {
        if (!exists(to, there) || (to == home && there == column)) continue;
        const std::int64_t shift = (there - column + h + 1) % (h + 1);
        if (column < h || b == 0) {
          pass(schedule.sends, c, column, there, b, shift - late, home, column);
        } else if (there < h) {
          pass(schedule.sends, c, there, there, b, h + 1 - late, home, column);
        } else {
          // Rank `to` of the rest gets the others' items in the order to+1, to+2, … (mod e).
          pass(schedule.sends, c, 0, h, m - 1, h + 1 + (home - to - 1 + 2 * e) % e, home, column);
        }
      }
    }
  }
  normalise(schedule);
  return schedule;
}

}  // namespace chasqui::plan
