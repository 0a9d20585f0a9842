// SPDX-License-Identifier: MIT
// The critical block size used when the program sets none.
#pragma once

#include <cstdint>

namespace chasqui::bsp::detail {

/// B in bytes of the profile named by $CHASQUI_BSP_PROFILE, else 64 KiB. Read once per process.
std::int64_t default_block_bytes();

}  // namespace chasqui::bsp::detail
