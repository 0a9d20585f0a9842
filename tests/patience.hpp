// SPDX-License-Identifier: MIT
// How much longer tests may take than usual before they count as hanging.
#pragma once

namespace chasqui {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr unsigned kPatience = 8;
#else
inline constexpr unsigned kPatience = 1;
#endif

}  // namespace chasqui
