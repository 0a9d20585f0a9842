// SPDX-License-Identifier: MIT
// Ranks that use each other's buffers, and take them back before they leave a call by an error. Invariant 8 of board.hpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "run/board/counters.hpp"

namespace chasqui::run {

/// One rank's part.
class BufferUse {
 public:
  BufferUse() = default;
  /// withdrawn: the word of all ranks for the first collective from which one of them took its buffers back.
  BufferUse(std::atomic<std::uint64_t>* withdrawn, Counters* counters, int ranks, int rank, bool crowded)
      : withdrawn_(withdrawn), counters_(counters), own_(counters + rank), ranks_(ranks), crowded_(crowded) {}

  void expose(std::uint64_t number) { exposed_ = number; }  ///< others may use this rank's, in this collective
  void cover() { exposed_ = 0; }                            ///< nobody does any more
  /// This rank uses those of others in its collective `number`, for no longer than it takes to copy or fold. False: one that had
  /// exposed its own has withdrawn them.
  bool enter(std::uint64_t number) {
    own_->inside.store(number);
    const std::uint64_t since = withdrawn_->load();  // either this sees the withdrawal or the withdrawal sees us
    if (since == 0 || since > number) return true;
    leave();
    return false;
  }
  void leave() { own_->inside.store(0, std::memory_order_release); }  ///< the end of what enter() began
  void withdraw();  ///< nobody uses this rank's after this; waits for those who have begun

  /// The rank's process is no more: it uses nobody's.
  void leave_for(int rank) { counters_[rank].inside.store(0, std::memory_order_release); }
  /// Called while withdraw() waits for others, who may have died meanwhile.
  void watch(std::function<void()> look) { look_ = std::move(look); }

 private:
  std::atomic<std::uint64_t>* withdrawn_ = nullptr;
  Counters* counters_ = nullptr;
  Counters* own_ = nullptr;
  int ranks_ = 0;
  bool crowded_ = false;
  std::uint64_t exposed_ = 0;  ///< the collective in which others may use this rank's; 0: none
  std::function<void()> look_;
};

}  // namespace chasqui::run
