// SPDX-License-Identifier: MIT
// Which ranks have made their last call: threads of a process know it of each other. Who waits for one of them in a later call
// waits in vain, and gets an Error.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "chasqui/base/error.hpp"

namespace chasqui::run {

/// Shared by the ranks of a communicator.
class Departures {
 public:
  explicit Departures(int ranks) : after_(static_cast<std::size_t>(ranks)) {}  ///< all are there

  /// The rank makes no call after its first `calls`.
  void leave(int rank, std::uint64_t calls) {
    after_[static_cast<std::size_t>(rank)].store(calls + 1, std::memory_order_release);
    any_.store(true, std::memory_order_release);
  }
  void back(int rank) { after_[static_cast<std::size_t>(rank)].store(0); }  ///< it does after all

  /// Will a rank not come to this call? A look at one line while all are there. What a rank reported before it left can be
  /// seen afterwards.
  bool concerns(std::uint64_t call) const {
    return any_.load(std::memory_order_acquire) && first_for(call) < after_.size();
  }
  /// Who. REQUIRES concerns(call), unless that rank is back.
  [[noreturn]] void fail(std::uint64_t call) const {
    const std::size_t rank = first_for(call);
    const std::uint64_t calls = rank < after_.size() ? after_[rank].load() - 1 : 0;
    throw Error(
        "rank {} has ended, or given its communicator back, after {} collective{}, and will not come to number {}: all ranks "
        "must make the same calls",
        rank, calls, calls == 1 ? "" : "s", call);
  }

 private:
  std::size_t first_for(std::uint64_t call) const {
    std::size_t rank = 0;
    for (; rank < after_.size(); ++rank) {
      const std::uint64_t after = after_[rank].load(std::memory_order_acquire);
      if (after != 0 && call >= after) break;
    }
    return rank;
  }

  std::vector<std::atomic<std::uint64_t>> after_;  ///< its calls and one; 0: not yet
  std::atomic<bool> any_{false};
};

}  // namespace chasqui::run
