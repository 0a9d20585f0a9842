// SPDX-License-Identifier: MIT
// Folding short values that lie in lines of a board, whose payloads are aligned to 8 bytes.
#pragma once

#include <cstddef>
#include <cstring>

#include "chasqui/run/call.hpp"
#include "run/board/board.hpp"

namespace chasqui::run {

/// The same where elements must be copied: they may need an alignment of 16, or are folded two by two.
[[gnu::noinline]] inline void fold_copies(const Call& call, const std::byte* first, std::size_t stride, int n,
                                          void* out, std::size_t count) {
  const std::size_t bytes = count * call.element;
  alignas(kLargestAlignment) std::byte fold[kLinePayload];
  alignas(kLargestAlignment) std::byte value[kLinePayload];
  std::memcpy(fold, first, bytes);
  for (int i = 1; i < n; ++i) {
    std::memcpy(value, first + static_cast<std::size_t>(i) * stride, bytes);
    call.op(fold, value, fold, count);
  }
  std::memcpy(out, fold, bytes);
}

/// out = the n values that begin `stride` bytes apart, folded in order; `count` elements that fit a line.
/// `out` is none of the values.
inline void fold_values(const Call& call, const std::byte* first, std::size_t stride, int n, void* out,
                        std::size_t count) {
  if (count == 0) return;
  const bool where_they_lie = call.op.fold != nullptr && call.element % 16 != 0;
  if (where_they_lie) call.op.fold(call.op.context, first, stride, static_cast<std::size_t>(n), out, count);
  else fold_copies(call, first, stride, n, out, count);
}

}  // namespace chasqui::run
