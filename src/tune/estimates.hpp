// SPDX-License-Identifier: MIT
// What the races of a collective tell of all its algorithms at all sizes: predictions, corrected by an algorithm's own races or by those
// of others, with an error.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "chasqui/tune/tuner.hpp"

namespace chasqui::tune {

/// What predictions are off from each other, before races tell: a difference of logarithms, as all errors here; 0.1 is about ten percent.
inline constexpr double kOfStrangers = 0.25;

/// A size on the scale on which times change evenly.
inline double doublings(std::int64_t bytes) { return std::log2(static_cast<double>(std::max<std::int64_t>(bytes, 1))); }

/// Points over the logarithm of the size; between them straight lines.
struct Curve {
  struct Point {
    double x, y;
  };
  std::vector<Point> points;  ///< ascending

  struct Value {
    double y = 0;
    double away = 0;   ///< doublings to the nearest point
    double apart = 0;  ///< how far the ends around differ, here: nothing at a point, half of it in the middle
  };
  /// REQUIRES points.
  Value at(double x) const {
    const auto above = std::find_if(points.begin(), points.end(), [&](const Point& point) { return point.x >= x; });
    if (above == points.end()) return {points.back().y, x - points.back().x, 0};
    if (above == points.begin()) return {above->y, above->x - x, 0};
    const auto below = above - 1;
    const double share = (x - below->x) / (above->x - below->x);
    return {below->y + share * (above->y - below->y), std::min(x - below->x, above->x - x),
            std::min(share, 1 - share) * std::abs(above->y - below->y)};
  }
};

/// What every algorithm of a collective takes at every size, as far as its races tell; logarithms of nanoseconds.
class Estimates {
 public:
  Estimates(const Forecast& forecast, const std::vector<Cell>& cells);

  const std::vector<Cell>& own() const { return own_; }
  const Cell* cell(std::int64_t bytes) const { return cell_of(own_, forecast_.collective(), bytes); }
  /// The nearest raced sizes, at most and at least this one; nullptr: none.
  std::pair<const Cell*, const Cell*> around(std::int64_t bytes) const;
  /// Do all algorithms together take so little at this size that all can run?
  bool cheap(std::int64_t bytes) const;
  bool refused(const Algorithm& algorithm) const;

  struct Estimate {
    Algorithm algorithm;
    double time = 0, error = 0;
    bool raced = false;  ///< itself, somewhere
    double low() const { return time - error; }
    double high() const { return time + error; }
  };
  /// Of all algorithms that may be taken at this size; those that refused somewhere are left out.
  std::vector<Estimate> at(std::int64_t bytes) const;
  /// Of one of them; nothing where it is not among them.
  std::optional<double> time(const Algorithm& algorithm, std::int64_t bytes) const;

  /// Do they send the same messages, as far as predictions tell?
  static bool twins(const Forecast::Entry& a, const Forecast::Entry& b);

 private:
  std::optional<double> between_races(const Algorithm& algorithm, std::int64_t bytes) const;
  Curve corrections_of(const Algorithm& algorithm) const;

  const Forecast& forecast_;
  std::vector<Cell> own_;  ///< by size
  std::vector<Algorithm> refused_;
  Curve strangers_;  ///< how far predictions were off, in the mean of those that ran
  double of_strangers_ = kOfStrangers;
};

}  // namespace chasqui::tune
