// SPDX-License-Identifier: MIT
#include "plan/growth.hpp"

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"

namespace chasqui::plan {

Growth::Growth(std::int64_t L, std::int64_t n) : L_(L), f_{1} {
  CHASQUI_CHECK(L >= 1 && n >= 1, "L={} n={}", L, n);
  while (f_.back() < n) extend_to(last() + 1);
}

void Growth::extend_to(std::int64_t t) {
  while (last() < t) f_.push_back(saturating_add(f_.back(), (*this)(last() + 1 - L_)));
}

}  // namespace chasqui::plan
