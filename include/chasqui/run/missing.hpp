// SPDX-License-Identifier: MIT
// Waiting for many ranks at once: all that are still missing are looked at in one sweep without branches, so that the
// cache misses overlap instead of following each other.
#pragma once

#include <bit>
#include <cstdint>

namespace chasqui::run {

class Missing {
 public:
  Missing() = default;
  Missing(int first, int last) : base_(first), last_(last), word_(ones(last - first)) {}

  /// True once `ready` has said yes for every rank of the range.
  template <typename Ready>
  bool none(Ready ready) {
    while (base_ < last_) {
      std::uint64_t now = 0;
      for (std::uint64_t left = word_; left != 0; left &= left - 1) {
        const int i = std::countr_zero(left);
        now |= static_cast<std::uint64_t>(ready(base_ + i)) << i;
      }
      word_ &= ~now;
      if (word_ != 0) return false;
      base_ += 64;
      word_ = ones(last_ - base_);
    }
    return true;
  }

 private:
  static std::uint64_t ones(int n) { return n >= 64 ? ~std::uint64_t{0} : n <= 0 ? 0 : (std::uint64_t{1} << n) - 1; }

  int base_ = 0;
  int last_ = 0;
  std::uint64_t word_ = 0;
};

}  // namespace chasqui::run
