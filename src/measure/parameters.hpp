// SPDX-License-Identifier: MIT
// One round of measuring: every parameter once, on one communicator, inside a budget of time.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "chasqui/run/comm.hpp"
#include "measure/estimate.hpp"

namespace chasqui::measure {

inline constexpr int kWords = 32;  ///< of the longer superstep
/// The superstep of long messages: how many everybody sends, of how many bytes. Short enough for every eager protocol.
inline constexpr std::size_t kBlock = 8192;
inline int blocks_sent(std::int64_t ranks) { return 4 * static_cast<int>(std::min<std::int64_t>(ranks - 1, kWords)); }

/// What one round found of the parameters.
struct Parameters {
  std::optional<MessageParameters> node, network;
  bool board = false, threads = false;
  std::int64_t node_ranks = 0, ranks = 0;
  BoardParameters on_board;
  std::array<double, kSharedKinds> near{};  ///< of on_board.publish, between ranks that share so much; 0: no level
  double superstep = 0, long_superstep = 0, block_superstep = 0;  ///< of one word, many words, many long messages
  FanIn fan_in;
  std::vector<NodeBurst>
      bursts;         ///< of 1, 2, 4 … all ranks of rank 0's node; empty where it has one, or there is no other node
  double clocks = 0;  ///< how far times may be off because the hosts' clocks differ
  double least = 0;   ///< nanoseconds that it takes with one sample of each
  bool cut = false;   ///< one sample of some parameter had to do
};

/// What a further word costs in a superstep of this round, nanoseconds.
inline double per_word(const Parameters& r) { return std::max(0.0, r.long_superstep - r.superstep) / (kWords - 1); }
/// The same over all rounds. A disturbed short superstep, in one round alone, hides it: the gap between messages, then.
inline Estimate word_gap(const std::vector<Parameters>& rounds, const Level& messages) {
  const Estimate found = over_rounds(rounds, per_word);
  return found.value > 0 ? found : messages.g;
}

/// A budget of time for a round, from its begin on; rank 0's counts.
struct RoundBudget {
  double begun = 0, nanoseconds = 0;
  std::function<void(const char* what)> progress;  ///< called on rank 0
  double left(double share) const;                 ///< nanoseconds until this share of it is spent
};

/// Collective.
Parameters measure_parameters(run::Comm& comm, const RoundBudget& budget);

}  // namespace chasqui::measure
