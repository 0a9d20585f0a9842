// SPDX-License-Identifier: MIT
// How fast one item can spread on the postal machine: f_0, f_1, … with f_i = f_{i-1} + f_{i-L}, f_i = 1 below
// L. A table, because the planner of streams asks for many entries; it ends with the first f_t >= n.
#pragma once

#include <cstdint>
#include <vector>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"

namespace chasqui::plan {

class Growth {
 public:
  /// Time and memory: O(t), t = B(n). REQUIRES L >= 1, n >= 1.
  Growth(std::int64_t L, std::int64_t n) : L_(L), f_{1} {
    CHASQUI_CHECK(L >= 1 && n >= 1, "L={} n={}", L, n);
    while (f_.back() < n) extend_to(last() + 1);
  }

  std::int64_t L() const { return L_; }

  /// f_i; 0 for i < 0. REQUIRES i <= last().
  std::int64_t operator()(std::int64_t i) const { return i < 0 ? 0 : f_[static_cast<std::size_t>(i)]; }

  /// B(n): the least t with f_t >= n.
  std::int64_t last() const { return static_cast<std::int64_t>(f_.size()) - 1; }

  /// How many nodes the full tree has at label d: f_d - f_{d-1}.
  std::int64_t at_label(std::int64_t d) const { return (*this)(d) - (*this)(d - 1); }

  /// Makes f_i available for all i <= t.
  void extend_to(std::int64_t t) {
    while (last() < t) f_.push_back(saturating_add(f_.back(), (*this)(last() + 1 - L_)));
  }

 private:
  std::int64_t L_;
  std::vector<std::int64_t> f_;
};

}  // namespace chasqui::plan
