// SPDX-License-Identifier: MIT
// Half floats and floats, in both directions; rounding is to nearest, ties to even.
#pragma once

#include <bit>
#include <cstdint>

namespace chasqui::c {

struct BFloat16 {
  std::uint16_t bits;
};
struct Float16 {
  std::uint16_t bits;
};

inline float to_float(BFloat16 x) { return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16); }
inline void from_float(float x, BFloat16& to) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  to.bits = static_cast<std::uint16_t>(nan ? bits >> 16 | 0x40u : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

inline float to_float(Float16 x) {
  const std::uint32_t sign = (x.bits & 0x8000u) << 16, rest = x.bits & 0x7fffu;
  if (rest >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
  // Scaled by a power of two, which also makes subnormal numbers right: 2^112 brings the exponents together.
  const float value = std::bit_cast<float>(rest << 13) * 0x1p112f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
}
inline void from_float(float x, Float16& to) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
  std::uint32_t half;
  if (rest > 0x7f800000u) half = 0x7e00u | (rest >> 13 & 0x3ffu);
  else if (rest >= 0x477ff000u) half = 0x7c00u;  // rounds beyond the largest, or is infinite
  else if (rest >= 0x38800000u) half = (rest - 0x38000000u + 0xfffu + (rest >> 13 & 1u)) >> 13;
  else
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(rest) + 0.5f) - 0x3f000000u;  // subnormal: the sum rounds
  to.bits = static_cast<std::uint16_t>(sign | half);
}

}  // namespace chasqui::c
