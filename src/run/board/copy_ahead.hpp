// SPDX-License-Identifier: MIT
// Copies between caches.
#pragma once

#include <algorithm>
#include <cstring>

#include "run/board/board.hpp"

namespace chasqui::run {

/// Lines that others have read, or have just written: taken for writing, and asked for, a little ahead.
inline void copy_ahead(std::byte* to, const std::byte* from, std::size_t bytes) {
  constexpr std::size_t kAhead = 1024;
  for (std::size_t at = 0; at < bytes; at += kAhead) {
    const std::size_t end = std::min(bytes, at + 2 * kAhead);
    for (std::size_t line = at + kAhead; line < end; line += kLine) {
      own_line(to + line);
      __builtin_prefetch(from + line);
    }
    std::memcpy(to + at, from + at, std::min(kAhead, bytes - at));
  }
}

}  // namespace chasqui::run
