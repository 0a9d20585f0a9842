// SPDX-License-Identifier: MIT
#include "plan/items/hypercube.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "chasqui/base/error.hpp"

namespace chasqui::plan::kernel {
namespace {

std::uint64_t ranks(const LogP& machine) { return static_cast<std::uint64_t>(machine.P); }

/// All ranks if P is a power of two, otherwise the largest power of two below P.
std::uint32_t vertices_of(const LogP& machine) { return static_cast<std::uint32_t>(std::bit_floor(ranks(machine))); }

/// k items on a hypercube of 2^Q vertices, vertex 0 the source; step t uses dimension t mod Q in both directions.
class Cube {
 public:
  /// REQUIRES 1 <= Q <= 31, k >= 1.
  Cube(int dimensions, std::int64_t k) : Q_(dimensions), last_(k - 1) {}

  std::int64_t steps() const { return last_ + Q_; }
  std::uint32_t neighbour(std::uint32_t v, std::int64_t t) const { return v ^ (1U << (t % Q_)); }

  /// The item that v receives from its neighbour at step t, if any. Time: O(1).
  std::optional<std::int64_t> arrival(std::uint32_t v, std::int64_t t) const {
    if (v == 0 || t < 0 || t >= steps()) return std::nullopt;
    // Dimension d = t mod Q clear in v: the item that began with d spreads over the other half first. Set: the item began
    // with the next dimension that is set in v, and d is the last it takes on its way to v.
    const bool set = (v & ~neighbour(v, t)) != 0;
    const std::int64_t item = t - Q_ + (set ? ahead(v, t) : 0);
    return item >= 0 ? std::optional(std::min(item, last_)) : std::nullopt;
  }

  /// Which member of a pair v deals with the outside as sender at step t; the other one is the receiver. Time: O(1).
  int sender(std::uint32_t v, std::int64_t t) const {
    const std::uint32_t below = v & ((1U << (t % Q_)) - 1U);
    return static_cast<int>((t / Q_ % 2 * std::popcount(v) + std::popcount(below)) % 2);
  }

  int receiver(std::uint32_t v, std::int64_t t) const { return 1 - sender(v, t); }

  /// What `member` of a pair has and the other lacks when step t begins, if anything. Time: O(1).
  std::optional<std::int64_t> owed(std::uint32_t v, int member, std::int64_t t) const {
    if (t == 0) return std::nullopt;
    const std::int64_t turn = receiver(v, t - 1) == member ? t - 1 : t - 1 - back(v, t - 1);
    return arrival(v, turn);
  }

 private:
  /// Steps from t back to the last step before it whose dimension is set in v. REQUIRES v > 0.
  std::int64_t back(std::uint32_t v, std::int64_t t) const {
    const auto d = static_cast<int>(t % Q_);
    const std::uint32_t low = v & ((1U << d) - 1U);
    return low != 0 ? d + 1 - std::bit_width(low) : d + 1 + Q_ - std::bit_width(v);
  }

  /// Steps from t on to the next such step after it.
  std::int64_t ahead(std::uint32_t v, std::int64_t t) const {
    const auto d = static_cast<int>(t % Q_);
    const std::uint64_t high = std::uint64_t{v} >> (d + 1);
    return high != 0 ? std::countr_zero(high) + 1 : Q_ - d + std::countr_zero(v);
  }

  int Q_;
  std::int64_t last_;  ///< index of the last item
};

class TelephonePlan final : public Plan {
 public:
  TelephonePlan(const LogP& machine, const Problem& problem, Claim claim, Time step)
      : Plan(machine, problem, std::move(claim)), vertices_(vertices_of(machine)),
        pairs_(static_cast<std::uint32_t>(ranks(machine) - vertices_)),
        cube_(std::countr_zero(vertices_), problem.items), step_(step) {
    CHASQUI_CHECK(machine.P >= 2 && machine.P < (std::int64_t{1} << 32) && problem.items >= 1, "P={} k={}", machine.P,
                  problem.items);
  }

  /// Time: O(1) per step.
  LocalForm local(Rank rank) const override {
    LocalForm form{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    const Place place = place_of(rank);
    const std::int64_t last = telephone_last_step(machine_.P, problem_.items);
    for (std::int64_t t = 0; t <= last; ++t) {
      if (const auto send = sent(place, t)) form.sends.push_back(*send);
      if (const auto send = received(place, t)) form.receives.push_back(*send);
    }
    return form;
  }

  /// Time: O(kP).
  /// From the receptions alone.
  Schedule schedule() const override {
    Schedule schedule = empty_schedule();
    schedule.sends.reserve(static_cast<std::size_t>((machine_.P - 1) * problem_.items));
    const std::int64_t last = telephone_last_step(machine_.P, problem_.items);
    for (std::int64_t t = 0; t <= last; ++t) {
      const auto first = static_cast<std::ptrdiff_t>(schedule.sends.size());
      for (std::int64_t r = 0; r < machine_.P; ++r) {
        const auto send = received(place_of(Rank{static_cast<std::int32_t>(r)}), t);
        if (send) schedule.sends.push_back(*send);
      }
      std::sort(schedule.sends.begin() + first, schedule.sends.end());
    }
    return schedule;
  }

 private:
  /// A rank is a vertex, or one of the two members of a vertex.
  struct Place {
    std::uint32_t vertex = 0;
    int member = 0;
    bool paired = false;
  };

  Place place_of(Rank rank) const {
    const std::int64_t P = machine_.P;
    const auto x = static_cast<std::uint32_t>((rank.index - problem_.root.index + P) % P);
    if (x >= vertices_) return {x - vertices_ + 1, 1, true};
    return {x, 0, paired(x)};
  }

  Rank rank_of(std::uint32_t vertex, int member) const {
    const std::int64_t x = paired(vertex) && member == 1 ? std::int64_t{vertex} + vertices_ - 1 : std::int64_t{vertex};
    return Rank{static_cast<std::int32_t>((x + problem_.root.index) % machine_.P)};
  }

  bool paired(std::uint32_t vertex) const { return vertex >= 1 && vertex <= pairs_; }
  std::optional<Send> sent(const Place& place, std::int64_t t) const {
    const auto [v, member, paired] = place;
    const Rank self = rank_of(v, member);
    if (t >= cube_.steps() || (paired && cube_.receiver(v, t) == member)) {
      const auto item = paired ? cube_.owed(v, member, t) : std::nullopt;
      return item ? std::optional(message(t, self, rank_of(v, 1 - member), *item)) : std::nullopt;
    }
    const std::uint32_t w = cube_.neighbour(v, t);
    const auto item = cube_.arrival(w, t);
    return item ? std::optional(message(t, self, rank_of(w, cube_.receiver(w, t)), *item)) : std::nullopt;
  }

  std::optional<Send> received(const Place& place, std::int64_t t) const {
    const auto [v, member, paired] = place;
    const Rank self = rank_of(v, member);
    if (t >= cube_.steps() || (paired && cube_.sender(v, t) == member)) {
      const auto item = paired ? cube_.owed(v, 1 - member, t) : std::nullopt;
      return item ? std::optional(message(t, rank_of(v, 1 - member), self, *item)) : std::nullopt;
    }
    const std::uint32_t w = cube_.neighbour(v, t);
    const auto item = cube_.arrival(v, t);
    return item ? std::optional(message(t, rank_of(w, cube_.sender(w, t)), self, *item)) : std::nullopt;
  }

  Send message(std::int64_t t, Rank from, Rank to, std::int64_t item) const {
    return send_item(t * step_, from, to, static_cast<std::int32_t>(item));
  }

  std::uint32_t vertices_;
  std::uint32_t pairs_;  ///< vertices 1 .. pairs_ have two members
  Cube cube_;
  Time step_;
};

}  // namespace

std::int64_t telephone_last_step(std::int64_t P, std::int64_t k) {
  return k - 2 + std::bit_width(static_cast<std::uint64_t>(P - 1));
}

PlanPtr telephone_plan(const LogP& machine, const Problem& problem, Claim claim, Time step) {
  return std::make_shared<TelephonePlan>(machine, problem, std::move(claim), step);
}

}  // namespace chasqui::plan::kernel
