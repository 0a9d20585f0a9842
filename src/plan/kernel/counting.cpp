// SPDX-License-Identifier: MIT
#include "plan/kernel/counting.hpp"

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"

namespace chasqui::plan::kernel {

Counting count(std::int64_t M, std::int64_t L) {
  CHASQUI_CHECK(M >= 1 && L >= 1, "M={} L={}", M, L);
  Counting c;
  c.M = M;
  c.L = L;
  auto next = [&c, L] {
    const auto t = static_cast<std::int64_t>(c.f.size());
    c.f.push_back(t < L ? 1 : saturating_add(c.f.back(), c.at(t - L)));
  };
  for (next(); c.f.back() < M; next()) c.total += c.f.back();
  c.n = static_cast<std::int64_t>(c.f.size()) - 2;
  next();
  c.k_star = c.total / M;
  c.slack = c.total - c.k_star * M;
  return c;
}

std::int64_t last_step(const Counting& c, std::int64_t k) {
  CHASQUI_CHECK(k >= 1, "k={}", k);
  if (k > c.k_star) return k - c.k_star + c.n;
  std::int64_t sum = 0;
  std::int64_t t = 0;
  for (; sum + c.at(t) < k * c.M; ++t) sum += c.at(t);
  return t;
}

}  // namespace chasqui::plan::kernel
