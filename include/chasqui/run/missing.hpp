// SPDX-License-Identifier: MIT
// Waiting for many ranks: one line at a time, each rank beginning with its right neighbour. So no line is asked for by
// all at once, and none is asked for often before it is written.
#pragma once

namespace chasqui::run {
/// Which parts of an interval have not come yet.
class Missing {
 public:
  Missing() = default;
  /// Ranks first .. last-1, beginning after `me`.
  Missing(int first, int last, int me) : first_(first), last_(last), next_(me + 1 < last && me + 1 > first ? me + 1 : first),
        left_(last > first ? last - first : 0) {}

  /// True once `ready` has said yes for every rank of the range.
  template <typename Ready>
  bool none(Ready ready) {
    while (left_ > 0) {
      if (!ready(next_)) return false;
      --left_;
      if (++next_ == last_) next_ = first_;
    }
    return true;
  }

 private:
  int first_ = 0;
  int last_ = 0;
  int next_ = 0;
  int left_ = 0;
};

}  // namespace chasqui::run
