// SPDX-License-Identifier: MIT
// Copies between caches, and past them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "chasqui/base/cache.hpp"
#include "run/board/shape.hpp"

namespace chasqui::run {

/// Asks for all lines at once.
inline void fetch_lines(const std::byte* data, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kLine) ask_for_line(data + at);
}

/// Takes all lines for writing before they are written, without waiting for them.
inline void own_lines(void* data, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kLine) ask_to_write_line(static_cast<std::byte*>(data) + at);
}

/// memcpy of what fits a line, without a call for the usual word and for as much as a line holds.
inline void copy_short(void* to, const void* from, std::size_t bytes) {
  if (bytes == sizeof(std::uint64_t)) std::memcpy(to, from, sizeof(std::uint64_t));
  else if (bytes == kLinePayload) std::memcpy(to, from, kLinePayload);
  else if (bytes != 0) std::memcpy(to, from, bytes);
}

/// Lines that others have read, or have just written: taken for writing, and asked for, a little ahead.
inline void copy_ahead(std::byte* to, const std::byte* from, std::size_t bytes) {
  constexpr std::size_t kAhead = 1024;
  for (std::size_t at = 0; at < bytes; at += kAhead) {
    const std::size_t end = std::min(bytes, at + 2 * kAhead);
    for (std::size_t line = at + kAhead; line < end; line += kLine) {
      ask_to_write_line(to + line);
      ask_for_line(from + line);
    }
    std::memcpy(to + at, from + at, std::min(kAhead, bytes - at));
  }
}

inline constexpr std::size_t kStreamFrom = std::size_t{8} << 20;  ///< whole transfers of this size and more

/// For a target that will not be read soon: no line is fetched only to be overwritten, where the processor can do that.
inline void streaming_copy(void* to, const void* from, std::size_t bytes) {
#if defined(__SSE2__)
  auto* target = static_cast<char*>(to);
  const auto* source = static_cast<const char*>(from);
  while (bytes != 0 && reinterpret_cast<std::uintptr_t>(target) % 16 != 0) {
    *target++ = *source++;
    --bytes;
  }
  for (; bytes >= 64; bytes -= 64, source += 64, target += 64) {
    const auto* s = reinterpret_cast<const __m128i*>(source);
    auto* t = reinterpret_cast<__m128i*>(target);
    const __m128i a = _mm_loadu_si128(s), b = _mm_loadu_si128(s + 1), c = _mm_loadu_si128(s + 2),
                  d = _mm_loadu_si128(s + 3);
    _mm_stream_si128(t, a);
    _mm_stream_si128(t + 1, b);
    _mm_stream_si128(t + 2, c);
    _mm_stream_si128(t + 3, d);
  }
  _mm_sfence();
  if (bytes != 0) std::memcpy(target, source, bytes);
#else
  std::memcpy(to, from, bytes);
#endif
}

/// Past the caches when the whole transfer is long.
inline void copy_out(void* to, const void* from, std::size_t bytes, std::size_t whole) {
  if (whole >= kStreamFrom) streaming_copy(to, from, bytes);
  else std::memcpy(to, from, bytes);
}

/// A block that may be empty, or lie where it belongs.
inline void copy_block(std::byte* to, const std::byte* from, std::size_t bytes, std::size_t whole = 0) {
  if (bytes != 0 && to != from) copy_out(to, from, bytes, whole);
}

}  // namespace chasqui::run
