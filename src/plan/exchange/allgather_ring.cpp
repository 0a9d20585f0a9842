// SPDX-License-Identifier: MIT
#include "plan/exchange/allgather_ring.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"

namespace chasqui::plan {

RingPlan::Place RingPlan::place(Rank rank) const {
  CHASQUI_CHECK(rank.index >= 0 && rank.index < machine_.P, "rank={} P={}", rank.index, machine_.P);
  return {rank.index % ring_.m, rank.index / ring_.m};
}

void RingPlan::pass(std::vector<Send>& list, Place from, Place to, std::int64_t block, std::int64_t round,
                    Place owner) const {
  const std::int64_t k = ring_.items;
  const std::int64_t start = ring_.offset[static_cast<std::size_t>(from.c)] + block * ring_.block;
  for (std::int64_t j = 0; j < k; ++j) {
    list.push_back(send_item(Time{start + (round * k + j) * ring_.period}, rank(from), rank(to),
                             static_cast<std::int32_t>(rank(owner).index * k + j)));
  }
}

LocalForm RingAllgather::local(Rank me) const {
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

void RestRingAllgather::add_sends(Place me, std::vector<Send>& list) const {
  const auto [c, i] = me;
  const std::int64_t m = ring_.m, h = full(), e = ring_.rest, to = after(c);
  for (std::int64_t b = 0; b < (i < h ? m : 1); ++b) {
    const std::int64_t owner = (c - b + m) % m, skipped = b == m - 1 ? 1 : 0;
    for (std::int64_t shift = skipped; shift <= h; ++shift) {
      const std::int64_t there = (i + shift) % (h + 1);
      if (exists({to, there})) pass(list, me, {to, there}, b, shift - skipped, {owner, i});
    }
    if (b > 0 && owner < e) pass(list, me, {to, i}, b, h + 1 - skipped, {owner, h});
  }
  // The end: the rank of column 0 serves the rest of the next class.
  if (i != 0 || to >= e) return;
  std::int64_t round = h + 1;
  for (std::int64_t owner = (to + 1) % e; owner != (to == 0 ? 0 : to - 1); owner = (owner + 1) % e) {
    pass(list, {c, 0}, {to, h}, m - 1, round++, {owner, h});
  }
}

void RestRingAllgather::add_receives(Place me, std::vector<Send>& list) const {
  const auto [c, i] = me;
  const std::int64_t m = ring_.m, h = full(), e = ring_.rest, from = before(c);
  for (std::int64_t b = 0; b < m; ++b) {
    const std::int64_t owner = (from - b + m) % m, skipped = b == m - 1 ? 1 : 0;
    for (std::int64_t shift = skipped; shift <= h; ++shift) {
      const std::int64_t source = (i - shift + h + 1) % (h + 1);
      if (source < h || (b == 0 && from < e)) pass(list, {from, source}, me, b, shift - skipped, {owner, source});
    }
    if (b > 0 && owner < e && i < h) pass(list, {from, i}, me, b, h + 1 - skipped, {owner, h});
  }
  if (i != h) return;
  std::int64_t round = h + 1;
  for (std::int64_t owner = (c + 1) % e; owner != (c == 0 ? 0 : c - 1); owner = (owner + 1) % e) {
    pass(list, {from, 0}, me, m - 1, round++, {owner, h});
  }
}

LocalForm RestRingAllgather::local(Rank me) const {
  LocalForm local{.rank = me, .sends = {}, .receives = {}, .adds = {}};
  add_sends(place(me), local.sends);
  add_receives(place(me), local.receives);
  return local;
}

/// Built by following every owner's items through the classes.
Schedule RestRingAllgather::schedule() const {
  Schedule schedule = empty_schedule();
  const std::int64_t m = ring_.m, h = full(), e = ring_.rest;
  for (std::int64_t r = 0; r < machine_.P; ++r) {
    const std::int64_t home = r % m, column = r / m;
    for (std::int64_t b = 0; b < m; ++b) {
      const std::int64_t c = (home + b) % m, to = after(c), late = b == m - 1 ? 1 : 0;
      for (std::int64_t there = 0; there <= h; ++there) {
        if (!exists({to, there}) || (to == home && there == column)) continue;
        const std::int64_t shift = (there - column + h + 1) % (h + 1);
        if (column < h || b == 0) {
          pass(schedule.sends, {c, column}, {to, there}, b, shift - late, {home, column});
        } else if (there < h) {
          pass(schedule.sends, {c, there}, {to, there}, b, h + 1 - late, {home, column});
        } else {
          // Rank `to` of the rest gets the others' items in the order to+1, to+2, … (mod e).
          pass(schedule.sends, {c, 0}, {to, h}, m - 1, h + 1 + (home - to - 1 + 2 * e) % e, {home, column});
        }
      }
    }
  }
  normalise(schedule);
  return schedule;
}

}  // namespace chasqui::plan
