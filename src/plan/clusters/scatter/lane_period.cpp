// SPDX-License-Identifier: MIT
#include "plan/clusters/scatter/lane_period.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "chasqui/base/arithmetic.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kMostSends = 8;         ///< of the root in a period
constexpr std::int64_t kMostPublished = 4096;  ///< in a period
constexpr std::int64_t kMostFree = 1 << 16;  ///< … where neither a publication nor a send of another lane takes time

/// How many sends and publications of the root a period has, and where the slots are.
struct Mix {
  std::int64_t sends = 0, published = 0;
  bool between = false;  ///< as many slots as publications between two sends of the root; otherwise as even as possible

  friend auto operator<=>(const Mix&, const Mix&) = default;
};

/// floor(i · whole / parts) without a larger product than needed.
std::int64_t share(std::int64_t i, std::int64_t whole, std::int64_t parts) {
  return i * (whole / parts) + i * (whole % parts) / parts;
}

class PeriodMaker {
 public:
  PeriodMaker(const Cluster& cluster, std::int64_t lanes)
      : lanes_(lanes), gap_(cluster.base.gap().ticks), overhead_(cluster.base.o.ticks),
        publish_(cluster.nodes.publish.ticks), read_(cluster.nodes.read.ticks), node_gap_(cluster.nodes.gamma.ticks),
        turn_(std::max(gap_, read_ + overhead_)) {}

  /// Ticks of the shortest period of this mix, if the turns of the lanes come out even.
  std::int64_t least(const Mix& mix) const {
    std::int64_t length = std::max({std::int64_t{1}, (mix.sends + mix.published) * node_gap_, work(mix)});
    if (mix.published > 0) length = std::max(length, divide_up(mix.published * turn_, lanes_));
    return length;
  }

  /// Nothing where no length near the shortest leaves every send its time.
  std::optional<LanePeriod> make(const Mix& mix) const {
    constexpr int kMostLengths = 8;
    std::int64_t length = least(mix);
    for (int tried = 0; tried < kMostLengths; ++tried) {
      LanePeriod period = of_length(mix, length);
      const std::int64_t missing = std::max(turn_ - shortest_turn(period), node_gap_ - around_the_end(period));
      if (missing <= 0) {
        period.delay = delay(period);
        return period;
      }
      length += std::max<std::int64_t>(1, missing * mix.published / lanes_);
    }
    return std::nullopt;
  }

  LanePeriod of_length(const Mix& mix, std::int64_t length) const {
    LanePeriod period;
    period.length = length;
    period.publish = publish_;
    if (mix.sends == 0 || free()) add_pause(period, mix, 0, length);
    const std::int64_t left = length - work(mix);  // shared out among the stretches between two sends of the root
    std::int64_t begin = 0;
    for (std::int64_t i = 0; i < mix.sends; ++i) {
      const std::int64_t ticks = stretch(mix, i) + share(i + 1, left, mix.sends) - share(i, left, mix.sends);
      const std::int64_t slots = mix.between ? published(mix, i) : 0;
      period.sends.push_back(begin);
      for (std::int64_t j = 1; j <= slots; ++j) period.slots.push_back(begin + share(j, ticks, slots + 1));
      if (!free()) add_pause(period, mix, begin + overhead_, ticks - overhead_);
      begin += ticks;
    }
    period.spare -= mix.published;
    if (!mix.between) add_slots(period, mix.published);
    return period;
  }

 private:
  /// A send or a publication takes no time, so neither is in the way of the other.
  bool free() const { return overhead_ == 0 || publish_ == 0; }

  /// Of the mix, between the i-th send of the root and the next.
  static std::int64_t published(const Mix& mix, std::int64_t i) {
    return (i + 1) * mix.published / mix.sends - i * mix.published / mix.sends;
  }

  /// Ticks from the i-th send of the root to the next.
  std::int64_t stretch(const Mix& mix, std::int64_t i) const {
    const std::int64_t count = published(mix, i);
    return std::max({gap_, free() ? 0 : overhead_ + count * publish_, mix.between ? (count + 1) * node_gap_ : 0});
  }

  /// Ticks that the root needs, and the slots if they are between its sends.
  std::int64_t work(const Mix& mix) const {
    std::int64_t ticks = 0;
    for (std::int64_t i = 0; i < mix.sends; ++i) ticks += stretch(mix, i);
    return mix.sends == 0 || free() ? std::max(ticks, mix.published * publish_) : ticks;
  }

  void add_pause(LanePeriod& period, const Mix& mix, std::int64_t begin, std::int64_t ticks) const {
    // Where publishing is free there is room for what the lanes need and for the whole node.
    period.pauses.push_back({begin, publish_ == 0 ? mix.published + lanes_ : ticks / publish_});
    period.spare += period.pauses.back().places;
  }

  /// As even as the node's gap allows: a slot that would come too close to a send of the root waits until after it.
  void add_slots(LanePeriod& period, std::int64_t count) const {
    std::int64_t before = -node_gap_;
    std::size_t next = 0;  // send of the root that may be in the way
    for (std::int64_t j = 0; j < count; ++j) {
      std::int64_t begin = std::max(share(j, period.length, count), before + node_gap_);
      for (; node_gap_ > 0 && next < period.sends.size() && period.sends[next] < begin + node_gap_; ++next)
        begin = std::max(begin, period.sends[next] + node_gap_);
      period.slots.push_back(before = begin);
    }
  }

  /// From the last slot to the first one, and to the first send, of the next period.
  std::int64_t around_the_end(const LanePeriod& period) const {
    if (period.slots.empty()) return node_gap_;
    const std::int64_t first = period.sends.empty() ? period.slots.front() : 0;
    return period.length + first - period.slots.back();
  }

  /// The least time between two slots of the same lane.
  std::int64_t shortest_turn(const LanePeriod& period) const {
    const auto slots = static_cast<std::int64_t>(period.slots.size());
    if (slots == 0) return turn_;
    if (lanes_ % slots == 0) return lanes_ / slots * period.length;
    std::int64_t shortest = period.slot(lanes_) - period.slot(0);
    for (std::int64_t v = 1; v < slots; ++v) shortest = std::min(shortest, period.slot(v + lanes_) - period.slot(v));
    return shortest;
  }

  /// The least number of slots after which everything has been read in time, whatever its place in the period.
  std::int64_t delay(const LanePeriod& period) const {
    const auto slots = static_cast<std::int64_t>(period.slots.size());
    std::int64_t most = 0;
    for (std::int64_t v = 0; v < slots; ++v) {
      const std::int64_t ready = period.place(v) + publish_ + read_, rounds = ready / period.length;
      const auto later = std::lower_bound(period.slots.begin(), period.slots.end(), ready - rounds * period.length);
      most = std::max(most, rounds * slots + (later - period.slots.begin()) - v);
    }
    return most;
  }

  std::int64_t lanes_, gap_, overhead_, publish_, read_, node_gap_;
  std::int64_t turn_;  ///< a lane sends once in so many ticks at most: it reads before each send
};

/// The numbers of publications at which two of the conditions on the length of a period change places, and their neighbours.
std::set<Mix> mixes(const Cluster& cluster, std::int64_t lanes, std::int64_t items) {
  const std::int64_t G = cluster.base.gap().ticks, o = cluster.base.o.ticks, p = cluster.nodes.publish.ticks;
  const std::int64_t gamma = cluster.nodes.gamma.ticks, M = std::max(G, cluster.nodes.read.ticks + o);
  const std::int64_t most = std::min(p == 0 && gamma == 0 ? kMostFree : kMostPublished, items);
  std::set<Mix> made{{1, 0}};
  if (lanes == 0) return made;
  for (const std::int64_t published : {std::int64_t{1}, lanes}) made.insert({0, std::min(published, most)});
  for (std::int64_t a = 1; a <= std::min(kMostSends, items); ++a) {
    const auto at = [&](std::int64_t above, std::int64_t below) {  // around above / below
      if (below <= 0) return;
      const std::int64_t b = std::min(most, above / below);
      for (std::int64_t near = b - 2; near <= b + 2; ++near) made.insert({a, std::clamp<std::int64_t>(near, 0, most)});
      for (const std::int64_t even : {b / a * a, b / a * a + a}) made.insert({a, std::min(even, most)});
    };
    const std::int64_t all = saturating_multiply(a, lanes);
    at(a * (G - o), p);
    at(a * (G - gamma), gamma);
    at(saturating_multiply(all, G), M);
    at(gamma > o ? a * (gamma - o) : a * (o - gamma), gamma > o ? p - gamma : gamma - p);
    at(saturating_multiply(all, o), M - saturating_multiply(lanes, p));
    at(saturating_multiply(all, gamma), M - saturating_multiply(lanes, gamma));
    made.insert({a, std::min(most, lanes)});
  }
  return made;
}

}  // namespace

std::int64_t LanePeriod::place(std::int64_t number) const {
  std::size_t i = 0;
  while (number >= pauses[i].places) number -= pauses[i++].places;
  return pauses[i].begin + number * publish;
}

std::int64_t LanePeriod::publication(std::int64_t number) const {
  const auto each = static_cast<std::int64_t>(slots.size());
  return number / each * length + place(number % each);
}

std::int64_t LanePeriod::spare_place(std::int64_t number) const {
  return number / spare * length + place(static_cast<std::int64_t>(slots.size()) + number % spare);
}

LanePeriod best_lane_period(const Cluster& cluster, std::int64_t lanes, std::int64_t items,
                            const std::function<std::int64_t(const LanePeriod&)>& finish) {
  const PeriodMaker maker(cluster, lanes);
  std::vector<std::tuple<std::int64_t, std::int64_t, Mix>> rated;  // the time of whole periods, and of one
  for (Mix mix : mixes(cluster, lanes, items)) {
    for (mix.between = false;; mix.between = true) {
      const std::int64_t length = maker.least(mix);
      rated.emplace_back(share(items, length, mix.sends + mix.published), length, mix);
      if (mix.between || mix.sends == 0 || mix.published == 0 || cluster.nodes.gamma == Time{0}) break;
    }
  }
  std::sort(rated.begin(), rated.end());
  LanePeriod best;
  std::int64_t earliest = kSaturated;
  for (const auto& [time, length, mix] : rated) {
    constexpr std::int64_t kWorthwhile = 1024;
    if (earliest <= time + time / kWorthwhile) break;  // no other one ends a thousandth earlier
    std::optional<LanePeriod> period = maker.make(mix);
    const std::int64_t end = period ? finish(*period) : kSaturated;
    if (end >= earliest) continue;
    earliest = end;
    best = std::move(*period);
  }
  return best;
}

LanePeriod root_period(const Cluster& cluster, std::int64_t lanes, std::int64_t length) {
  return PeriodMaker(cluster, lanes).of_length({1, 0}, length);
}

}  // namespace chasqui::plan
