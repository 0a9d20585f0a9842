// SPDX-License-Identifier: MIT
// How many samples fit: a stretch of time is dealt to parts by their shares, anew before each part. One that took longer
// than its share leaves less to the later ones: they take fewer samples, and none once the time is over, unless every
// part must have one. Nothing here reads a clock: tests hand it the time.
#pragma once

#include <cstddef>

namespace chasqui::measure {

class TimeBudget {
 public:
  /// `span` nanoseconds from `now` on. `each`: every part gets a sample, however late it is.
  TimeBudget(double now, double span, bool each) : until_(now + span), span_(span), each_(each) {}

  /// With how many samples the next part begins; 0: with none.
  int next(double now);

  /// It begins, and has this share; all shares together make 1.
  void begin(double now, double share);

  /// How many more it takes after `taken`, of which the fastest took `fastest` nanoseconds; 0: no more.
  int more(double now, double fastest, std::size_t taken) const;

  /// Nanoseconds until its share is over.
  double left(double now) const { return begun_ + own_ - now; }

  /// Some part had to do with one sample or none.
  bool cut() const { return cut_; }

 private:
  double until_, span_;
  bool each_;
  double left_ = 1;             ///< shares of the parts that have not begun
  double begun_ = 0, own_ = 0;  ///< the part at hand: when it began, its nanoseconds
  bool cut_ = false;
};

}  // namespace chasqui::measure
