// SPDX-License-Identifier: MIT
#include "plan/exchange/symmetric_times.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "chasqui/base/arithmetic.hpp"

namespace chasqui::plan {
namespace {

using Ages = std::vector<std::int64_t>;

/// The ages below D of the sends before times[index], seen from there.
Ages ages_at(const SendTimes& times, std::size_t index, const Spacing& spacing) {
  Ages ages;
  for (std::size_t i = index; i-- > 0 && times[index] - times[i] < spacing.D;) ages.push_back(times[index] - times[i]);
  return ages;
}

/// Level j holds the best known sequences of j send times, at most one for each state.
class Levels {
 public:
  Levels(const Spacing& spacing, std::size_t width) : spacing_(spacing), width_(width) {
    nodes_.push_back({-1, 0});
    levels_.push_back({0});
  }

  void extend() {
    std::map<Ages, std::int32_t> best;
    for (const std::int32_t node : levels_.back()) {
      SendTimes times = unfold(node);
      for (const std::int64_t t : next_candidates(times, spacing_, 16)) {
        times.push_back(t);
        const auto [place, fresh] =
            best.try_emplace(ages_at(times, times.size() - 1, spacing_), static_cast<std::int32_t>(nodes_.size()));
        if (fresh) {
          nodes_.push_back({node, t});
        } else if (Node& known = nodes_[static_cast<std::size_t>(place->second)]; t < known.time) {
          known = {node, t};
        }
        times.pop_back();
      }
    }
    std::vector<std::int32_t> level;
    for (const auto& [ages, node] : best) level.push_back(node);
    std::stable_sort(level.begin(), level.end(), [&](std::int32_t a, std::int32_t b) {
      return nodes_[static_cast<std::size_t>(a)].time < nodes_[static_cast<std::size_t>(b)].time;
    });
    if (level.size() > width_) level.resize(width_);
    levels_.push_back(std::move(level));
  }

  /// The best sequence of j sends.
  SendTimes best(std::size_t j) const { return unfold(levels_[j - 1].front()); }

 private:
  struct Node {
    std::int32_t parent;
    std::int64_t time;
  };

  SendTimes unfold(std::int32_t node) const {
    SendTimes times;
    for (; node >= 0; node = nodes_[static_cast<std::size_t>(node)].parent) {
      times.push_back(nodes_[static_cast<std::size_t>(node)].time);
    }
    std::reverse(times.begin(), times.end());
    return times;
  }

  Spacing spacing_;
  std::size_t width_;
  std::vector<Node> nodes_;
  std::vector<std::vector<std::int32_t>> levels_;
};

/// Tries all repetitions of one cycle of `base` that make n sends.
void try_cycles(const SendTimes& base, const Spacing& spacing, std::int64_t n, SymmetricTimes& best) {
  std::vector<Ages> ages;
  for (std::size_t i = 0; i < base.size(); ++i) ages.push_back(ages_at(base, i, spacing));
  const std::int64_t missing = n - static_cast<std::int64_t>(base.size());
  for (std::size_t cycle = 1; cycle < base.size(); ++cycle) {
    if (missing % static_cast<std::int64_t>(cycle) != 0) continue;
    for (std::size_t from = 0; from + cycle < base.size(); ++from) {
      if (ages[from] != ages[from + cycle]) continue;
      SymmetricTimes repeated =
          SymmetricTimes::of_sequence(base, static_cast<std::int64_t>(from), static_cast<std::int64_t>(cycle), n);
      if (repeated.last() < best.last()) best = std::move(repeated);
    }
  }
}

}  // namespace

SymmetricTimes SymmetricTimes::of_groups(GroupPattern groups, const Spacing& spacing, std::int64_t n) {
  SymmetricTimes times;
  times.count_ = n;
  times.groups_ = groups;
  times.gap_ = spacing.G;
  return times;
}

SymmetricTimes SymmetricTimes::of_sequence(SendTimes base, std::int64_t from, std::int64_t cycle, std::int64_t n) {
  SymmetricTimes times;
  times.count_ = n;
  times.from_ = from;
  times.cycle_ = cycle;
  times.repeats_ = cycle > 0 ? (n - static_cast<std::int64_t>(base.size())) / cycle : 0;
  times.base_ = std::move(base);
  return times;
}

std::int64_t SymmetricTimes::at(std::int64_t i) const {
  if (groups_) {
    return saturating_add(saturating_multiply(i / groups_->size, groups_->period), i % groups_->size * gap_);
  }
  const auto base = [&](std::int64_t j) { return base_[static_cast<std::size_t>(j)]; };
  if (i <= from_ || repeats_ == 0) return base(i);
  const std::int64_t period = base(from_ + cycle_) - base(from_);
  const std::int64_t turn = std::min((i - from_) / cycle_, repeats_);
  return saturating_add(base(i - turn * cycle_), saturating_multiply(turn, period));
}

SymmetricTimes symmetric_times(const LogP& machine, std::int64_t n) {
  const Spacing spacing(machine);
  // A single group is enough without overhead, or when all sends begin within L.
  if (spacing.overheads() == 0) return SymmetricTimes::of_groups({1, spacing.G}, spacing, n);
  SymmetricTimes best = SymmetricTimes::of_groups({1, spacing.longest_wait()}, spacing, n);
  for (const GroupPattern& pattern : group_patterns(spacing, 256)) {
    SymmetricTimes times = SymmetricTimes::of_groups(pattern, spacing, n);
    if (times.last() < best.last()) best = std::move(times);
  }
  const std::int64_t window = spacing.D / spacing.G + 1;
  if (window > 48 || n - 1 <= spacing.L / spacing.G) return best;
  const std::int64_t most = 4 * window + 24;
  Levels levels(spacing, static_cast<std::size_t>(std::clamp<std::int64_t>(512 / window, 6, 128)));
  for (std::int64_t j = 2; j <= std::min(n, most); ++j) levels.extend();
  if (n <= most) {
    SymmetricTimes times = SymmetricTimes::of_sequence(levels.best(static_cast<std::size_t>(n)), 0, 0, n);
    if (times.last() < best.last()) best = std::move(times);
    return best;
  }
  for (std::int64_t j = most - 2 * window - 6; j <= most; ++j) {
    try_cycles(levels.best(static_cast<std::size_t>(j)), spacing, n, best);
  }
  return best;
}

}  // namespace chasqui::plan
