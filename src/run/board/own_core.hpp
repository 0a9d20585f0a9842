// SPDX-License-Identifier: MIT
// Where the ranks of a board run, as far as they have noted it: two that sit on one core move apart.
#pragma once

#include "run/board/counters.hpp"

namespace chasqui::run {

/// One rank's core.
class OwnCore {
 public:
  OwnCore() = default;
  OwnCore(Counters* counters, int ranks, int rank) : counters_(counters), ranks_(ranks), rank_(rank) {}

  /// Notes it. Where a rank before this one was seen on the same core, this one moves to a core where none was. The kernel puts ranks
  /// that wake up together on one core, and takes milliseconds to find another. Who has moved lately stays: where other programs
  /// want the cores too moving is of no use, and the kernel's business.
  void settle();

 private:
  Counters* counters_ = nullptr;
  int ranks_ = 0, rank_ = 0;
  long moved_ = 0;  ///< when this rank last changed its core
  long stays_ = 0;  ///< it stays there so long, at least; nanoseconds
};

}  // namespace chasqui::run
