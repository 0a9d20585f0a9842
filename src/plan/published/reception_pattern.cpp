// SPDX-License-Identifier: MIT
#include "chasqui/base/error.hpp"
#include "plan/published/single_sending.hpp"

namespace chasqui::plan::stream_detail {

std::vector<std::vector<std::int64_t>> reception_pattern(std::int64_t r, std::int64_t printed_L) {
  CHASQUI_CHECK(r >= 4, "reception_pattern: r={}", r);
  std::vector<std::vector<std::int64_t>> offsets(static_cast<std::size_t>(r),
                                                 std::vector<std::int64_t>(static_cast<std::size_t>(r), -1));
  const auto at = [&](std::int64_t i, std::int64_t j) -> std::int64_t& {
    return offsets[static_cast<std::size_t>(i - 1)][static_cast<std::size_t>(j - 1)];
  };
  const bool odd = r % 2 != 0;
  const std::int64_t low = r / 2;                          // ⌊r/2⌋
  const std::int64_t high = (r + 1) / 2;                   // ⌈r/2⌉
  for (std::int64_t j = 2; j <= r; ++j) at(1, j) = j - 2;  // (a)
  for (std::int64_t i = 2; i <= r - 2; ++i) {              // (b): p_r, p_1, p_2, … without p_i
    std::int64_t step = 0;
    at(i, r) = step++;
    for (std::int64_t j = 1; j < r; ++j) {
      if (j != i) at(i, j) = step++;
    }
  }
  const std::int64_t c = r - 1;  // (c)
  if (odd) {
    at(c, low) = 0;
    at(c, high) = 1;
    at(c, r) = 2;
    at(c, 1) = low == 1 ? at(c, 1) : 3;
    for (std::int64_t j = 2; j < low; ++j) at(c, j) = 5 + 2 * (j - 2);
    for (std::int64_t j = high + 1; j < r - 1; ++j) at(c, j) = 4 + 2 * (j - high - 1);
  } else {
    at(c, low) = 0;
    at(c, 1) = 1;
    at(c, r) = 2;
    for (std::int64_t j = 2; j < low; ++j) at(c, j) = 4 + 2 * (j - 2);
    for (std::int64_t j = low + 1; j < r - 1; ++j) at(c, j) = 3 + 2 * (j - low - 1);
  }
  // (d): "one step after item i-1" is the same offset, "one step before" two less.
  for (std::int64_t j = 2; j < r; ++j) at(r, j) = at(c, j) - 2;
  if (odd) {
    at(r, 1) = 0;
    at(r, low) = printed_L > 0 ? printed_L : r - 2;
    at(r, high) = at(c, high);
    at(r, r - 1) = printed_L > 0 ? printed_L - 1 : r - 3;
  } else {
    at(r, 1) = 2;
    at(r, low) = at(c, low);
    at(r, r - 1) = printed_L > 0 ? printed_L : r - 3;
    for (std::int64_t j = 2; j < low; ++j) at(r, j) = at(c, j);
  }
  return offsets;
}

}  // namespace chasqui::plan::stream_detail
