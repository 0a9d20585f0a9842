// SPDX-License-Identifier: MIT
// Scans back to back form a pipeline: the rank before hands on its result, and nobody needs more. Where ranks begin together, folding all
// contributions is faster. Which of the two it is a rank learns from its own calls.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace chasqui::run {

/// One rank's scans on a board.
class BackToBack {
 public:
  /// So many looks for the result of the rank before alone, before this call asks for all contributions. `rank`: so many hand on before it;
  /// `now`: nanoseconds.
  int patience(std::uint64_t call, int rank, std::int64_t now) {
    if (call != last_ + 1 || now - ended_ > kGap) return 0;
    if (rest_ > 0) return --rest_, 0;
    return kLooks + kLooksOfRank * rank;
  }
  /// They were in vain: the next calls ask for all at once, twice as many each time.
  void missed() {
    rest_ = next_rest_;
    next_rest_ = std::min(2 * next_rest_, kLongestRest);
  }
  /// `waited`: and the result came in time.
  void ended(std::uint64_t call, bool waited, std::int64_t now) {
    if (waited) next_rest_ = kRest;
    last_ = call;
    ended_ = now;
  }

 private:
  static constexpr std::int64_t kGap =
      1000;  ///< nanoseconds: who does more between two calls has time for all contributions
  /// A look takes 20 ns, a rank hands on in half a microsecond. Many times as long: waiting costs little, since a rank that is late
  /// keeps all from their results either way, and who gives up is out of the pipeline for several calls and makes others late.
  static constexpr int kLooks = 2000, kLooksOfRank = 800;
  static constexpr int kRest = 8, kLongestRest = 1024;
  std::uint64_t last_ = 0;
  std::int64_t ended_ = std::numeric_limits<std::int64_t>::min() / 2;  ///< long ago
  int rest_ = 0, next_rest_ = kRest;
};

}  // namespace chasqui::run
