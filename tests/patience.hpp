// SPDX-License-Identifier: MIT
// How much longer things take than on a quiet machine, at most.
#pragma once

#include "sanitized.hpp"

namespace chasqui {

/// Under a sanitizer. Times in which something must happen are multiplied with it.
inline constexpr unsigned kSlowdown = kSanitized ? 8 : 1;
/// Where others use the machine too, and stop its cores for seconds. Times after which a test counts as hanging are multiplied with it.
inline constexpr unsigned kPatience = 8 * kSlowdown;

}  // namespace chasqui
