// SPDX-License-Identifier: MIT
// What calls of ours save a program, and how sure that is. A comparison sees a few calls of each side; what it says of the thousands that follow
// is a mean with an error, and the error is what blocks and calls of one side differ by. No clock and no message of its own.
#pragma once

#include <algorithm>
#include <cmath>

namespace chasqui::run {

/// Nanoseconds. The truth lies within twice the error on both sides in about 95 of 100 cases.
struct Gain {
  double value = 0, error = 0;
};

/// Two of the same: the mean that both support, no surer than the surer one, since what is wrong with one way of looking is wrong in both. Where they
/// contradict each other something has changed, and the later one counts.
inline Gain together(const Gain& before, const Gain& now) {
  const double apart = std::abs(before.value - now.value);
  if (before.error <= 0 || now.error <= 0 || apart > 2 * std::hypot(before.error, now.error)) return now;
  const double a = 1 / (before.error * before.error), b = 1 / (now.error * now.error);
  return {(a * before.value + b * now.value) / (a + b), std::min(before.error, now.error)};
}

/// The calls of one side whose time no waiting lengthens.
struct TimesInside {
  double sum = 0, squares = 0;
  int count = 0;

  void add(double time) { sum += time, squares += time * time, ++count; }
  double mean() const { return count > 0 ? sum / count : 0; }
  /// Of the mean. REQUIRES two times at least.
  double variance() const {
    return std::max(0.0, squares - sum * sum / count) / (static_cast<double>(count) * (count - 1));
  }
};

/// What the blocks of a comparison say of the time from call to call: the challenger's beyond the incumbent's. Nanoseconds of a call, as all ranks agreed.
class GapSeen {
 public:
  /// Of a pair: the shorter and the longer period of each side, which are the same where each made one call.
  void pair(double incumbent, double longer_incumbent, double challenger, double longer_challenger) {
    const double spread = std::hypot(longer_incumbent - incumbent, longer_challenger - challenger) / 2;
    const double longest = std::max(longer_incumbent, longer_challenger);
    pair_ = {challenger - incumbent, spread > 0 ? of_few(2) * std::hypot(spread, kLeast * longest) : longest / 2};
  }
  /// Of four blocks, of `calls` each: the mean period of each side, and how far the two blocks of a side are apart on the rank where that is
  /// most. (Apart on one rank: where one runs ahead, the greatest sums of two blocks may be alike although different ranks were interrupted.)
  void quadruple(double incumbent, double apart_incumbent, double challenger, double apart_challenger, double calls) {
    const double gap = challenger - incumbent;
    const double spread = std::hypot(apart_incumbent, apart_challenger) / 2;
    ++quadruples_;
    calls_ += calls;
    sum_ += calls * gap;
    squares_ += calls * gap * gap;
    variance_ += calls * calls * spread * spread;
  }
  /// Of a call that ranks do not leave before all have come: what the last one to come needed.
  void inside(bool challenger, double time) { inside_[challenger ? 1 : 0].add(time); }

  /// The surer one of both views. `period`: of the incumbent.
  Gain gap(double period) const {
    const Gain periods = by_periods(period);
    if (inside_[0].count < 2 || inside_[1].count < 2) return periods;
    const double spread = std::sqrt(inside_[0].variance() + inside_[1].variance());
    const double longer = std::max(inside_[0].mean(), inside_[1].mean());
    const Gain calls = {inside_[1].mean() - inside_[0].mean(),
                        std::hypot(of_few(2 * inside_[0].count - 2) * spread, kLeaving * longer)};
    return calls.error < periods.error ? calls : periods;
  }

 private:
  static constexpr double kLeast = 0.02;  ///< of a period: blocks never tell more exactly than that
  static constexpr double kLeaving =
      0.15;  ///< of a call: how much later than the last to come others may leave, on one side alone

  /// Few values scatter by less than many would: Student's 97.5 % by degrees of freedom, divided by that of very many.
  static double of_few(int freedom) {
    constexpr double kStudent[] = {6.48, 2.20, 1.62, 1.42, 1.31, 1.25, 1.21, 1.18, 1.15};
    return freedom <= 9 ? kStudent[std::max(freedom, 1) - 1] : 1.1;
  }
  Gain by_periods(double period) const {
    if (quadruples_ == 0) return pair_;
    const double gap = sum_ / calls_;
    const double between = quadruples_ > 1 ? std::max(0.0, squares_ / calls_ - gap * gap) / (quadruples_ - 1) : 0;
    const double spread = std::sqrt(std::max(between, variance_ / (calls_ * calls_)));
    return {gap, std::hypot(of_few(4 * quadruples_) * spread, kLeast * period)};
  }

  Gain pair_;
  int quadruples_ = 0;
  double calls_ = 0, sum_ = 0, squares_ = 0, variance_ = 0;
  TimesInside inside_[2];
};

}  // namespace chasqui::run
