// SPDX-License-Identifier: MIT
// How long a rank waits before it looks at what another core is about to write.
#pragma once

#include "run/wait/backoff.hpp"

namespace chasqui::run {

/// When to look first at a line that another core is about to write. A look that comes too early takes the line from
/// its writer, who must get it back before it can write, and then everybody is late: so a rank looks a pause later after
/// each miss, and earlier again only after many looks that found the line there. One rank in a hundred rounds is too early,
/// not one in every round (docs/laboratory/broadcast.md, "First looks"). A line that comes long afterwards says that ranks are
/// apart: whoever comes last then finds everything there, and should not wait before it looks; and what others have not announced yet should
/// be left to them.
class FirstLook {
 public:
  /// Never waits longer than so many pauses. A line that comes after more looks in a row than `near` was not missed by little.
  FirstLook(int most_pauses, int near) : most_(most_pauses * kFine), near_(near) {}

  int pauses() const { return when_ / kFine; }  ///< how many were learned
  void wait() const {
    for (int i = pauses(); i > 0; --i) cpu_relax();
  }                                          ///< as long as was learned
  bool apart() const { return apart_ > 0; }  ///< do ranks come long after each other, lately?
  void learn(int in_vain) {
    if (in_vain == 0) {
      when_ -= when_ > 0 ? 1 : 0;
      apart_ -= apart_ > 0 ? 1 : 0;
    } else if (in_vain <= near_) {
      when_ += when_ < most_ ? kFine : 0;
      apart_ -= apart_ < kFar ? apart_ : kFar;
    } else {
      when_ -= when_ < kFar ? when_ : kFar;
      apart_ += apart_ < 4 * kFar ? kFar : 0;
    }
  }  ///< so many looks were made before the one that found the line

 private:
  static constexpr int kFine = 128;  ///< looks in time that take back one that was too early
  static constexpr int kFar = 16;    ///< and one that was much too early
  int most_, near_;
  int when_ = 0;
  int apart_ = 0;
};

}  // namespace chasqui::run
