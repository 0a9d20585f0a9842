// SPDX-License-Identifier: MIT
#include "plan/exchange/window_search.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "chasqui/base/arithmetic.hpp"
#include "plan/exchange/window_rounds.hpp"

namespace chasqui::plan {
namespace {

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

  /// The sets to go on with: first the Pareto sets by (time, reach), then by score; at most 6 with one last
  /// time.
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

}  // namespace

void improve_by_beam(const LogP& machine, SendTimes& best) {
  if (best.size() < 2 || best.size() > 3000) return;
  Beam(machine, best).run();
}

}  // namespace chasqui::plan
