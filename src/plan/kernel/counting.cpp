// SPDX-License-Identifier: MIT
#include "plan/kernel/counting.hpp"

#include "chasqui/base/error.hpp"

namespace chasqui::plan::kernel {

Counting count(std::int64_t M, std::int64_t L) {
  Counting c{.M = M, .L = L, .f = Growth(L, M)};
  c.n = c.f.last() - 1;
  for (std::int64_t t = 0; t <= c.n; ++t) c.total += c.f(t);
  c.f.extend_to(c.n + 2);
  c.k_star = c.total / M;
  c.slack = c.total - c.k_star * M;
  return c;
}

std::int64_t last_step(const Counting& c, std::int64_t k) {
  CHASQUI_CHECK(k >= 1, "k={}", k);
  if (k > c.k_star) return k - c.k_star + c.n;
  std::int64_t sum = 0;
  std::int64_t t = 0;
  for (; sum + c.f(t) < k * c.M; ++t) sum += c.f(t);
  return t;
}

}  // namespace chasqui::plan::kernel
