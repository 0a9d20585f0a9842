// SPDX-License-Identifier: MIT
#include "run/board/counters.hpp"

namespace chasqui::run {

std::uint64_t Reached::refreshed(std::uint64_t needed) {
  const auto behind = [&](int r) {
    std::uint64_t& at = at_[static_cast<std::size_t>(r)];
    if (at < needed) at = (counters_[r].*which_).load(std::memory_order_acquire);
    return at < needed;
  };
  if (!behind(behind_)) {
    const int ranks = static_cast<int>(at_.size());
    int r = 0;
    while (r < ranks && !behind(r)) ++r;
    if (r < ranks) behind_ = r;
  }
  return *std::ranges::min_element(at_);
}

}  // namespace chasqui::run
