// SPDX-License-Identifier: MIT
#include "plan/stream/even_exception.hpp"

#include <numeric>

namespace chasqui::plan::stream_detail {
namespace {

using Permutation = std::vector<std::int32_t>;

constexpr std::int64_t kLargestSearched = 40;
constexpr std::int64_t kMostNodes = 5'000'000;

/// Depth first: pairs by falling distance, then the three-cycle; what is left is the fixed point.
class Search {
 public:
  Search(std::int64_t h, bool fixed_point) : size_(2 * h - (fixed_point ? 0 : 1)), distance_(h) {
    permutation_.assign(static_cast<std::size_t>(size_), kFree);
  }

  std::optional<Permutation> run() {
    if (!pair_up(distance_)) return std::nullopt;
    for (std::int64_t p = 0; p < size_; ++p) {
      if (at(p) == kFree) at(p) = static_cast<std::int32_t>(p);
    }
    return permutation_;
  }

 private:
  static constexpr std::int32_t kFree = -1;
  std::int32_t& at(std::int64_t p) { return permutation_[static_cast<std::size_t>(p)]; }

  bool pair_up(std::int64_t distance) {
    if (++nodes_ > kMostNodes) return false;
    if (distance < 3) return three_cycle();
    for (std::int64_t p = 0; p + distance < size_; ++p) {
      const std::int64_t partner = p + distance;
      if (at(p) != kFree || at(partner) != kFree) continue;
      at(p) = static_cast<std::int32_t>(partner);
      at(partner) = static_cast<std::int32_t>(p);
      if (pair_up(distance - 1)) return true;
      at(p) = at(partner) = kFree;
    }
    return false;
  }

  /// p -> p+3, and back down in steps of 1 and 2.
  bool three_cycle() {
    for (std::int64_t p = 0; p + 3 < size_; ++p) {
      for (const std::int64_t down : {1, 2}) {
        const std::int64_t middle = p + 3 - down;
        if (at(p) != kFree || at(middle) != kFree || at(p + 3) != kFree) continue;
        at(p) = static_cast<std::int32_t>(p + 3);
        at(p + 3) = static_cast<std::int32_t>(middle);
        at(middle) = static_cast<std::int32_t>(p);
        return true;
      }
    }
    return false;
  }

  std::int64_t size_, distance_;
  std::int64_t nodes_ = 0;
  Permutation permutation_;
};

/// Places pairs at all distances from about h/3 to h on the first 4D or so points, and the smaller problem after them.
std::optional<Permutation> reduce(std::int64_t h, bool fixed_point) {
  const std::int64_t D = (h + 2) / 3;
  const std::int64_t kind = h - 3 * D;  // -2, -1, 0
  if (kind != -2 && !fixed_point) return std::nullopt;
  Permutation permutation(static_cast<std::size_t>(2 * h - (fixed_point ? 0 : 1)));
  std::iota(permutation.begin(), permutation.end(), 0);
  const auto pair = [&](std::int64_t a, std::int64_t b) {  // points count from 1 here
    std::swap(permutation[static_cast<std::size_t>(a - 1)], permutation[static_cast<std::size_t>(b - 1)]);
  };
  std::int64_t used = 0;
  std::int64_t tail_size = D;
  if (kind == -2) {
    for (std::int64_t i = 1; i <= D; ++i) pair(i, 3 * D - i);
    for (std::int64_t j = 1; j < D; ++j) pair(D + j, 4 * D - 1 - j);
    used = 4 * D - 2;
    tail_size = D - 1;
  } else if (kind == -1) {  // the fixed point is 2D
    for (std::int64_t i = 1; i <= D; ++i) pair(i, 3 * D + 1 - i);
    for (std::int64_t j = 1; j < D; ++j) pair(D + j, 4 * D - j);
    used = 4 * D - 1;
  } else {  // the fixed point is 3D+1
    for (std::int64_t i = 1; i <= D; ++i) pair(i, 3 * D + 1 - i);
    for (std::int64_t j = 1; j <= D; ++j) pair(D + j, 4 * D + 2 - j);
    used = 4 * D + 1;
  }
  const auto tail = displacement_permutation(tail_size, kind == -2 && fixed_point);
  if (!tail) return std::nullopt;
  for (std::size_t p = 0; p < tail->size(); ++p) {
    permutation[static_cast<std::size_t>(used) + p] = static_cast<std::int32_t>(used) + (*tail)[p];
  }
  return permutation;
}

}  // namespace

std::optional<Permutation> displacement_permutation(std::int64_t h, bool fixed_point) {
  if (h > kLargestSearched) {
    if (auto reduced = reduce(h, fixed_point)) return reduced;
  }
  return Search(h, fixed_point).run();
}

std::optional<Layout> even_exception(std::int64_t L) {
  const auto permutation = displacement_permutation(L / 2, true);
  if (!permutation) return std::nullopt;
  Layout layout;
  layout.L = L;
  layout.t = 2 * L;
  layout.receive_only = static_cast<std::int32_t>(L / 2 - 2);
  Run run;
  const auto q = static_cast<std::int32_t>(L + 2);
  run.heads = {{0, 0, L + 1}, {q - 1, L, 1}};
  run.word.assign(static_cast<std::size_t>(q), 0);
  run.word.front() = static_cast<std::int32_t>(2 * L);
  run.word.back() = static_cast<std::int32_t>(L);
  for (std::int32_t p = 1; p <= L; ++p) {
    const std::int32_t image = (*permutation)[static_cast<std::size_t>(p - 1)] + 1;
    const std::int32_t y = (p - image + q) % q;
    run.word[static_cast<std::size_t>(p)] = static_cast<std::int32_t>(L - 1 - y);
  }
  layout.runs.push_back(std::move(run));
  return layout;
}

}  // namespace chasqui::plan::stream_detail
