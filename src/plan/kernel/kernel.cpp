// SPDX-License-Identifier: MIT
#include "plan/kernel/kernel.hpp"

#include <fmt/core.h>

namespace chasqui::plan::kernel {
namespace {

/// (J) and (A) for one group.
std::string group_error(const Group& group, int L, int D) {
  const int m = group.size();
  if (m == 0 || group.S.size() != group.H.size()) return "group sizes";
  std::vector<int> thrown(at(m), -1);  // by landing phase
  for (int y = 0; y < m; ++y) {
    const int h = group.H[at(y)];
    if (h < 0 || h > D) return fmt::format("H({}) = {} is outside 0..{}", y, h, D);
    int& who = thrown[at((y + h) % m)];
    if (who >= 0) return fmt::format("(J) phases {} and {} land together", who, y);
    who = y;
  }
  for (int x = 0; x < m; ++x) {
    const int s = group.S[at(x)];
    if (s == kNone) continue;
    if (s < 0 || s > D) return fmt::format("S({}) = {} is outside 0..{}", x, s, D);
    if (group.H[at(thrown[at((x + s) % m)])] < s + L) return fmt::format("(A) phase {} sends too early", x);
  }
  return "";
}

}  // namespace

std::vector<int> free_receptions(const Group& group, int D, int role) {
  std::vector<int> steps;
  for (int tau = 0; tau < D; ++tau) {
    if (tau - D + group.H[at((role + tau) % group.size())] >= 0) steps.push_back(tau);
  }
  return steps;
}

Shape shape_of(const Counting& c, int j) {
  const int N = static_cast<int>(c.n) + j;
  return {N, N + 1, static_cast<int>(c.k_star) + j};
}

std::string steady_error(const Kernel& kernel) {
  if (kernel.M < 1 || kernel.L < 1 || kernel.j < 0 || kernel.j > 1) return "parameters";
  const Shape shape = shape_of(count(kernel.M, kernel.L), kernel.j);
  std::vector<int> balance(at(shape.D) + 1, 0);
  balance[at(shape.D)] = 1;
  int ranks = 0;
  for (const Group& group : kernel.groups) {
    std::string error = group_error(group, kernel.L, shape.D);
    if (!error.empty()) return error;
    std::int64_t sum = 0;
    for (int h : group.H) sum += h, --balance[at(h)];
    for (int s : group.S) {
      if (s != kNone) ++balance[at(s)];
    }
    if (sum < static_cast<std::int64_t>(shape.kappa) * group.size()) return "(C) a group has too few balls";
    ranks += group.size();
  }
  if (ranks != kernel.M) return "the groups do not add up to M ranks";
  for (int h = 0; h <= shape.D; ++h) {
    if (balance[at(h)] != 0) return fmt::format("(B) height {} is sent {} times too often", h, balance[at(h)]);
  }
  return "";
}

}  // namespace chasqui::plan::kernel
