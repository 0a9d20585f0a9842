// SPDX-License-Identifier: MIT
// Waiting for many ranks: one line at a time, each rank beginning with its right neighbour. So no line is asked for by
// all at once, and none is asked for often before it is written.
#pragma once

namespace chasqui::run {
/// Which parts of an interval have not come yet.
class Awaited {
 public:
  Awaited() = default;
  /// Ranks first .. last-1, beginning after `me`, who has done its own part.
  Awaited(int first, int last, int me) : first_(first), last_(last), next_(first), left_(last - first) {
    if (me < first || me >= last) return;
    if (me + 1 < last) next_ = me + 1;
    --left_;
  }

  /// True once `ready` has said yes for every rank of the range but this one.
  template <typename Ready>
  bool none(Ready ready) {
    int next = next_, left = left_;
    for (; left > 0 && ready(next); --left) next = next + 1 == last_ ? first_ : next + 1;
    next_ = next;
    left_ = left;
    return left == 0;
  }

 private:
  int first_ = 0;
  int last_ = 0;
  int next_ = 0;
  int left_ = 0;
};

}  // namespace chasqui::run
