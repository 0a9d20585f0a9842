// SPDX-License-Identifier: MIT
#include "plan/stream/compose.hpp"

#include <algorithm>
#include <vector>

namespace chasqui::plan::stream_detail {
namespace {

/// L = 3, K = 0: the full tree of t = 16 has no strong solution; t = 19, which would need it, is a base case itself.
constexpr bool is_missing(std::int64_t L, std::int64_t t, std::int64_t u) { return L == 3 && t == 16 && u == 88; }
constexpr bool is_extra(std::int64_t L, std::int64_t t, std::int64_t u) { return L == 3 && t == 19 && u == 277; }

class Composition {
 public:
  Composition(std::int64_t L, std::int64_t n) : f_(L, n), L_(L), n_(n), range_(base_range(L)) {
    f_.extend_to(range_.first + L + 1);
    first_full_ = range_.first + (L == 3 ? 1 : 0);
  }

  std::optional<Recipe> run(std::int64_t t) {
    recipe_.L = L_;
    recipe_.t = t;
    std::int64_t u = n_ - f_(t - 1);
    if (t < range_.first || is_missing(L_, t, u)) {
      const auto base = direct(f_, t, u, std::nullopt);
      return base ? std::optional(alone(*base, L_, t)) : std::nullopt;
    }
    recipe_.receive_only = range_.K;
    std::int64_t growth = 0;
    while (t >= range_.first + L_ && !is_extra(L_, t, u)) {
      if (u > f_(t - L_ - 1)) {  // the rest of the tree is full, the subtree of the root's first child is not
        ask(full_, t - 1, growth + 1);
        u -= f_(t - L_ - 1);
        t -= L_;
        growth = 0;
      } else {  // that subtree has nothing on the last label
        ask(lower_, t - L_ - 1, 0);
        t -= 1;
        growth += 1;
      }
    }
    const auto base = direct(f_, t, u, range_.K);
    if (!base) return std::nullopt;
    add_roots(recipe_, *base, 1, growth, range_.K, Shift::none);
    add_others(recipe_, *base, 1, Shift::none);
    if (!add_full_trees(recipe_, f_, full_, first_full_, range_.K, Shift::none)) return std::nullopt;
    if (!add_full_trees(recipe_, f_, lower_, range_.first - 1, range_.K + 1, Shift::one)) return std::nullopt;
    return recipe_;
  }

 private:
  static void ask(FullTrees& wanted, std::int64_t t, std::int64_t growth) { ++wanted[{t, growth}]; }

  Growth f_;
  std::int64_t L_, n_;
  BaseRange range_;
  std::int64_t first_full_ = 0;
  FullTrees full_, lower_;
  Recipe recipe_;
};

}  // namespace

bool add_full_trees(Recipe& recipe, const Growth& f, const FullTrees& wanted, std::int64_t first, std::int32_t K,
                    Shift shift) {
  const std::int64_t L = f.L();
  const std::int64_t top = first + L - 1;
  FullTrees roots;  // t at most top
  std::vector<std::int64_t> plain(static_cast<std::size_t>(recipe.t + 1),
                                  0);  // t -> A(t), not grown from outside
  const auto unfold = [&](std::int64_t t, std::int64_t growth, std::int64_t times) {
    roots[{std::min(t, top), growth + std::max<std::int64_t>(0, t - top)}] += times;
    for (std::int64_t k = top + 1; k <= t; ++k) plain[static_cast<std::size_t>(k - L)] += times;
  };
  for (const auto& [kind, times] : wanted) unfold(kind.first, kind.second, times);
  for (std::int64_t t = recipe.t; t >= first; --t) {
    if (const std::int64_t times = plain[static_cast<std::size_t>(t)]; times > 0) unfold(t, 0, times);
  }
  std::optional<BaseCase> base;
  std::int64_t known = -1;
  std::int64_t copies = 0;
  for (const auto& [kind, times] : roots) {  // by t
    if (kind.first != known) {
      if (base) add_others(recipe, *base, copies, shift);
      known = kind.first;
      copies = 0;
      base = direct(f, known, f(known - L), K);
      if (!base) return false;
    }
    copies += times;
    add_roots(recipe, *base, times, kind.second, K, shift);
  }
  if (base) add_others(recipe, *base, copies, shift);
  return true;
}

BaseRange base_range(std::int64_t L) {
  const auto half_up = static_cast<std::int32_t>((L + 1) / 2);
  if (L == 3) return {16, 0};
  if (L == 4) return {15, 1};
  if (L <= 7) return {3 * L, static_cast<std::int32_t>(L / 2)};
  if (L <= 15) return {(5 * L + 1) / 2, static_cast<std::int32_t>(L / 2)};
  if (L <= 47) return {2 * L + 6, half_up + 3};
  if (L <= 111) return {2 * L + 6, half_up + 6};
  if (L <= 199) return {2 * L + 6, half_up + 9};
  return {2 * L + 6, half_up + static_cast<std::int32_t>(12 + 3 * (L - 200) / 100)};
}

std::vector<BaseName> base_names(std::int64_t L) {
  const BaseRange range = base_range(L);
  Growth f(L, 1);
  f.extend_to(range.first + L + 1);
  std::vector<BaseName> names;
  for (std::int64_t t = L; t < range.first; ++t) {
    for (std::int64_t u = 1; u <= f(t - L); ++u) {
      if (!is_even_exception(L, f(t - 1) + u)) names.push_back({t, u, std::nullopt});
    }
  }
  for (std::int64_t t = range.first; t <= range.first + L; ++t) {
    for (std::int64_t u = 1; u <= f(t - L); ++u) {
      if (t == range.first + L && !is_extra(L, t, u)) continue;
      names.push_back({t, u, is_missing(L, t, u) ? std::nullopt : std::optional(range.K)});
    }
  }
  for (std::int64_t t = range.first - 1; t < range.first + L - 1; ++t) names.push_back({t, f(t - L), range.K + 1});
  return names;
}

bool is_even_exception(std::int64_t L, std::int64_t n) { return L % 2 == 0 && n == L + 3; }

std::optional<Recipe> compose(std::int64_t L, std::int64_t n) {
  if (is_even_exception(L, n)) return std::nullopt;
  const std::int64_t t = Growth(L, n).last();
  return Composition(L, n).run(t);
}

}  // namespace chasqui::plan::stream_detail
