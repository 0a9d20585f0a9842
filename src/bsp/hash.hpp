// SPDX-License-Identifier: MIT
// Names of machines that every processor computes alone.
#pragma once

#include "chasqui/base/random.hpp"

namespace chasqui::bsp::detail {

constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  return mix_bits(a + kGoldenRatio * (b + 1)) | 1;  // never 0: 0 means "no machine"
}

/// Subset synchronisations of one machine share this split number: the ledger treats them as side by side.
inline constexpr std::uint64_t kSubsetSplit = ~std::uint64_t{0};

}  // namespace chasqui::bsp::detail
