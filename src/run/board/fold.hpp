// SPDX-License-Identifier: MIT
// Folding the contributions of many ranks in rank order: long ones a cache-sized piece at a time, short ones where they
// lie in the lines of a board.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "chasqui/run/call.hpp"
#include "run/board/copy.hpp"
#include "run/board/shape.hpp"
#include "run/call/aligned_buffer.hpp"

namespace chasqui::run {

/// Lines of a contribution that is folded line by line: one of a barrier.
inline int parts_of(const Call& call) {
  const bool one = call.kind == Kind::barrier || call.bytes() <= kLinePayload;
  return one ? 1 : lines_of(static_cast<std::size_t>(call.count), call.element);
}

/// to = source(0) o … o source(n-1) on `count` elements. `to` may be any of the sources, nothing else overlaps.
/// ahead: the sources lie in other caches; short pieces, and each is asked for while the one before it is folded.
template <typename Source>
void fold_in_order(const Call& call, int n, std::size_t count, void* to, Source source, bool ahead = false) {
  if (call.op.fold_many != nullptr && n > 1 && count != 0) {
    thread_local std::vector<const void*> kept;
    Borrowed values(kept);
    values->clear();
    for (int r = 0; r < n; ++r) values->push_back(source(r));
    return call.op.fold_many(call.op.context, values->data(), values->size(), to, count);
  }
  const std::size_t element = call.element;
  const std::size_t step = std::max<std::size_t>(1, (ahead ? 1024 : 8192) / element);
  const auto fetch = [&](int r, std::size_t at) {
    if (ahead && r < n) fetch_lines(source(r) + at * element, std::min(step, count - at) * element);
  };
  thread_local AlignedBuffer kept;
  Borrowed scratch(kept);
  std::byte* piece = scratch->grown_to(step * element);
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

/// fold_values() where elements must be copied: they may need an alignment of 16, or are folded two by two.
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

/// out = the n values that begin `stride` bytes apart, folded in order; `count` elements that fit a line,
/// whose payload is aligned to 8 bytes. `out` is none of the values.
inline void fold_values(const Call& call, const std::byte* first, std::size_t stride, int n, void* out,
                        std::size_t count) {
  if (n == 1) return copy_short(out, first, count * call.element);
  if (count == 0) return;
  const bool where_they_lie = call.op.fold != nullptr && call.element % 16 != 0;
  if (where_they_lie) call.op.fold(call.op.context, first, stride, static_cast<std::size_t>(n), out, count);
  else fold_copies(call, first, stride, n, out, count);
}

/// The same of values that lie anywhere, value(0) … value(n-1).
template <typename Value>
void fold_scattered(const Call& call, int n, Value value, void* out, std::size_t count) {
  const std::size_t bytes = count * call.element;
  alignas(kLargestAlignment) std::byte fold[kLinePayload];
  alignas(kLargestAlignment) std::byte next[kLinePayload];
  copy_short(fold, value(0), bytes);
  for (int i = 1; i < n && count != 0; ++i) {
    copy_short(next, value(i), bytes);
    call.op(fold, next, fold, count);
  }
  copy_short(out, fold, bytes);
}

}  // namespace chasqui::run
