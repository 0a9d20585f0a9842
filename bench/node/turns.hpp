// SPDX-License-Identifier: MIT
// In what order contestants are timed, a slice each, and what follows from the times of the slices. Each follows each other equally often, since one
// may leave the next something behind (ranks that are apart, lines in other caches); and a machine that becomes slower in the course of a cycle does
// so for all alike. What remains is that nobody follows itself.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace node_bench {

/// Of an even number of values the geometric mean of the two in the middle: the median of a / b is 1 over that of b / a.
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : std::sqrt(values[half - 1] * values[half]);
}

/// Two contestants: A B, again and again, then A. Three: A B C A C B, in which each of the six pairs of neighbours stands once.
/// The A that begins a cycle ends the one before it, and counts half in both: so all have the same place in the middle.
class Turns {
 public:
  /// REQUIRES two or three contestants.
  Turns(std::size_t contestants, int cycles)
      : cycle_(contestants == 2 ? std::vector<std::size_t>{0, 1} : std::vector<std::size_t>{0, 1, 2, 0, 2, 1}) {
    for (int i = 0; i < cycles; ++i) order_.insert(order_.end(), cycle_.begin(), cycle_.end());
    order_.push_back(0);
  }
  /// Who has each slice.
  const std::vector<std::size_t>& order() const { return order_; }

  /// The times of one contestant's slices.
  std::vector<double> of(std::size_t contestant, const std::vector<double>& times) const {
    std::vector<double> own;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (order_[i] == contestant) own.push_back(times[i]);
    }
    return own;
  }
  /// Of each cycle the first contestant's time over this one's, geometric means of their slices.
  std::vector<double> ratios(std::size_t contestant, const std::vector<double>& times) const {
    std::vector<double> all;
    for (std::size_t begin = 0; begin + 1 < order_.size(); begin += cycle_.size())
      all.push_back(std::exp(mean(0, begin, times) - mean(contestant, begin, times)));
    return all;
  }

 private:
  /// Of the logarithms.
  double mean(std::size_t contestant, std::size_t begin, const std::vector<double>& times) const {
    const auto log_of = [&](std::size_t i) { return std::log(std::max(1.0, times[i])); };
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < cycle_.size(); ++i) {
      if (cycle_[i] != contestant) continue;
      sum += i > 0 ? log_of(begin + i) : (log_of(begin) + log_of(begin + cycle_.size())) / 2;
      ++count;
    }
    return sum / count;
  }

  std::vector<std::size_t> cycle_, order_;
};

}  // namespace node_bench
