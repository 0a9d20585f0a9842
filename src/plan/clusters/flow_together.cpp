// SPDX-License-Identifier: MIT
// How fast contributions can flow together at one rank, where a reading takes one publication (docs/clusters.md, Theorem 26).
#include <numeric>
#include <vector>

#include "chasqui/base/arithmetic.hpp"
#include "plan/clusters/cluster_plans.hpp"

namespace chasqui::plan {
namespace {

constexpr std::size_t kMostInstants = std::size_t{1} << 22U;  ///< above that the other bound must do

/// All that follows is backwards in time, in a common unit of all lengths.
class FlowTogether {
 public:
  explicit FlowTogether(const Cluster& cluster)
      : ranks_(cluster.base.P), lanes_(cluster.nodes.largest()), lambda_(cluster.base.lambda().ticks),
        gap_(cluster.base.gap().ticks), gamma_(cluster.nodes.gamma.ticks), publish_(cluster.nodes.publish.ticks),
        read_(cluster.nodes.read.ticks), alone_(cluster.nodes.count() == 1) {
    for (const std::int64_t length : {lambda_, gap_, gamma_, publish_, read_}) unit_ = std::gcd(unit_, length);
    for (std::int64_t* length : {&lambda_, &gap_, &gamma_, &publish_, &read_}) *length /= unit_;
  }

  /// Time 0 where the table would be too long.
  Time least() {
    while (reached_.size() < kMostInstants) {
      board_.push_back(on_board());
      if (!alone_) book_sends();
      reached_.push_back(all_reached());
      if (reached_.back() >= ranks_) return Time{(instant() - 1) * unit_};
    }
    return Time{0};
  }

 private:
  struct Sends {
    std::int64_t begin, count;
  };

  std::int64_t instant() const { return static_cast<std::int64_t>(reached_.size()); }
  static std::int64_t at(const std::vector<std::int64_t>& table, std::int64_t when) {
    return when < 0 ? 0 : table[static_cast<std::size_t>(when)];
  }

  /// Ranks of a node that its board alone has reached from one of them.
  std::int64_t on_board() const {
    const std::int64_t t = instant();
    if (read_ == 0) return t >= publish_ ? lanes_ : 1;
    return std::min(lanes_, (t < read_ ? 1 : at(board_, t - read_)) + at(board_, t - publish_ - read_));
  }

  /// Each lane may send once in a gap from when it is reached, the node once in gamma.
  void book_sends() {
    const std::int64_t t = instant();
    allowed_.push_back(board_.back() + at(allowed_, t - gap_));
    if (gamma_ == 0) {
      if (const std::int64_t more = allowed_.back() - at(allowed_, t - 1); more > 0) sends_.push_back({t, more});
    } else if (made_ < allowed_.back() && (sends_.empty() || t >= sends_.back().begin + gamma_)) {
      sends_.push_back({t, 1});
      ++made_;
    }
  }

  std::int64_t all_reached() const {
    std::int64_t total = board_.back();
    for (const Sends& sends : sends_) {
      if (sends.begin > instant() - lambda_ || total >= ranks_) break;
      total = saturating_add(
          total,
          saturating_multiply(sends.count, reached_[static_cast<std::size_t>(instant() - lambda_ - sends.begin)]));
    }
    return total;
  }

  std::int64_t ranks_, lanes_, lambda_, gap_, gamma_, publish_, read_, unit_ = 0, made_ = 0;
  bool alone_;
  std::vector<std::int64_t> board_, allowed_, reached_;  ///< by instant
  std::vector<Sends> sends_;                             ///< of a node that is entered at 0
};

}  // namespace

Time flow_together_bound(const Cluster& cluster) { return FlowTogether(cluster).least(); }

}  // namespace chasqui::plan
