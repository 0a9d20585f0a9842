// SPDX-License-Identifier: MIT
// Copies whose target will not be read soon: past the caches where the processor can, so that no line is fetched only
// to be overwritten.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace chasqui::run {

inline constexpr std::size_t kStreamFrom = std::size_t{8} << 20;  ///< whole transfers of this size and more

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

}  // namespace chasqui::run
