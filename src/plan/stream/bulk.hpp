// SPDX-License-Identifier: MIT
// Streams at the bound for large latencies: of many equal blocks most take letters by one pattern, in bulk, and what
// remains is small enough to be balanced block by block. No composition, no certificate: every plan is checked.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/stream/recipe.hpp"

namespace chasqui::plan::stream_detail {

/// A recipe for n ranks of delay L + B(n), or nothing: if the rest resists, or if the words of all block types together
/// would be too long to keep. Time: seconds at L = 10 000, P = 10^6. REQUIRES L >= 3, n >= L+2.
std::optional<Recipe> balance_in_bulk(std::int64_t L, std::int64_t n);

}  // namespace chasqui::plan::stream_detail
