// SPDX-License-Identifier: MIT
// Nodes whose lanes receive one item each in every step and hand it out on the board: when everybody does what.
#pragma once

#include <cstdint>
#include <vector>

#include "chasqui/base/arithmetic.hpp"
#include "plan/clusters/exchange/step_layout.hpp"

namespace chasqui::plan {

/// The clock of a node, by clusters.md, Theorem 30. Times in ticks.
class LaneClock {
 public:
  /// Lane j begins its first step at shifts[j]. REQUIRES that these are gamma apart modulo the step, that a step has room for as many
  /// readings as there are lanes, and a layout with one publication and one reading less, or with none where nodes have one rank.
  LaneClock(const Cluster& cluster, std::vector<std::int64_t> shifts, const StepSlots& step);

  std::int64_t lanes() const { return static_cast<std::int64_t>(shifts_.size()); }
  std::int64_t length() const { return step_.length; }                   ///< of a step
  std::int64_t latency() const { return divide_up(lambda_, length()); }  ///< of a message, in steps
  std::int64_t shift(std::int64_t lane) const { return shifts_[static_cast<std::size_t>(lane)]; }

  /// From the begin of a send to the begin of the receiver's publication.
  std::int64_t published_after_send() const { return lambda_ + wait_to_publish_; }
  /// In the root's node the root publishes one item for every lane in every step, its own lane's last: the end of that publication in
  /// the first step.
  std::int64_t end_at_home(std::int64_t lane) const { return o_ + (lane == 0 ? lanes() : lane) * p_; }

  /// From the end of every lane's publication to the begin of this rank's reading, in the root's node or in another one. What a lane
  /// brings itself it does not wait for. Time: O(lanes log lanes).
  std::vector<std::int64_t> waits(std::int64_t place, bool home) const;
  /// The longest of all ranks, by lane.
  std::vector<std::int64_t> last_waits(bool home) const;

 private:
  std::vector<std::int64_t> own_slots(std::int64_t lane, bool home) const;

  std::vector<std::int64_t> shifts_;
  StepSlots step_;
  std::int64_t n_, o_, p_, r_, lambda_;
  std::int64_t board_begin_ = 0;  ///< of the slots for publications and readings in a step
  std::int64_t publication_ = 0, wait_to_publish_ = 0;
};

/// Shifts with which a lane of the root's node has read an item before it sends it first, in steps of so many ticks: lane 0 is the root and
/// begins at once. REQUIRES lanes * gamma <= length.
std::vector<std::int64_t> shifts_from_home(const Cluster& cluster, std::int64_t lanes, std::int64_t length);

}  // namespace chasqui::plan
