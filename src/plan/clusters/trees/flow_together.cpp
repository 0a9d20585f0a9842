// SPDX-License-Identifier: MIT
// How fast contributions can flow together at one rank, where a reading takes one publication (docs/clusters.md, Theorem 26).
#include <algorithm>
#include <optional>
#include <vector>

#include "chasqui/base/arithmetic.hpp"
#include "plan/clusters/cluster_plans.hpp"

namespace chasqui::plan {
namespace {

/// Additions; above that a coarser unit must do. An instant costs at least as much as some of them.
constexpr std::int64_t kMostFlowWork = std::int64_t{1} << 27U, kInstantWork = 64;

/// All that follows is backwards in time, in steps to which all lengths are rounded down.
class FlowTogether {
 public:
  FlowTogether(const Cluster& cluster, std::int64_t step)
      : ranks_(cluster.base.P), lanes_(cluster.nodes.largest()), step_(step), alone_(cluster.nodes.count() == 1) {
    const auto steps = [&](Time length) { return length.ticks / step; };
    lambda_ = steps(cluster.base.lambda());
    gap_ = steps(cluster.base.gap());
    gamma_ = steps(cluster.nodes.gamma);
    publish_ = steps(cluster.nodes.publish);
    read_ = steps(cluster.nodes.read);
  }

  /// Nothing where that would take too long.
  std::optional<Time> least() {
    fill_board();
    if (alone_ && work_ <= kMostFlowWork) return Time{filled() * step_};
    for (std::int64_t after = 0; work_ <= kMostFlowWork; ++after, work_ += kInstantWork) {
      book_sends(after);
      reached_.push_back(all_reached(after));
      if (reached_.back() >= ranks_) return Time{(lambda_ + after) * step_};
    }
    return std::nullopt;
  }

 private:
  /// Ranks of a node that its board alone has reached from one of them.
  std::int64_t on_board(std::int64_t t) const {
    return t < 0 ? 0 : board_[static_cast<std::size_t>(std::min(t, filled()))];
  }
  std::int64_t filled() const {
    return static_cast<std::int64_t>(board_.size()) - 1;
  }  ///< since when it has reached all
  void fill_board() {
    board_ = {1};
    for (std::int64_t t = 0; work_ <= kMostFlowWork; ++t, work_ += kInstantWork) {
      if (t > 0) board_.push_back(0);
      board_.back() = read_ == 0
                          ? (t >= publish_ ? lanes_ : 1)
                          : std::min(lanes_, (t < read_ ? 1 : on_board(t - read_)) + on_board(t - publish_ - read_));
      if (board_.back() == lanes_) return;
    }
  }

  /// Each lane may send once in a gap from when it is reached, the node once in gamma.
  void book_sends(std::int64_t t) {
    const auto before = [&](std::int64_t when) { return when < 0 ? 0 : allowed_[static_cast<std::size_t>(when)]; };
    allowed_.push_back(on_board(t) + before(t - gap_));
    const std::int64_t made = begins_.empty() ? 0 : made_.back();
    if (gamma_ == 0) {
      if (allowed_.back() > made) begins_.push_back(t), made_.push_back(allowed_.back());
    } else if (made < allowed_.back() && (begins_.empty() || t >= begins_.back() + gamma_)) {
      begins_.push_back(t), made_.push_back(made + 1);
    }
  }

  /// `after` lambda. Of the ranks that are entered those with lambda left are looked up; the others have their boards, most of them full ones.
  std::int64_t all_reached(std::int64_t after) {
    const auto begun = [&](std::int64_t t) {
      return static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), t) - begins_.begin());
    };
    const std::size_t all = begins_.size(), looked_up = begun(after - lambda_);
    const std::size_t full = std::max(looked_up, begun(after - filled()));
    std::int64_t total = on_board(lambda_ + after);
    const auto add = [&](std::size_t i, std::int64_t each) {
      total = saturating_add(total, saturating_multiply(made_[i] - (i == 0 ? 0 : made_[i - 1]), each));
      ++work_;
    };
    if (full > looked_up) {
      const std::int64_t count = made_[full - 1] - (looked_up == 0 ? 0 : made_[looked_up - 1]);
      total = saturating_add(total, saturating_multiply(count, lanes_));
    }
    for (std::size_t i = full; i < all && total < ranks_; ++i) add(i, on_board(after - begins_[i]));
    for (std::size_t i = 0; i < looked_up && total < ranks_; ++i)
      add(i, reached_[static_cast<std::size_t>(after - lambda_ - begins_[i])]);
    return total;
  }

  std::int64_t ranks_, lanes_, step_, lambda_ = 0, gap_ = 0, gamma_ = 0, publish_ = 0, read_ = 0, work_ = 0;
  bool alone_;
  std::vector<std::int64_t> board_;  ///< by instant, until it has reached all
  std::vector<std::int64_t>
      allowed_;  ///< sends of a node that is entered at 0 that its lanes could have made, by instant
  std::vector<std::int64_t> begins_;   ///< of those that it makes …
  std::vector<std::int64_t> made_;     ///< … and how many until then
  std::vector<std::int64_t> reached_;  ///< by instant from lambda on
};

}  // namespace

Time flow_together_bound(const Cluster& cluster) {
  const SpreadShape shape = spread_shape(cluster, cluster.nodes.largest());
  for (std::int64_t step = common_unit(shape); step <= shape.gap; step = coarser_step(shape, step)) {
    if (const std::optional<Time> time = FlowTogether(cluster, step).least()) return *time;
  }
  return Time{0};  // the other bounds must do
}

}  // namespace chasqui::plan
