// SPDX-License-Identifier: MIT
#include "measure/time_budget.hpp"

#include <algorithm>

namespace chasqui::measure {
namespace {

constexpr double kMostSamples = 400;  ///< samples of one part
constexpr double kAtOnce = 32;        ///< between two looks at the clock
constexpr double kShort = 50;         ///< nanoseconds; nothing is faster
constexpr double kNothing = 1e-9;     ///< what rounding leaves of all shares

}  // namespace

int TimeBudget::next(double now) {
  const double time = until_ - now, fair = left_ * span_;
  const int samples = time <= 0 ? 0 : time < 0.5 * fair ? 1 : 2;
  if (left_ > kNothing && samples < 2) cut_ = true;
  return samples == 0 && each_ ? 1 : samples;
}

void TimeBudget::begin(double now, double share) {
  own_ = std::max(0.0, until_ - now) * std::min(1.0, share / std::max(left_, share));
  begun_ = now;
  left_ -= share;
}

int TimeBudget::more(double now, double fastest, std::size_t taken) const {
  const double cost = std::max(fastest, kShort);
  const double wanted = std::min(left(now) / cost, std::min(own_ / cost, kMostSamples) - static_cast<double>(taken));
  return static_cast<int>(std::clamp(wanted, 0.0, kAtOnce));
}

}  // namespace chasqui::measure
