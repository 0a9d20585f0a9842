// SPDX-License-Identifier: MIT
#include "plan/clusters/spread.hpp"

#include <algorithm>
#include <numeric>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"

namespace chasqui::plan {
namespace {

constexpr std::size_t kMostTimes = std::size_t{1} << 22U;
constexpr std::int64_t kMostAlone = 3;  ///< reductions: lane 0 receives at most so many after the lanes have reported

}  // namespace

SpreadShape spread_shape(const Cluster& cluster, std::int64_t size) {
  const LogP& m = cluster.base;
  return {m.lambda().ticks,         m.gap().ticks, m.o.ticks, cluster.nodes.gamma.ticks, cluster.nodes.publish.ticks,
          cluster.nodes.read.ticks, size};
}

SpreadShape coarser(const SpreadShape& shape, Rounding rounding) {
  std::int64_t unit = 0;
  for (const std::int64_t length : {shape.lambda, shape.gap, shape.overhead, shape.gamma, shape.publish, shape.read})
    unit = std::gcd(unit, length);
  // A tree is a few latencies high. Where lanes are informed one after another, each time costs a search over their numbers.
  const std::int64_t finest = shape.serial ? std::int64_t{1} << 12U : std::int64_t{1} << 18U;
  if (shape.lambda / std::max<std::int64_t>(1, unit) <= finest) return shape;
  // A gap is never rounded to nothing: a rank would send any number of messages at once.
  const std::int64_t step = std::min(divide_up(shape.lambda, finest), std::max<std::int64_t>(1, shape.gap));
  SpreadShape rounded = shape;
  for (std::int64_t* length :
       {&rounded.lambda, &rounded.gap, &rounded.overhead, &rounded.gamma, &rounded.publish, &rounded.read})
    *length = (rounding == Rounding::up ? divide_up(*length, step) : *length / step) * step;
  return rounded;
}

std::int64_t inform_begin(const SpreadShape& shape, const Habit& habit) {
  return habit.alone == 0 ? 0 : (habit.alone - 1) * shape.gap + shape.overhead;
}

std::int64_t inform_busy(const SpreadShape& shape, const Habit& habit) {
  return shape.serial ? (habit.lanes - 1) * shape.publish : shape.publish;
}

std::int64_t lane_ready(const SpreadShape& shape, const Habit& habit, std::int64_t lane) {
  return inform_begin(shape, habit) + (shape.serial ? lane * shape.publish : shape.publish) + shape.read;
}

Turns::Turns(const SpreadShape& shape, const Habit& habit, bool undelayed)
    : shape_(shape), habit_(habit), undelayed_(undelayed), by_lane_(static_cast<std::size_t>(habit.lanes)) {
  ready_.push_back({0, 0});
  if (habit.lanes < 2) return;
  for (std::int64_t lane = 1; lane < habit.lanes; ++lane) ready_.push_back({lane_ready(shape, habit, lane), lane});
  // A send without overhead fits anywhere, also between the begin and the end of a publication (rule 4).
  if (habit.alone == 0 && !undelayed && shape.overhead > 0) ready_[0].time = inform_busy(shape, habit);
  std::make_heap(ready_.begin(), ready_.end(), std::greater<>());
}

void Turns::extend() {
  std::pop_heap(ready_.begin(), ready_.end(), std::greater<>());
  Ready next = ready_.back();
  const std::int64_t begin = std::max(free_, next.time);
  begins_.push_back(begin);
  by_lane_[static_cast<std::size_t>(next.lane)].push_back(begin);
  free_ = begin + shape_.gamma;
  next.time = begin + shape_.gap;
  if (next.lane == 0 && habit_.lanes >= 2 && ++made_by_first_ == habit_.alone && !undelayed_ && shape_.overhead > 0)
    next.time = std::max(next.time, inform_begin(shape_, habit_) + inform_busy(shape_, habit_));
  ready_.back() = next;
  std::push_heap(ready_.begin(), ready_.end(), std::greater<>());
}

std::int64_t Turns::begin(std::size_t i) {
  while (begins_.size() <= i) extend();
  return begins_[i];
}

std::int64_t Spread::sum(Turns& turns, std::int64_t left) const {
  const std::int64_t own = shape_.late_ranks > 0 && left >= shape_.publish + shape_.read ? shape_.late_ranks : 1;
  std::int64_t total = own;
  for (std::size_t i = 0; total < wanted_; ++i) {
    const std::int64_t begin = turns.begin(i);
    if (begin > left - shape_.lambda) break;
    total += count(left - shape_.lambda - begin);
  }
  return std::min(total, wanted_);
}

Spread::Spread(const SpreadShape& shape, std::int64_t wanted, bool only_leaders, std::optional<std::int64_t> horizon)
    : shape_(shape), wanted_(wanted) {
  CHASQUI_CHECK(wanted >= 1 && shape.lanes >= 1, "wanted={} lanes={}", wanted, shape.lanes);
  unit_ = shape.lambda;
  for (const std::int64_t length : {shape.gap, shape.overhead, shape.gamma, shape.publish, shape.read})
    unit_ = std::gcd(unit_, length);
  std::vector<Turns> undelayed;  // … when lane 0 has made so many sends and more: no habit of more is better
  const auto number_of = [&](const Habit& habit) {
    const auto found = std::find(habits_.begin(), habits_.end(), habit);
    if (found != habits_.end()) return static_cast<std::uint32_t>(found - habits_.begin());
    habits_.push_back(habit);
    turns_.emplace_back(shape_, habit);
    return static_cast<std::uint32_t>(habits_.size() - 1);
  };
  number_of({0, 1});
  std::vector<std::int64_t> lanes;
  if (shape.lanes >= 2 && !only_leaders && !shape.serial) lanes = {shape.lanes};
  for (std::int64_t l = 2; shape.serial && l <= shape.lanes && !only_leaders; l += std::max<std::int64_t>(1, l / 4))
    lanes.push_back(l);
  const auto enough = [&](std::int64_t left) {
    return horizon ? left > *horizon : !count_.empty() && count_.back() >= wanted_;
  };
  for (std::int64_t left = 0; !enough(left); left += unit_) {
    if (count_.size() >= kMostTimes) {
      throw Error(
          "the times of this cluster have no common unit but {}, and {} of it are not enough to plan: round L, o, g, "
          "gamma, publish and read to a coarser unit of time",
          unit_ == 1 ? "a tick" : fmt::format("{} ticks", unit_), kMostTimes);
    }
    std::uint32_t best = 0;
    std::int64_t most = sum(turns_[0], left);
    const auto consider = [&](const Habit& habit) {
      const std::uint32_t number = number_of(habit);
      const std::int64_t reached = sum(turns_[number], left);
      if (reached > most) most = reached, best = number;
    };
    for (const std::int64_t l : lanes) {
      for (std::int64_t alone = 0; most < wanted_; ++alone) {
        const Habit habit{alone, l};
        if (lane_ready(shape, habit, 1) + shape.lambda > left || (shape.serial && alone > kMostAlone)) break;
        if (!shape.serial) {  // clusters.md, Lemma 3: stop where nothing better can follow
          if (undelayed.size() <= static_cast<std::size_t>(alone)) undelayed.emplace_back(shape, habit, true);
          if (sum(undelayed[static_cast<std::size_t>(alone)], left) <= most) break;
        }
        consider(habit);
      }
    }
    count_.push_back(most);
    used_.push_back(best);
  }
  for (Turns& turns : turns_) {
    for (std::size_t i = 0; turns.begin(i) <= time() - shape_.lambda; ++i) continue;
  }
}

Spread::Node Spread::root() const { return {0, 0, time(), count_.back(), -1, 0, 0}; }

std::vector<Spread::Node> Spread::children(const Node& node) const {
  std::vector<Node> all;
  for_children(node, [&](const Node& child) { all.push_back(child); });
  return all;
}

Spread::Node Spread::node(std::int64_t index) const {
  CHASQUI_CHECK(index >= 0 && index < wanted_, "index={} of {}", index, wanted_);
  Node at = root();
  while (at.index != index) {
    Node next;
    for_children(at, [&](const Node& child) {
      if (child.index <= index) next = child;
    });
    at = next;
  }
  return at;
}

}  // namespace chasqui::plan
