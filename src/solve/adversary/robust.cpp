// SPDX-License-Identifier: MIT
// A worst case that meets a bound for exact latency is the least (adversary.md, Theorem 6).
#include "chasqui/solve/robust.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "chasqui/base/error.hpp"
#include "solve/sat.hpp"

namespace chasqui::solve {
namespace {

constexpr std::uint64_t kWalk = 400;  ///< mutations until a walk begins again at the best

/// One delivery of a schedule without its time: list scheduling gives it the earliest one, plus a delay on purpose.
struct Delivery {
  Rank from;
  Rank to;
  std::int32_t item;
  std::int64_t delay = 0;
};

std::vector<Delivery> deliveries_of(const Schedule& schedule) {
  std::vector<Delivery> deliveries;
  for (const Send& send : schedule.sends) deliveries.push_back({send.from, send.to, send.part.lo});
  return deliveries;
}

/// Times for deliveries in this order; those whose sender lacks the item yet are taken up again later.
/// Returns an empty schedule if some can never be made.
Schedule list_schedule(const Schedule& like, std::vector<Delivery> deliveries) {
  Schedule schedule;
  schedule.machine = like.machine;
  schedule.problem = like.problem;
  schedule.bound = like.bound;
  const std::int64_t L = like.machine.L.ticks;
  std::map<std::pair<Rank, std::int32_t>, std::int64_t> has;
  std::set<std::pair<Rank, std::int64_t>> sends;
  std::set<std::pair<Rank, std::int64_t>> receives;
  while (!deliveries.empty()) {
    std::vector<Delivery> waiting;
    for (const Delivery& delivery : deliveries) {
      const auto found = has.find({delivery.from, delivery.item});
      if (delivery.from != like.problem.root && found == has.end()) {
        waiting.push_back(delivery);
        continue;
      }
      std::int64_t time = (found == has.end() ? 0 : found->second) + delivery.delay;
      while (sends.contains({delivery.from, time}) || receives.contains({delivery.to, time + L})) ++time;
      sends.insert({delivery.from, time});
      receives.insert({delivery.to, time + L});
      has[{delivery.to, delivery.item}] = time + L;
      schedule.sends.push_back(send_item(Time{time}, delivery.from, delivery.to, delivery.item));
      schedule.finish = std::max(schedule.finish, Time{time + L});
    }
    if (waiting.size() == deliveries.size()) return {};
    deliveries = std::move(waiting);
  }
  normalise(schedule);
  return schedule;
}

void mutate(std::vector<Delivery>& deliveries, const LogP& machine, std::mt19937_64& random) {
  Delivery& one = deliveries[random() % deliveries.size()];
  switch (random() % 4) {
    case 0: std::swap(one, deliveries[random() % deliveries.size()]); break;
    case 1: one.delay = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(machine.L.ticks + 1)); break;
    default: {
      const Rank from{static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(machine.P))};
      if (from != one.to) one.from = from;
    }
  }
}

void require_comparable(const std::vector<Candidate>& candidates) {
  if (candidates.empty()) throw Error("no candidate schedule: give at least one");
  const Schedule& first = candidates.front().schedule;
  for (const Candidate& candidate : candidates) {
    const Schedule& schedule = candidate.schedule;
    if (!schedule.machine.is_postal())
      throw Error("robust schedules are searched on the postal machine: use -o 0 -g 1");
    if (schedule.problem.kind != Kind::broadcast || schedule.machine != first.machine ||
        schedule.problem != first.problem) {
      throw Error("candidate '{}' solves another problem than '{}'", candidate.name, candidates.front().name);
    }
  }
}

class Robust {
 public:
  explicit Robust(const RobustOptions& options) : options_(options) {}

  RobustSchedule run(const std::vector<Candidate>& candidates) {
    for (const Candidate& candidate : candidates) {
      if (!candidate.buffered) consider(candidate.schedule, candidate.name);
      const Schedule again = list_schedule(candidate.schedule, deliveries_of(candidate.schedule));
      if (!again.sends.empty()) consider(again, candidate.name + ", list scheduled");
    }
    for (const Candidate& candidate : candidates) bound_ = std::max(bound_, candidate.schedule.bound);
    improve();
    prove();
    return best_;
  }

 private:
  bool found() const { return !best_.how.empty(); }

  void consider(const Schedule& schedule, const std::string& how) {
    if (found() && schedule.finish > best_.worst.finish()) return;  // the exact latency L alone makes it worse
    const WorstCase worst = worst_case(schedule, options_.adversary);
    const bool better = !found() || worst.finish() < best_.worst.finish() ||
                        (worst.finish() == best_.worst.finish() && worst.exact && !best_.worst.exact);
    if (better) best_ = {schedule, worst, false, how};
  }

  bool met() {
    if (best_.worst.finish() > bound_ || !best_.worst.exact) return false;
    best_.proved = true;
    best_.how += "; its worst case meets the lower bound for exact latency";
    return true;
  }

  /// Whether the adversary can never make the schedule finish later than that; nothing if that is too hard to tell.
  std::optional<bool> holds(const Schedule& schedule, Time finish) const {
    if (schedule.finish > finish) return false;
    AdversaryOptions how = options_.adversary;
    how.enough = finish - schedule.finish + Time{1};
    how.plays = std::min<std::uint64_t>(how.plays, 100);
    how.conflicts = std::min<std::uint64_t>(how.conflicts, 20'000);
    how.progress = {};
    if (worst_case_heuristic(schedule, how).late >= how.enough) return false;
    if (!sat_available()) {
      const WorstCase worst = worst_case(schedule, options_.adversary);
      return worst.late >= how.enough ? std::optional(false) : worst.exact ? std::optional(true) : std::nullopt;
    }
    WorstCase known;
    known.late = how.enough - Time{1};
    const WorstCase worst = worst_case_sat(schedule, how, known);
    return worst.exact ? std::optional(true) : worst.late >= how.enough ? std::optional(false) : std::nullopt;
  }

  /// A walk among schedules that are no worse than the best, until one is better.
  void improve() {
    if (best_.worst.finish() <= bound_ || best_.schedule.sends.empty()) return;
    std::mt19937_64 random(options_.seed);
    std::vector<Delivery> at;
    for (std::uint64_t i = 0; i < options_.mutations; ++i) {
      if (options_.progress) options_.progress(static_cast<double>(i) / static_cast<double>(options_.mutations));
      if (i % kWalk == 0) at = deliveries_of(best_.schedule);
      std::vector<Delivery> next = at;
      for (std::uint64_t n = 1 + random() % 3; n > 0; --n) mutate(next, best_.schedule.machine, random);
      const Schedule schedule = list_schedule(best_.schedule, next);
      if (schedule.sends.empty() || !holds(schedule, best_.worst.finish()).value_or(true)) continue;
      at = next;
      if (!holds(schedule, best_.worst.finish() - Time{1}).value_or(true)) continue;
      consider(schedule, "local search");
      at = deliveries_of(best_.schedule);
      if (best_.worst.finish() <= bound_) return;
    }
  }

  void prove() {
    if (met() || !best_.worst.exact) return;
    // Whoever is better finishes earlier under exact latency, too: look at all of those.
    std::uint64_t looked_at = 0;
    const std::int64_t k = best_.schedule.problem.items;
    const LogP machine = best_.schedule.machine;
    if (machine.P > 6 || k * (machine.P - 1) > 16) return;
    bool all_exact = true;
    const Time target = best_.worst.finish() - Time{1};
    bool better = false;
    const bool complete = for_each_broadcast(machine, k, target, [&](const Schedule& schedule) {
      if (++looked_at > options_.schedules) return false;
      const std::optional<bool> beats = holds(schedule, target);
      all_exact = all_exact && beats;
      if (beats.value_or(false)) {
        const WorstCase worst = worst_case(schedule, options_.adversary);
        Schedule with_bound = schedule;
        with_bound.bound = bound_;
        best_ = {with_bound, worst, false, "exhaustive search"};
        better = true;
        return false;
      }
      return true;
    });
    if (better) return prove();
    if (complete && all_exact) {
      best_.proved = true;
      best_.how += fmt::format("; none of the {} schedules that could beat it does", looked_at);
    }
  }

  const RobustOptions& options_;
  RobustSchedule best_;
  Time bound_{0};
};

/// All k-item broadcasts on a small postal machine, tick by tick and rank by rank.
class Enumeration {
 public:
  Enumeration(const LogP& machine, std::int64_t k, Time finish, const std::function<bool(const Schedule&)>& visit)
      : P_(static_cast<std::size_t>(machine.P)), k_(static_cast<std::size_t>(k)), L_(machine.L.ticks),
        last_send_(finish.ticks - machine.L.ticks), visit_(visit), available_(P_ * k_, kMissing), receives_at_(P_),
        left_((P_ - 1) * k_) {
    schedule_.machine = machine;
    schedule_.problem = {.kind = Kind::broadcast, .items = k};
    for (std::size_t i = 0; i < k_; ++i) available_[i] = 0;  // the root, rank 0
  }

  bool run() { return step(0, 0); }

 private:
  static constexpr std::int64_t kMissing = std::int64_t{1} << 40;

  std::int64_t& available(std::size_t rank, std::size_t item) { return available_[rank * k_ + item]; }

  /// Rank `from` decides at `now`; then the next rank, then the next tick. False: stopped.
  bool step(std::int64_t now, std::size_t from) {
    if (left_ == 0) return report();
    if (from == P_) {
      ++now;
      from = 0;
    }
    // Every later step delivers at most one item to every rank but the root.
    const std::int64_t steps = last_send_ - now + 1;
    if (steps <= 0 || static_cast<std::int64_t>(left_) > steps * static_cast<std::int64_t>(P_ - 1)) return true;
    bool item_is_new = false;  // items nobody has sent are alike: try one
    for (std::size_t item = 0; item < k_; ++item) {
      if (available(from, item) > now) continue;
      if (!sent(item)) {
        if (item_is_new) continue;
        item_is_new = true;
      }
      bool rank_is_new = false;  // so are ranks to which nothing is under way
      for (std::size_t to = 1; to < P_; ++to) {
        if (available(to, item) != kMissing) continue;
        auto& receptions = receives_at_[to];
        if (receptions.empty()) {
          if (rank_is_new) continue;
          rank_is_new = true;
        }
        if (std::find(receptions.begin(), receptions.end(), now + L_) != receptions.end()) continue;
        receptions.push_back(now + L_);
        available(to, item) = now + L_;
        --left_;
        schedule_.sends.push_back(send_item(Time{now}, Rank{static_cast<std::int32_t>(from)},
                                            Rank{static_cast<std::int32_t>(to)}, static_cast<std::int32_t>(item)));
        const bool go_on = step(now, from + 1);
        schedule_.sends.pop_back();
        ++left_;
        available(to, item) = kMissing;
        receptions.pop_back();
        if (!go_on) return false;
      }
    }
    return step(now, from + 1);  // it sends nothing
  }

  bool sent(std::size_t item) const {
    return std::any_of(schedule_.sends.begin(), schedule_.sends.end(),
                       [&](const Send& send) { return send.part.lo == static_cast<std::int32_t>(item); });
  }

  bool report() {
    Schedule complete = schedule_;
    for (const Send& send : complete.sends)
      complete.finish = std::max(complete.finish, chasqui::available(complete.machine, send));
    normalise(complete);
    return visit_(complete);
  }

  std::size_t P_;
  std::size_t k_;
  std::int64_t L_;
  std::int64_t last_send_;
  const std::function<bool(const Schedule&)>& visit_;
  std::vector<std::int64_t> available_;
  std::vector<std::vector<std::int64_t>> receives_at_;
  std::size_t left_;
  Schedule schedule_;
};

}  // namespace

bool for_each_broadcast(const LogP& machine, std::int64_t k, Time finish,
                        const std::function<bool(const Schedule&)>& visit) {
  return Enumeration(machine, k, finish, visit).run();
}

RobustSchedule most_robust(const std::vector<Candidate>& candidates, const RobustOptions& options) {
  require_comparable(candidates);
  return Robust(options).run(candidates);
}

}  // namespace chasqui::solve
