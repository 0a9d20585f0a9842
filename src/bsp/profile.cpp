// SPDX-License-Identifier: MIT
#include "bsp/profile.hpp"

#include <cstdlib>

namespace chasqui::bsp::detail {

std::int64_t default_block_bytes() {
  return 64 * 1024;
}

}  // namespace chasqui::bsp::detail
