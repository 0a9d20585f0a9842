// SPDX-License-Identifier: MIT
// The quantities of the counting bound for k items on the postal machine: a step t moves at most min(f_t, P-1) useful
// messages, f the universal tree's counts. docs/items.md, Theorem 1.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/growth.hpp"

namespace chasqui::plan::kernel {

/// A number that is not negative, as an index.
constexpr std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Everything about (P, L) that the bound and the kernels need. M = P-1 receivers.
struct Counting {
  std::int64_t M = 0;
  std::int64_t L = 1;
  std::int64_t n = -1;      ///< f_n < M <= f_{n+1}
  std::int64_t total = 0;   ///< F = f_0 + ... + f_n
  std::int64_t k_star = 0;  ///< floor(F / M)
  std::int64_t slack = 0;   ///< F - k_star * M
  Growth f;                 ///< f_t for t <= n+2
};

/// Time and memory: O(n), about L log P. REQUIRES M >= 1, L >= 1.
Counting count(std::int64_t M, std::int64_t L);

/// The first step by whose end k items can have reached M receivers: min { t : sum_{j<=t} min(f_j, M) >= kM }.
/// The counting bound is L more. Time: O(n) after count(). REQUIRES k >= 1.
std::int64_t last_step(const Counting& counting, std::int64_t k);

}  // namespace chasqui::plan::kernel
