// SPDX-License-Identifier: MIT
// A count for a message, where it may have saturated (arithmetic.hpp): it is not named as if it were known.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>

#include "chasqui/base/arithmetic.hpp"

namespace chasqui {

/// "12", or "2^63 or more".
inline std::string in_words(std::int64_t count) {
  return count == kSaturated ? "2^63 or more" : fmt::format("{}", count);
}

}  // namespace chasqui
