// SPDX-License-Identifier: MIT
#include "plan/exchange/window_rounds.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"

namespace chasqui::plan {
namespace {

constexpr std::size_t kMaxRounds = std::size_t{1} << 25;

[[noreturn]] void too_many_rounds(const LogP& machine) {
  throw Error("{}: a rank would send more than 2^25 messages: reduce P, or use a coarser gap g", to_string(machine));
}

/// Adds send times by `next(times)` until the windows hold P, or `best` is not beaten.
template <typename Next>
void grow(const LogP& machine, const Spacing& spacing, SendTimes& best, Next next) {
  SendTimes times;
  std::vector<std::int64_t> reach = {1};
  std::size_t arrived = 0;
  while (reach.back() < machine.P) {
    const std::int64_t t = next(times);
    if (!best.empty() && (t > best.back() || (t == best.back() && times.size() + 1 >= best.size()))) return;
    require_horizon(t, machine);
    if (times.size() == kMaxRounds) too_many_rounds(machine);
    times.push_back(t);
    while (arrived < times.size() && times[arrived] <= t - spacing.D) ++arrived;
    reach.push_back(saturating_add(reach.back(), reach[arrived]));
  }
  best = std::move(times);
}

/// A set of send times: its last one, and the set without it.
struct Node {
  std::int32_t parent;
  std::int64_t time;
  std::int64_t reach;
};

class Beam {
 public:
  Beam(const LogP& machine, SendTimes& best)
      : P_(machine.P), spacing_(machine), best_(best),
        rate_(std::log2(static_cast<double>(P_)) / static_cast<double>(best.back() + spacing_.D)) {
    const std::size_t rounds = best.size();
    width_ = rounds <= 24 ? 160 : rounds <= 100 ? 48 : rounds <= 400 ? 8 : 2;
    branches_ = rounds <= 24 ? 16 : rounds <= 100 ? 8 : 3;
  }

  void run() {
    arena_.push_back({-1, 0, 2});
    std::vector<std::int32_t> level = {0};
    const std::size_t most_rounds = best_.size() + 8;
    for (std::size_t j = 1; j < most_rounds && !level.empty(); ++j) {
      std::vector<std::int32_t> pool;
      for (const std::int32_t node : level) expand(node, pool);
      level = select(std::move(pool));
    }
  }

 private:
  void unfold(std::int32_t node) {
    times_.clear();
    reach_.clear();
    for (; node >= 0; node = arena_[static_cast<std::size_t>(node)].parent) {
      times_.push_back(arena_[static_cast<std::size_t>(node)].time);
      reach_.push_back(arena_[static_cast<std::size_t>(node)].reach);
    }
    reach_.push_back(1);
    std::reverse(times_.begin(), times_.end());
    std::reverse(reach_.begin(), reach_.end());
  }

  void expand(std::int32_t node, std::vector<std::int32_t>& pool) {
    unfold(node);
    for (const std::int64_t t : next_candidates(times_, spacing_, branches_)) {
      if (t >= best_.back()) break;
      const auto arrived = std::upper_bound(times_.begin(), times_.end(), t - spacing_.D) - times_.begin();
      const std::int64_t reach = saturating_add(reach_.back(), reach_[static_cast<std::size_t>(arrived)]);
      if (reach >= P_) {
        best_ = times_;
        best_.push_back(t);
        break;
      }
      pool.push_back(static_cast<std::int32_t>(arena_.size()));
      arena_.push_back({node, t, reach});
    }
  }

  double score(const Node& node) const {
    return std::log2(static_cast<double>(node.reach)) - rate_ * static_cast<double>(node.time);
  }

  /// The sets to go on with: first the Pareto sets by (time, reach), then by score; at most 6 with one last time.
  std::vector<std::int32_t> select(std::vector<std::int32_t> pool) const {
    const auto node = [&](std::int32_t i) -> const Node& { return arena_[static_cast<std::size_t>(i)]; };
    std::sort(pool.begin(), pool.end(), [&](std::int32_t a, std::int32_t b) {
      return node(a).time != node(b).time ? node(a).time < node(b).time : node(a).reach > node(b).reach;
    });
    std::vector<std::int32_t> chosen, rest;
    std::int64_t most = 0, time = -1;
    int alike = 0;
    for (const std::int32_t i : pool) {
      alike = node(i).time == time ? alike + 1 : 0;
      time = node(i).time;
      if (node(i).reach > most && chosen.size() < width_ / 2 + 1) {
        most = node(i).reach;
        chosen.push_back(i);
      } else if (alike < 6) {
        rest.push_back(i);
      }
    }
    std::stable_sort(rest.begin(), rest.end(),
                     [&](std::int32_t a, std::int32_t b) { return score(node(a)) > score(node(b)); });
    for (std::size_t i = 0; i < rest.size() && chosen.size() < width_; ++i) chosen.push_back(rest[i]);
    return chosen;
  }

  std::int64_t P_;
  Spacing spacing_;
  SendTimes& best_;
  double rate_;
  std::size_t width_ = 0;
  std::size_t branches_ = 0;
  std::vector<Node> arena_;
  SendTimes times_;
  std::vector<std::int64_t> reach_;
};

/// A beam search on a machine with overhead or a gap above 1: replaces `best` (a legal set that serves P) by one that ends
/// earlier, if it finds one. Level j holds sets of j send times; kept are the Pareto sets in (last time, F_j) and then those
/// of the best growth per tick. Does nothing beyond a few thousand rounds. REQUIRES best not empty.
void improve_by_beam(const LogP& machine, SendTimes& best) {
  if (best.size() < 2 || best.size() > 3000) return;
  Beam(machine, best).run();
}

}  // namespace

std::vector<std::int64_t> window_growth(const SendTimes& times, const Spacing& spacing) {
  std::vector<std::int64_t> reach = {1};
  std::size_t arrived = 0;
  for (const std::int64_t t : times) {
    while (times[arrived] <= t - spacing.D) ++arrived;
    reach.push_back(saturating_add(reach.back(), reach[arrived]));
  }
  return reach;
}

std::vector<WindowRound> window_rounds(const LogP& machine, const SendTimes& times) {
  const Spacing spacing(machine);
  const std::vector<std::int64_t> reach = window_growth(times, spacing);
  CHASQUI_CHECK(reach.back() >= machine.P, "reach={} P={}", reach.back(), machine.P);
  __extension__ using Wide = unsigned __int128;
  const auto window = [&](std::size_t j) {
    const Wide last = static_cast<Wide>(reach.back());
    return static_cast<std::int64_t>((static_cast<Wide>(machine.P) * static_cast<Wide>(reach[j]) + last - 1) / last);
  };
  std::vector<WindowRound> rounds;
  std::size_t arrived = 0;
  std::int64_t before = window(0);
  for (std::size_t j = 1; j < reach.size(); ++j) {
    const std::int64_t begin = times[j - 1];
    while (times[arrived] <= begin - spacing.D) ++arrived;
    const std::int64_t after = window(j);
    const std::int64_t width = after - before;
    const bool without_own = width != window(arrived);
    CHASQUI_CHECK(width + (without_own ? 1 : 0) == window(arrived), "round {} of {}", j, to_string(machine));
    if (width > 0) rounds.push_back({begin, before - (without_own ? 1 : 0), width, without_own});
    before = after;
  }
  return rounds;
}

SendTimes window_send_times(const LogP& machine) {
  const Spacing spacing(machine);
  SendTimes best;
  if (machine.P == 1) return best;
  // Sends that begin within L add one contribution each.
  if (std::min(spacing.L / spacing.G, machine.P - 2) >= static_cast<std::int64_t>(kMaxRounds)) too_many_rounds(machine);
  grow(machine, spacing, best, [&](const SendTimes& times) {
    return times.empty() ? 0 : earliest_legal(times, spacing, times.back() + spacing.G);
  });
  if (machine.is_postal()) return best;
  for (const GroupPattern& pattern : group_patterns(spacing, best.size() > 100'000 ? 2 : 32)) {
    grow(machine, spacing, best,
         [&](const SendTimes& times) { return pattern.at(static_cast<std::int64_t>(times.size()), spacing); });
  }
  improve_by_beam(machine, best);
  return best;
}

}  // namespace chasqui::plan
