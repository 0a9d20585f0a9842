// SPDX-License-Identifier: MIT
#include "plan/clusters/exchange/turn_groups.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "chasqui/base/arithmetic.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kSpans = 8;    ///< clocks between as near to each other as they may be, and all over the step
constexpr std::int64_t kPhases = 8;   ///< where in a step a reception begins, in batches
constexpr std::int64_t kLonger = 16;  ///< lengths up to twice the shortest
constexpr std::int64_t kMostMultiplied = 32;  ///< ranks of a node up to which other orders of the clocks are tried
constexpr std::int64_t kStretch = 64;       ///< what is tried next where no turn is possible is longer by this fraction
constexpr std::int64_t kMostLone = 10'000;  ///< ranks of a node up to which every turn is tried alone
constexpr std::int64_t kLoneStretch = 256;  ///< as kStretch, for a turn alone
constexpr int kTried = 64;                  ///< places of a range that may have the right divisor

/// Makes groups one after another.
class TurnMaker {
 public:
  TurnMaker(const Cluster& cluster, std::int64_t messages)
      : machine_(cluster.base), n_(cluster.nodes.largest()), together_(n_ * cluster.nodes.gamma.ticks),
        messages_(messages) {}

  std::int64_t shortest() const { return std::max({machine_.gap().ticks, together_, 2 * machine_.o.ticks}); }

  /// Lengths worth trying for the first group.
  std::vector<std::int64_t> lengths() const {
    const std::int64_t least = shortest(), o = machine_.o.ticks;
    std::vector<std::int64_t> lengths = {least, length_apart(machine_, least, o)};
    const WideTicks away = WideTicks{o} + together_;
    if (away <= there())  // clocks near to each other: every turn is possible
      lengths.push_back(length_apart(machine_, std::max(least, 2 * static_cast<std::int64_t>(away)),
                                     static_cast<std::int64_t>(away)));
    // Clocks so far apart that a reception lies between two.
    const std::int64_t each = std::max(divide_up(least, n_), 2 * o);
    const WideTicks between = static_cast<WideTicks>(length_apart(machine_, each, o)) * n_;
    if (between < 4 * WideTicks{least}) lengths.push_back(static_cast<std::int64_t>(between));
    for (std::int64_t i = 1; i <= kLonger; ++i) lengths.push_back(least + divide_up(least, kLonger) * i);
    return lengths;
  }

  /// From this length on; where no turn is possible that is left, with longer steps. Nothing if it takes longer than `limit`.
  std::optional<TurnGroups> make(std::int64_t length, bool batches, std::int64_t limit) const {
    TurnGroups made;
    for (TurnRanges left = {{0, n_}}; !left.empty();) {
      TurnGroup group = most(length, batches, left);
      if (group.count == 0) {
        // With a reception at that time in the step turn 0 is possible, in which all clocks are equal.
        const std::int64_t apart = length_apart(machine_, length, machine_.o.ticks);
        length = turns_in(left) == 1 && apart > length ? apart : length + 1 + length / kStretch;
        continue;
      }
      for (const TurnRange& range : group.turns) left = without(left, range);
      if (!add(std::move(group), limit, made)) return std::nullopt;
    }
    return made;
  }

  /// Puts a group behind the others when nothing of theirs is under way; no if it would end after `limit`.
  bool add(TurnGroup group, std::int64_t limit, TurnGroups& made) const {
    const std::int64_t lambda = machine_.lambda().ticks, gap = machine_.gap().ticks;
    // Two sends of a rank must be apart, too.
    if (!made.groups.empty()) group.begin = made.finish + std::max<std::int64_t>(0, gap - lambda);
    const WideTicks end = group.begin + ticks(group);
    if (end > limit) return false;
    made.finish = static_cast<std::int64_t>(end);
    made.groups.push_back(std::move(group));
    return true;
  }
  /// From the begin of the first send to the end of the last reception.
  WideTicks ticks(const TurnGroup& group) const {
    const WideTicks steps = static_cast<WideTicks>(group.count - 1) * group.steps + messages_ - 1;
    return steps * group.length + steps / group.batch * group.rest + group.clocks.last() + machine_.lambda().ticks;
  }

  /// A reception begins `phase` ticks after the batch after that of its send: before the next send of its rank, and what is received
  /// of a batch has been received before the next one begins.
  std::optional<TurnGroup> in_batches(std::int64_t length, const Clocks& clocks, std::int64_t phase) const {
    const std::int64_t whole = there() - phase, used = phase + clocks.last() + machine_.o.ticks;
    if (whole < std::max(length, used)) return std::nullopt;
    const std::int64_t batch = std::min((whole - used) / length + 1, whole / length);
    return TurnGroup{.length = length, .clocks = clocks, .batch = batch, .rest = whole - batch * length};
  }

  const LogP& machine() const { return machine_; }
  std::int64_t n() const { return n_; }
  std::int64_t messages() const { return messages_; }
  std::int64_t there() const { return (machine_.L + machine_.o).ticks; }  ///< from a send to its reception
  /// Are clocks spread over that length so many places apart by a whole number of ticks, wherever they are?
  bool exact(std::int64_t places, std::int64_t length) const {
    return static_cast<WideTicks>(places) * length % n_ == 0;
  }

 private:
  /// The group with the most turns of those that are left.
  TurnGroup most(std::int64_t length, bool batches, const TurnRanges& left) const {
    TurnGroup best;
    const std::int64_t wanted = turns_in(left);
    for (std::int64_t i = 0; i <= kSpans && best.count < wanted; i += batches ? kSpans : 1) {
      const auto more = static_cast<std::int64_t>(static_cast<WideTicks>(length - together_) * i / kSpans);
      const Clocks clocks{n_, together_ + more};
      if (!batches) improve(best, {.length = length, .clocks = clocks}, left, there());
      for (std::int64_t j = 0; batches && j < kPhases && best.count < wanted; ++j) {
        const std::int64_t phase = machine_.o.ticks + clocks.last() + length / kPhases * j;
        if (const auto group = in_batches(length, clocks, phase)) improve(best, *group, left, phase);
      }
    }
    if (best.count == 0 && batches) return most(length, false, left);
    return best;
  }

  /// The same with those turns that are possible, and the order of clocks with which most of them are, if they are more than the best has.
  void improve(TurnGroup& best, TurnGroup group, const TurnRanges& left, std::int64_t phase) const {
    const TurnPhases phases(machine_.o.ticks, group.length, phase, group.clocks);
    // From one turn to the next a rank gets from another clock, in the worst case from the first after the last.
    const bool pause = group.length - group.clocks.last() < machine_.gap().ticks;
    group.steps = messages_ + (pause ? 1 : 0);
    const auto consider = [&](std::int64_t multiplier, TurnRanges turns) {
      group.count = turns_in(turns);
      if (group.count <= best.count) return;
      group.multiplier = multiplier;
      group.turns = std::move(turns);
      best = group;
    };
    consider(1, phases.possible(left, false));
    if (n_ > 2) consider(n_ - 1, phases.possible(left, true));
    if (n_ > kMostMultiplied) return;
    const TurnRanges places = phases.possible({{0, n_}}, false);
    for (std::int64_t multiplier = 2; multiplier < n_ - 1; ++multiplier) {
      if (std::gcd(multiplier, n_) == 1) consider(multiplier, multiplied(left, multiplier, places));
    }
  }

  /// Those turns in which the clock of the receiver is one of these numbers of places after that of the sender.
  TurnRanges multiplied(const TurnRanges& turns, std::int64_t multiplier, const TurnRanges& places) const {
    TurnRanges possible;
    for (const TurnRange& range : turns) {
      for (std::int64_t u = range.first; u < range.end; ++u) {
        const std::int64_t place = u * multiplier % n_;
        for (const TurnRange& good : places) {
          if (good.first <= place && place < good.end) possible.push_back({u, u + 1});
        }
      }
    }
    return possible;
  }

  LogP machine_;
  std::int64_t n_, together_, messages_;
};

/// b with a * b = 1 modulo m. REQUIRES a and m without a common divisor.
std::int64_t inverse(std::int64_t a, std::int64_t m) {
  std::int64_t b = 1, next = 0;
  for (std::int64_t rest = m, x = a; rest != 0;) {
    const std::int64_t times = x / rest;
    b = std::exchange(next, b - times * next);
    x = std::exchange(rest, x - times * rest);
  }
  return modulo(b, m);
}

/// Every turn with clocks of its own, for whom little time in a step is left to receive.
class LoneTurns {
 public:
  explicit LoneTurns(const TurnMaker& maker) : maker_(maker) {}

  /// The turn alone: in single steps, or in batches, where it is shorter.
  TurnGroup turn(std::int64_t u) {
    const std::int64_t n = maker_.n(), o = maker_.machine().o.ticks;
    TurnGroup best = in_steps(u);
    const std::int64_t length = maker_.shortest();
    const Clocks clocks{n, length};
    // As soon after its own send as a rank may receive from u places before.
    std::int64_t phase = o + clocks.offset(u) + (maker_.exact(u, length) ? 0 : 1);
    while (phase < o + clocks.last()) phase += length;
    if (auto group = maker_.in_batches(length, clocks, phase)) {
      group->turns = best.turns;
      group->count = 1;
      group->steps = best.steps;
      const TurnPhases phases(o, length, phase, clocks);
      if (maker_.ticks(*group) < maker_.ticks(best) && !phases.possible(best.turns, false).empty()) return *group;
    }
    return best;
  }

 private:
  /// A length, and by how many places the clock of the receiver is after that of the sender.
  struct Place {
    std::int64_t length = 0, place = 0;
  };

  TurnGroup in_steps(std::int64_t u) {
    const std::int64_t n = maker_.n(), divisor = std::gcd(u, n), m = n / divisor;
    const Place place = place_of(divisor);
    std::int64_t multiplier = 1;
    if (m > 1) multiplier = place.place / divisor * inverse(u / divisor, m) % m;
    while (std::gcd(multiplier, n) > 1) multiplier += m;  // all ranks have clocks of their own
    TurnGroup group{.length = place.length, .clocks = {n, place.length}, .multiplier = multiplier % n};
    group.steps = maker_.messages();
    group.turns = {{u, u + 1}};
    group.count = 1;
    return group;
  }

  /// The same for all turns that have this greatest common divisor with n: any place that has it, too, can be theirs.
  Place place_of(std::int64_t divisor) {
    const auto known = places_.find(divisor);
    if (known != places_.end()) return known->second;
    const std::int64_t n = maker_.n();
    for (std::int64_t length = maker_.shortest();; length += 1 + length / kLoneStretch) {
      const TurnPhases phases(maker_.machine().o.ticks, length, maker_.there(), {n, length});
      for (const TurnRange& range : phases.possible({{0, n}}, false)) {
        std::int64_t place = divide_up(range.first, divisor) * divisor;
        for (int tried = 0; tried < kTried && place < range.end; ++tried, place += divisor) {
          if (std::gcd(place, n) == divisor) return places_[divisor] = {length, place};
        }
      }
    }
  }

  const TurnMaker& maker_;
  std::map<std::int64_t, Place> places_;
};

TurnGroups turns_one_by_one(const TurnMaker& maker, std::int64_t limit) {
  LoneTurns lone(maker);
  TurnGroups made;
  for (std::int64_t u = 0; u < maker.n(); ++u) {
    if (!maker.add(lone.turn(u), limit, made)) return {};
  }
  return made;
}

}  // namespace

TurnGroups turn_groups(const Cluster& cluster, const Problem& problem, std::int64_t messages) {
  const TurnMaker maker(cluster, messages);
  std::optional<TurnGroups> best;
  for (const std::int64_t length : maker.lengths()) {
    for (const bool batches : {false, true}) {
      auto made = maker.make(length, batches, best ? best->finish - 1 : kMaxTime);
      if (made) best = std::move(made);
    }
  }
  if (cluster.nodes.largest() <= kMostLone) {
    TurnGroups made = turns_one_by_one(maker, best ? best->finish - 1 : kMaxTime);
    if (!made.groups.empty()) best = std::move(made);
  }
  if (!best) countable(WideTicks{kMaxTime} + 1, cluster, problem);
  return std::move(*best);
}

}  // namespace chasqui::plan
