// SPDX-License-Identifier: MIT
// Hints about lines of the cache.
#pragma once

namespace chasqui {

/// Asks for the line of this address, which will be read soon, without waiting for it. The empty statement is for GCC: a function that only
/// asks for lines would be one without any effect to it, and calls of it would be left out.
inline void ask_for_line(const void* address) {
  __builtin_prefetch(address);
  asm volatile("");
}

/// The same of a line that will be written soon. For x86-64 in general GCC would ask for it to be read only.
inline void ask_to_write_line(const void* address) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
#else
  __builtin_prefetch(address, 1);
  asm volatile("");
#endif
}

}  // namespace chasqui
