// SPDX-License-Identifier: MIT
#include "plan/exchange/allgather_ring.hpp"

#include <algorithm>
#include <utility>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"

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

/// What both plans share: places on the ring, and messages from a class to the next.
class RingPlan : public Plan {
 public:
  RingPlan(const LogP& machine, const Problem& problem, Claim claim, RingShape ring)
      : Plan(machine, problem, std::move(claim)), ring_(std::move(ring)) {}

 protected:
  struct Place {
    std::int64_t c, i;
  };

  Place place(Rank rank) const {
    CHASQUI_CHECK(rank.index >= 0 && rank.index < machine_.P, "rank={} P={}", rank.index, machine_.P);
    return {rank.index % ring_.m, rank.index / ring_.m};
  }

  Rank rank(Place place) const { return Rank{static_cast<std::int32_t>(place.i * ring_.m + place.c)}; }
  bool exists(Place place) const { return place.i * ring_.m + place.c < machine_.P; }
  std::int64_t after(std::int64_t c) const { return c + 1 == ring_.m ? 0 : c + 1; }
  std::int64_t before(std::int64_t c) const { return c == 0 ? ring_.m - 1 : c - 1; }

  /// All items of `owner`, one each in rounds round*k .. round*k + k-1 of the block.
  void pass(std::vector<Send>& list, Place from, Place to, std::int64_t block, std::int64_t round, Place owner) const {
    const std::int64_t k = ring_.items;
    const std::int64_t start = ring_.offset[static_cast<std::size_t>(from.c)] + block * ring_.block;
    for (std::int64_t j = 0; j < k; ++j) {
      list.push_back(send_item(Time{start + (round * k + j) * ring_.period}, rank(from), rank(to),
                               static_cast<std::int32_t>(rank(owner).index * k + j)));
    }
  }

  RingShape ring_;
};

/// REQUIRES at most one rank over. With a lone rank in the last column, P = m*h + 1, class c > 0 has nobody there. Its
/// ranks pass the lone rank's items on in the rounds in which they would have sent to that empty place, to the
/// receivers that the missing sender would have served; class 0, where no place is empty, gets them in one round more
/// at the very end. Blocks alternate the direction in which the columns are served, so that such an item is passed on
/// in the round it was received in.
class RingAllgather final : public RingPlan {
 public:
  using RingPlan::RingPlan;

  LocalForm local(Rank me) const override {
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
  Schedule schedule() const override {
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
};

/// REQUIRES 2 <= e < m ranks over: P = mh + e, the rest is column h of the classes 0 .. e-1.
/// The ranks of the full columns pass items on as in RingAllgather, to all h + 1 columns. A rank of the rest
/// sends only its own items, in block 0, to all of the next class. From then on every rank of a full column
/// passes them on to its own column in one round more, the last of each block: received and sent in the same
/// round, they never wait. At the very end the rest gets the items of the rest, one rank's a round, except
/// those of the class before, which came directly. All of it stays on the ring's lattice of send times, so no
/// overheads meet. It takes about 2m rounds more than a ring that comes out even.
class RestRingAllgather final : public RingPlan {
 public:
  using RingPlan::RingPlan;

  LocalForm local(Rank me) const override {
    LocalForm local{.rank = me, .sends = {}, .receives = {}, .adds = {}};
    add_sends(place(me), local.sends);
    add_receives(place(me), local.receives);
    return local;
  }

  /// Built by following every owner's items through the classes.
  Schedule schedule() const override {
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

 private:
  std::int64_t full() const { return ring_.columns - 1; }
  void add_sends(Place me, std::vector<Send>& list) const {
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

  void add_receives(Place me, std::vector<Send>& list) const {
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
};

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

PlanPtr ring_allgather(const LogP& machine, const Problem& problem, Claim claim, RingShape ring) {
  if (ring.rest > 1) return std::make_shared<RestRingAllgather>(machine, problem, std::move(claim), std::move(ring));
  return std::make_shared<RingAllgather>(machine, problem, std::move(claim), std::move(ring));
}

}  // namespace chasqui::plan
