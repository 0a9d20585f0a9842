// SPDX-License-Identifier: MIT
// Every rank remembers its last calls, so that ranks that read a line of another call, or wait in vain, can find out who
// called something else.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "run/call/signature.hpp"

namespace chasqui::run {

/// Who called what where; `which` call it was, in words.
std::string disagreement(int one, const Signature& ones, int other, const Signature& others, const std::string& which);

/// The last calls of one rank; alike ones in a row take one place. That rank writes, others may read meanwhile. Zeroed
/// memory is an empty one.
class CallHistory {
 public:
  /// REQUIRES a larger number than before, one larger for each call.
  void note(std::uint64_t number, const Signature& call);
  /// REQUIRES that the rank has begun that call. Unknown when it was too many different calls ago.
  Signature find(std::uint64_t number) const;
  /// Its first call, and those that were different from the ones before them, as far as they are remembered; in order.
  std::vector<std::uint64_t> changes() const;
  std::uint64_t latest_change() const;  ///< the last of them; 0: no call yet

 private:
  static constexpr std::uint64_t kRuns = 32;
  struct Run {
    std::atomic<std::uint64_t> first;  ///< call; 0 while it is written
    std::atomic<std::uint64_t> count, element, what;
  };
  const Run& run(std::uint64_t which) const { return runs_[which % kRuns]; }
  std::atomic<std::uint64_t> newest_;  ///< 0: the empty one, before all calls
  Run runs_[kRuns];
};

}  // namespace chasqui::run
