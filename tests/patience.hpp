// SPDX-License-Identifier: MIT
// How much longer tests may take than usual before they count as hanging.
#pragma once

#include "sanitized.hpp"

namespace chasqui {

inline constexpr unsigned kPatience = kSanitized ? 8 : 1;

}  // namespace chasqui
