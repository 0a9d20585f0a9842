// SPDX-License-Identifier: MIT
// Names of machines that every processor computes alone: a 64-bit mix (the finaliser of splitmix64).
#pragma once

#include <cstdint>

namespace chasqui::bsp::detail {

constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a + 0x9e3779b97f4a7c15ULL * (b + 1);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return (x ^ (x >> 31)) | 1;  // never 0: 0 means "no machine"
}

/// Subset synchronisations of one machine share this split number: the ledger treats them as side by side.
inline constexpr std::uint64_t kSubsetSplit = ~std::uint64_t{0};

}  // namespace chasqui::bsp::detail
