// SPDX-License-Identifier: MIT
// Folding the contributions of many ranks in rank order, a cache-sized piece at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "chasqui/run/call.hpp"
#include "run/call/aligned_buffer.hpp"

namespace chasqui::run {

/// to = source(0) o … o source(n-1) on `count` elements. `to` may be any of the sources, nothing else overlaps.
/// ahead: the sources lie in other caches; short pieces, and each is asked for while the one before it is folded.
template <typename Source>
void fold_in_order(const Call& call, int n, std::size_t count, void* to, Source source, bool ahead = false) {
  const std::size_t element = call.element;
  const std::size_t step = std::max<std::size_t>(1, (ahead ? 1024 : 8192) / element);
  const auto fetch = [&](int r, std::size_t at) {
    if (!ahead || r >= n) return;
    const std::byte* begin = source(r) + at * element;
    for (std::size_t line = 0; line < std::min(step, count - at) * element; line += 64)
      __builtin_prefetch(begin + line);
  };
  thread_local Room scratch;
  std::byte* piece = scratch.grown_to(step * element);
  for (std::size_t at = 0; at < count; at += step) {
    const std::size_t now = std::min(step, count - at);
    const std::size_t offset = at * element;
    if (n == 1) {
      std::memmove(static_cast<std::byte*>(to) + offset, source(0) + offset, now * element);
      continue;
    }
    fetch(2, at);
    call.op(source(0) + offset, source(1) + offset, piece, now);
    for (int r = 2; r < n; ++r) {
      fetch(r + 1, at);
      if (r + 2 >= n && at + step < count) fetch(r + 2 - n, at + step);  // the first two of the next piece
      call.op(piece, source(r) + offset, piece, now);
    }
    std::memcpy(static_cast<std::byte*>(to) + offset, piece, now * element);
  }
}

/// Where the part of `rank` begins when `count` elements are dealt to `ranks` ranks as evenly as possible.
inline std::size_t share_begin(std::size_t count, int ranks, int rank) {
  return count * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks);
}

}  // namespace chasqui::run
