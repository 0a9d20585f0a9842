// SPDX-License-Identifier: MIT
#include "verify/oracle.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace chasqui::oracle {
namespace {

using Mask = unsigned;

struct World {
  const Schedule& s;
  std::int64_t P, L, o, g, lambda, gap;
  unsigned broken = 0;
  std::vector<Send> good;
  std::vector<Add> adds;

  explicit World(const Schedule& schedule)
      : s(schedule), P(s.machine.P), L(s.machine.L.ticks), o(s.machine.o.ticks), g(s.machine.g.ticks),
        lambda(L + 2 * o), gap(std::max(g, o)) {}

  void breaks(int rule) { broken |= 1U << rule; }
  bool rank_exists(Rank r) const { return r.index >= 0 && r.index < P; }
  bool counts(std::int64_t r) const {
    return s.problem.kind != Kind::sum || s.operands[static_cast<std::size_t>(r)] > 0;
  }

  Mask mask(const Part& part) const {
    Mask m = 0;
    for (std::int32_t i = 0; i < part.len; ++i) {
      const std::int64_t r = (part.lo + i) % P;
      if (counts(r)) m |= 1U << r;
    }
    return m;
  }
};

bool part_ok(const World& w, const Part& part) {
  if (part.lo < 0 || part.lo >= w.P || part.len < 1 || part.len > w.P) return false;
  return w.s.problem.commutative || w.s.problem.kind == Kind::barrier || part.lo + part.len <= w.P;
}

std::int64_t item_count(const World& w) {
  const Kind kind = w.s.problem.kind;
  const bool in_all = kind == Kind::broadcast || kind == Kind::allreduce;
  return w.s.problem.items * (in_all ? 1 : kind == Kind::alltoall ? w.P * w.P : w.P);
}

/// Are contributions to several items folded? (Reductions of several items are tested in kitem_reduce_test.cpp.)
bool folds_items(const World& w) {
  const Problem& p = w.s.problem;
  return p.kind == Kind::reduce_scatter || (p.kind == Kind::allreduce && p.items > 1);
}

bool well_formed(const World& w, const Send& m) {
  if (!w.rank_exists(m.from) || !w.rank_exists(m.to) || m.from == m.to) return false;
  if (!combines(w.s.problem.kind) || folds_items(w)) {
    if (w.s.problem.kind == Kind::alltoall && m.second.lo != 0) return false;  // a number of more than 31 bits
    return m.part.len == 1 && m.second.len == 0 && m.part.lo >= 0 && m.part.lo < item_count(w);
  }
  if (!part_ok(w, m.part)) return false;
  if (m.second.len == 0) return true;
  if (!part_ok(w, m.second)) return false;
  if (w.s.problem.kind == Kind::barrier) return true;
  Mask both = 0;  // of ranks, whether they hold operands or not
  for (std::int32_t i = 0; i < m.part.len; ++i) both |= 1U << ((m.part.lo + i) % w.P);
  for (std::int32_t i = 0; i < m.second.len; ++i) {
    if ((both >> ((m.second.lo + i) % w.P) & 1U) != 0) return false;
  }
  return true;
}

bool well_formed(const World& w, const Add& a) {
  return w.s.problem.kind == Kind::sum && w.rank_exists(a.rank) && w.rank_exists(a.from) && a.count >= 1 &&
         (a.rank == a.from || a.count == 1);
}

/// Rules 2 to 5 by looking at every tick.
void time_rules(World& w) {
  for (std::int32_t r = 0; r < w.P; ++r) {
    std::map<std::int64_t, int> busy, flying_from, flying_to;
    std::vector<std::int64_t> sends, receptions;
    for (const Send& m : w.good) {
      const std::int64_t t = m.begin.ticks;
      if (m.from.index == r) {
        sends.push_back(t);
        for (std::int64_t x = t; x < t + w.o; ++x) ++busy[x];
        for (std::int64_t x = t + w.o; x < t + w.o + w.L; ++x) ++flying_from[x];
      }
      if (m.to.index == r) {
        receptions.push_back(t + w.o + w.L);
        for (std::int64_t x = t + w.o + w.L; x < t + w.lambda; ++x) ++busy[x];
        for (std::int64_t x = t + w.o; x < t + w.o + w.L; ++x) ++flying_to[x];
      }
    }
    for (const Add& a : w.adds) {
      if (a.rank.index != r) continue;
      for (std::int64_t x = a.begin.ticks; x < a.begin.ticks + a.count; ++x) ++busy[x];
    }
    const auto close = [&](const std::vector<std::int64_t>& times) {
      for (std::size_t i = 0; i < times.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          if (std::abs(times[i] - times[j]) < w.gap) return true;
        }
      }
      return false;
    };
    if (close(sends)) w.breaks(2);
    if (close(receptions)) w.breaks(3);
    for (const auto& [tick, n] : busy) {
      if (n > 1) w.breaks(4);
    }
    for (const auto& flying : {flying_from, flying_to}) {
      for (const auto& [tick, n] : flying) {
        if (n * w.g >= w.L + w.g) w.breaks(5);
      }
    }
  }
}

bool owns(const World& w, std::int32_t r, std::int64_t item) {
  const Problem& p = w.s.problem;
  if (p.kind == Kind::broadcast || p.kind == Kind::scatter) return r == p.root.index;
  if (p.kind == Kind::alltoall) return item / p.items / w.P == r;
  return item / p.items == r;
}

/// Tick by tick. Reduce-scatter: contributions move from rank to rank and are never copied. All-reduce: they are copied, and
/// only the result may meet what it contains.
void folded_item_rules(World& w) {
  const std::int64_t k = w.s.problem.items;
  const bool copies = w.s.problem.kind == Kind::allreduce;
  const Mask all = (1U << w.P) - 1;
  const auto in_order = [&](Mask m) {  // one run of ranks, or two that touch both ends
    int runs = 0;
    for (std::int64_t r = 0; r < w.P; ++r) runs += (m >> r & 1U) != 0 && (m >> ((r + 1) % w.P) & 1U) == 0 ? 1 : 0;
    return runs <= 1;
  };
  for (std::int64_t item = 0; item < item_count(w); ++item) {
    std::vector<Mask> held;
    for (std::int64_t r = 0; r < w.P; ++r) held.push_back(1U << r);
    std::multimap<std::int64_t, std::pair<std::int32_t, Mask>> arriving;
    for (std::int64_t tick = -100; tick < 2000; ++tick) {
      for (auto [at, end] = arriving.equal_range(tick); at != end; ++at) {
        Mask& mine = held[static_cast<std::size_t>(at->second.first)];
        const bool replaces = at->second.second == all && mine != all;
        if (copies && !replaces && (mine & at->second.second) != 0) w.breaks(6);
        else mine |= at->second.second;
      }
      for (const Send& m : w.good) {
        if (m.begin.ticks != tick || m.part.lo != item) continue;
        Mask& mine = held[static_cast<std::size_t>(m.from.index)];
        if (tick < 0 || mine == 0) w.breaks(1);
        if (!w.s.problem.commutative && !in_order(mine)) w.breaks(6);
        arriving.emplace(tick + w.lambda, std::pair{m.to.index, copies ? mine : std::exchange(mine, 0)});
      }
    }
    for (std::int64_t r = 0; r < w.P; ++r) {
      if ((copies || r == item / k) && held[static_cast<std::size_t>(r)] != all) w.breaks(7);
    }
  }
}

void item_rules(World& w) {
  const Problem& p = w.s.problem;
  const std::int64_t items = item_count(w);
  for (std::int32_t r = 0; r < w.P; ++r) {
    for (std::int64_t item = 0; item < items; ++item) {
      std::vector<std::int64_t> got;
      for (const Send& m : w.good) {
        if (m.to.index == r && m.part.lo == item) got.push_back(m.begin.ticks + w.lambda);
      }
      const bool own = owns(w, r, item);
      if (got.size() + (own ? 1 : 0) > 1) w.breaks(6);
      if (own) got.push_back(0);
      for (const Send& m : w.good) {
        if (m.from.index != r || m.part.lo != item) continue;
        if (std::none_of(got.begin(), got.end(), [&](std::int64_t t) { return t <= m.begin.ticks; })) w.breaks(1);
      }
      bool promised = true;
      if (p.kind == Kind::scatter) promised = item / p.items == r;
      if (p.kind == Kind::gather) promised = r == p.root.index;
      if (p.kind == Kind::alltoall) promised = item / p.items % w.P == r;
      if (promised && got.empty()) w.breaks(7);
    }
  }
}

/// Is `wanted` a disjoint union of some of the masks?
bool exact_cover(Mask wanted, const std::set<Mask>& masks) {
  if (wanted == 0) return true;
  const Mask lowest = wanted & (~wanted + 1);
  return std::any_of(masks.begin(), masks.end(), [&](Mask m) {
    return (m & lowest) != 0 && (m & ~wanted) == 0 && exact_cover(wanted & ~m, masks);
  });
}

/// 0: can be made; otherwise the rule that is broken.
int cover_rule(const World& w, Mask wanted, const std::set<Mask>& masks, int if_missing) {
  const bool barrier = w.s.problem.kind == Kind::barrier;
  if (!barrier && exact_cover(wanted, masks)) return 0;
  Mask together = 0;
  for (const Mask m : masks) {
    if (barrier || (m & ~wanted) == 0) together |= m;
  }
  if ((wanted & ~together) != 0) return if_missing;
  return barrier ? 0 : 6;
}

std::set<Mask> has_by(const World& w, std::int32_t r, std::int64_t time) {
  std::set<Mask> masks;
  if (time >= 0 && w.counts(r)) masks.insert(1U << r);
  for (const Send& m : w.good) {
    if (m.to.index != r || m.begin.ticks + w.lambda > time) continue;
    masks.insert(w.mask(m.part));
    if (m.second.len > 0) masks.insert(w.mask(m.second));
  }
  masks.erase(0);
  return masks;
}

void fold_rules(World& w) {
  const Problem& p = w.s.problem;
  for (const Send& m : w.good) {
    const auto masks = has_by(w, m.from.index, m.begin.ticks);
    int worst = 0;
    for (const Part& part : {m.part, m.second}) {
      if (part.len == 0) continue;
      if (w.mask(part) == 0) {  // ranks without operands: such a message is judged no further
        worst = 6;
        break;
      }
      const int rule = cover_rule(w, w.mask(part), masks, 1);
      if (rule == 1 || worst == 0) worst = rule;
    }
    if (worst != 0) w.breaks(worst);
  }
  for (std::int32_t r = 0; r < w.P; ++r) {
    std::int32_t len = static_cast<std::int32_t>(w.P);
    if ((p.kind == Kind::reduce || p.kind == Kind::sum) && r != p.root.index) continue;
    if (p.kind == Kind::scan) len = p.exclusive ? r : r + 1;
    const int rule = cover_rule(w, w.mask({0, len}), has_by(w, r, 1'000'000), 7);
    if (rule != 0) w.breaks(rule);
  }
}

void sum_rules(World& w) {
  for (std::int32_t r = 0; r < w.P; ++r) {
    const std::int64_t operands = w.s.operands[static_cast<std::size_t>(r)];
    std::int64_t own = 0, values = 0, received = 0, total = 0;
    for (const Send& m : w.good) received += m.to.index == r ? 1 : 0;
    for (const Add& a : w.adds) {
      if (a.rank.index != r) continue;
      (a.from.index == r ? own : values) += a.count;
      total += a.count;
      if (a.from.index == r && a.begin.ticks < 0) w.breaks(1);
    }
    if (own > std::max<std::int64_t>(0, operands - 1) || values > received) w.breaks(6);
    for (std::int32_t from = 0; from < w.P; ++from) {  // additions matched with messages, both in order of time
      std::vector<std::int64_t> there, added;
      for (const Send& m : w.good) {
        if (m.to.index == r && m.from.index == from) there.push_back(m.begin.ticks + w.lambda);
      }
      for (const Add& a : w.adds) {
        if (a.rank.index == r && a.from.index == from && from != r) added.push_back(a.begin.ticks);
      }
      std::sort(there.begin(), there.end());
      std::sort(added.begin(), added.end());
      for (std::size_t i = 0; i < added.size(); ++i) {
        if (i >= there.size() || there[i] > added[i]) w.breaks(1);
      }
    }
    for (const Send& m : w.good) {
      if (m.from.index != r) continue;
      std::int64_t need = operands - 1, done = 0;
      for (const Send& x : w.good) need += x.to.index == r && x.begin.ticks + w.lambda <= m.begin.ticks ? 1 : 0;
      for (const Add& a : w.adds) {
        for (std::int64_t i = 0; a.rank.index == r && i < a.count; ++i) done += a.begin.ticks + i + 1 <= m.begin.ticks;
      }
      if (done < need) w.breaks(1);
    }
    if (r == w.s.problem.root.index && total < operands - 1 + received) w.breaks(7);
  }
}

}  // namespace

unsigned broken_rules(const Schedule& schedule) {
  World w(schedule);
  for (const Send& m : schedule.sends) {
    if (well_formed(w, m)) w.good.push_back(m);
  }
  for (const Add& a : schedule.adds) {
    if (well_formed(w, a)) w.adds.push_back(a);
  }
  const bool complete = w.good.size() == schedule.sends.size() && w.adds.size() == schedule.adds.size();
  if (!complete) w.breaks(6);
  time_rules(w);
  if (folds_items(w)) {
    folded_item_rules(w);
  } else if (combines(schedule.problem.kind)) {
    fold_rules(w);
  } else {
    item_rules(w);
  }
  if (schedule.problem.kind == Kind::sum) sum_rules(w);
  std::int64_t finish = 0;
  for (const Send& m : w.good) finish = std::max(finish, m.begin.ticks + w.lambda);
  for (const Add& a : w.adds) finish = std::max(finish, a.begin.ticks + a.count);
  if (complete && (schedule.finish.ticks != finish || schedule.bound > schedule.finish)) w.breaks(7);
  return w.broken;
}

}  // namespace chasqui::oracle
