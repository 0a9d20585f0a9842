// SPDX-License-Identifier: MIT
// A small generator whose sequence is the same on every platform (the standard distributions are not).
#pragma once

#include <cstdint>

namespace chasqui::plan::kernel {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  /// SplitMix64.
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  }

  /// Uniform in 0 .. bound-1. REQUIRES bound > 0.
  int below(int bound) {
    return static_cast<int>(((next() >> 32U) * static_cast<std::uint64_t>(static_cast<unsigned>(bound))) >> 32U);
  }

  /// Uniform in [0, 1).
  double unit() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace chasqui::plan::kernel
