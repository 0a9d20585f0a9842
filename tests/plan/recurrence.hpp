// SPDX-License-Identifier: MIT
// How many ranks an optimal broadcast reaches, as the papers define it; the library's own is not asked.
#pragma once

#include <cstdint>
#include <vector>

namespace chasqui::test {

/// f_t = 1 for 0 <= t < L, f_t = f_{t-1} + f_{t-L} from then on; 0 before time 0.
class Recurrence {
 public:
  explicit Recurrence(std::int64_t L) : L_(L) {}

  std::int64_t operator()(std::int64_t t) {
    while (std::ssize(f_) <= t) {
      const std::int64_t next = std::ssize(f_);
      f_.push_back(next < L_ ? 1 : (*this)(next - 1) + (*this)(next - L_));
    }
    return t < 0 ? 0 : f_[static_cast<std::size_t>(t)];
  }

  /// B(n): the least t with f_t >= n.
  std::int64_t height(std::int64_t n) {
    std::int64_t t = 0;
    while ((*this)(t) < n) ++t;
    return t;
  }

 private:
  std::int64_t L_;
  std::vector<std::int64_t> f_;
};

}  // namespace chasqui::test
