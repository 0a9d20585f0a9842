// SPDX-License-Identifier: MIT
#include "plan/clusters/trees/spread.hpp"

#include <algorithm>
#include <numeric>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kMostWork = std::int64_t{1} << 28U;  ///< additions for one table: half a second
constexpr std::int64_t kSumWork = 64;                       ///< a sum costs at least as much as so many additions
constexpr std::int64_t kFinest = std::int64_t{1} << 18U;    ///< steps of a lambda where lengths are rounded
constexpr std::int64_t kMostAlone = 3;  ///< reductions: lane 0 receives at most so many after the lanes have reported

/// Before 2 lambda nobody sends but the lanes of the root, the first one alone until the others can be informed.
std::int64_t least_time_of_root(const SpreadShape& shape, std::int64_t wanted) {
  const std::int64_t sends = divide_up(wanted, std::max<std::int64_t>(1, shape.late_ranks)) - 1;
  if (sends < 1) return 0;
  const std::int64_t alone = saturating_multiply(sends - 1, shape.gap);
  const std::int64_t all_lanes = saturating_multiply(divide_up(sends, shape.lanes) - 1, shape.gap);
  const std::int64_t last = std::max(saturating_multiply(sends - 1, shape.gamma),
                                     std::min(alone, std::max(all_lanes, shape.publish + shape.read)));
  return shape.lambda + std::min(shape.lambda, last);
}

/// How many lanes may be informed; where that is one after another, not all numbers, and none that the adapter makes useless.
std::vector<std::int64_t> lanes_tried(const SpreadShape& shape) {
  if (shape.lanes < 2) return {};
  if (!shape.serial) return {shape.lanes};
  std::vector<std::int64_t> lanes;
  for (std::int64_t l = 2; l <= shape.lanes; l += std::max<std::int64_t>(1, l / 4)) {
    lanes.push_back(l);
    if (shape.gamma > 0 && l - 1 >= divide_up(shape.gap, shape.gamma)) break;
  }
  return lanes;
}

}  // namespace

SpreadShape spread_shape(const Cluster& cluster, std::int64_t size) {
  const LogP& m = cluster.base;
  return {m.lambda().ticks,         m.gap().ticks, m.o.ticks, cluster.nodes.gamma.ticks, cluster.nodes.publish.ticks,
          cluster.nodes.read.ticks, size};
}

std::int64_t common_unit(const SpreadShape& shape) {
  std::int64_t unit = shape.lambda;
  for (const std::int64_t length : {shape.gap, shape.overhead, shape.gamma, shape.publish, shape.read})
    unit = std::gcd(unit, length);
  return unit;
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

std::size_t Turns::begun(std::int64_t time, std::size_t most) {
  while (begins_.size() < most && (begins_.empty() || begins_.back() <= time)) extend();
  const auto end = begins_.begin() + static_cast<std::ptrdiff_t>(std::min(most, begins_.size()));
  return static_cast<std::size_t>(std::upper_bound(begins_.begin(), end, time) - begins_.begin());
}

std::int64_t Spread::sum(Turns& turns, std::int64_t left) {
  const auto begun = [&](std::int64_t time) {
    return time < 0 ? 0 : turns.begun(time, static_cast<std::size_t>(wanted_));
  };
  // Entries with lambda or more left are looked up; of the others there are two kinds at most.
  const std::int64_t last = left - shape_.lambda;
  const std::size_t all = begun(last), looked_up = begun(last - shape_.lambda);
  const std::size_t informed = shape_.late_ranks > 0 ? begun(last - shape_.publish - shape_.read) : looked_up;
  std::int64_t total = at_once(left) + static_cast<std::int64_t>(all - informed) +
                       shape_.late_ranks * static_cast<std::int64_t>(informed - looked_up);
  std::size_t i = 0;
  for (; i < looked_up && total < wanted_; ++i) total += count_[cell(last - turns.begin(i))];
  work_ += kSumWork + static_cast<std::int64_t>(i);
  return std::min(total, wanted_);
}

Spread::Spread(const SpreadShape& shape, std::int64_t wanted, bool only_leaders, std::optional<std::int64_t> horizon)
    : shape_(shape), wanted_(wanted), unit_(common_unit(shape)), first_(shape.lambda) {
  CHASQUI_CHECK(wanted >= 1 && shape.lanes >= 1, "wanted={} lanes={}", wanted, shape.lanes);
  // Nobody sends more often than there are nodes. One rank a node and several differ, whatever is sent.
  if (shape.late_ranks == 0) shape_.lanes = std::min(shape.lanes, std::max<std::int64_t>(2, wanted));
  number_of({0, 1});
  if (!only_leaders) lanes_ = lanes_tried(shape_);
  if (!horizon && wanted <= std::max<std::int64_t>(1, shape.late_ranks)) {
    time_ = wanted == 1 ? 0 : shape.publish + shape.read;
    return;
  }
  if (horizon || !by_root_alone()) {
    const bool long_latency = saturating_multiply(shape.lambda / unit_, 2 * kSumWork) > kMostWork;
    const auto enough = [&](std::int64_t left) {
      return horizon ? left > *horizon : !count_.empty() && count_.back() >= wanted_;
    };
    for (std::int64_t left = shape.lambda; !enough(left); left += unit_) {
      if (work_ > kMostWork || (long_latency && !horizon)) {
        throw TableTooLong(
            "the times of this cluster have no common unit but {}, which is too fine to plan: round L, o, g, gamma, "
            "publish and read to a coarser unit of time",
            unit_ == 1 ? "a tick" : fmt::format("{} ticks", unit_));
      }
      add(left);
    }
  }
  for (Turns& turns : turns_) {
    for (std::size_t i = 0; turns.begin(i) <= time() - shape_.lambda; ++i) continue;
  }
}

std::uint32_t Spread::number_of(const Habit& habit) {
  const auto found = std::find(habits_.begin(), habits_.end(), habit);
  if (found != habits_.end()) return static_cast<std::uint32_t>(found - habits_.begin());
  habits_.push_back(habit);
  turns_.emplace_back(shape_, habit);
  return static_cast<std::uint32_t>(habits_.size() - 1);
}

void Spread::add(std::int64_t left) {
  std::uint32_t best = 0;
  std::int64_t most = sum(turns_[0], left);
  for (const std::int64_t l : lanes_) {
    for (std::int64_t alone = 0; most < wanted_; ++alone) {
      const Habit habit{alone, l};
      if (lane_ready(shape_, habit, 1) + shape_.lambda > left || (shape_.serial && alone > kMostAlone)) break;
      if (!shape_.serial) {  // clusters.md, Lemma 3: stop where nothing better can follow
        if (undelayed_.size() <= static_cast<std::size_t>(alone)) undelayed_.emplace_back(shape_, habit, true);
        if (sum(undelayed_[static_cast<std::size_t>(alone)], left) <= most) break;
      }
      const std::uint32_t number = number_of(habit);
      const std::int64_t reached = sum(turns_[number], left);
      if (reached > most) most = reached, best = number;
    }
  }
  count_.push_back(most);
  used_.push_back(best);
  time_ = left;
}

bool Spread::by_root_alone() {
  const auto reaches = [&](std::int64_t units) {
    count_.clear();
    used_.clear();
    first_ = shape_.lambda + units * unit_;
    add(first_);
    return count_.back() >= wanted_;
  };
  std::int64_t low = 0, high = shape_.lambda / unit_ - 1;
  const bool enough = reaches(high);
  while (enough && low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (reaches(middle)) high = middle;
    else low = middle + 1;
  }
  if (enough && reaches(high)) return true;
  count_.clear();
  used_.clear();
  first_ = shape_.lambda;
  return false;
}

Spread::Node Spread::root() const { return {0, 0, time(), count(time()), -1, 0, 0}; }

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

SpreadShape rounded(const SpreadShape& shape, std::int64_t step, Rounding rounding) {
  SpreadShape all = shape;
  for (std::int64_t* length : {&all.lambda, &all.gap, &all.overhead, &all.gamma, &all.publish, &all.read})
    *length = (rounding == Rounding::up ? divide_up(*length, step) : *length / step) * step;
  return all;
}

std::int64_t coarser_step(const SpreadShape& shape, std::int64_t step) {
  return std::max(4 * step, divide_up(shape.lambda, kFinest));
}

Spread tree_of_nodes(const SpreadShape& shape, std::int64_t wanted, bool only_leaders) {
  return in_short_tables(
      shape, [&](std::int64_t step) { return Spread(rounded(shape, step, Rounding::up), wanted, only_leaders); });
}

std::int64_t least_time(const SpreadShape& shape, std::int64_t wanted) {
  // A gap is not rounded to nothing: a rank would send any number of messages at once.
  for (std::int64_t step = common_unit(shape); step <= shape.gap; step = coarser_step(shape, step)) {
    try {
      return Spread(rounded(shape, step, Rounding::down), wanted).time();
    } catch (const TableTooLong&) {
    }
  }
  return least_time_of_root(shape, wanted);
}

}  // namespace chasqui::plan
