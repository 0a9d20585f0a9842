// SPDX-License-Identifier: MIT
// Room for a long list on large pages, where the system has them: then few page faults when it is first filled, and few
// misses of the address translation when it is jumped about in. A hint; nothing depends on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace chasqui::simulate {

/// Like list.reserve(count). Call it before the list is filled.
template <typename Value>
void reserve_on_large_pages(std::vector<Value>& list, std::size_t count) {
  list.reserve(count);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t kPage = std::uintptr_t{2} << 20;
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(list.data()) + kPage - 1) / kPage * kPage;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(list.data() + list.capacity()) / kPage * kPage;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // refused: as before
#endif
}

}  // namespace chasqui::simulate
