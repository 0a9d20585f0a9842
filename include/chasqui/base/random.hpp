// SPDX-License-Identifier: MIT
// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): numbers that are the same on every platform, which those of the
// standard distributions are not.
#pragma once

#include <cstdint>

namespace chasqui {

inline constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15ULL;  ///< 2^64 / phi, odd: the generator's increment

/// The generator's finaliser, a bijection of 64 bits.
constexpr std::uint64_t mix_bits(std::uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31U);
}
/// A sequence of random bits; equal seeds give equal sequences.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}  ///< any seed will do, 0 too

  std::uint64_t next() { return mix_bits(state_ += kGoldenRatio); }  ///< 64 bits

  /// Uniform in 0 .. bound-1. REQUIRES bound > 0.
  int below(int bound) {
    return static_cast<int>(((next() >> 32U) * static_cast<std::uint64_t>(static_cast<unsigned>(bound))) >> 32U);
  }

  /// Uniform in [0, 1).
  double unit() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace chasqui
