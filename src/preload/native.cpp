// SPDX-License-Identifier: MIT
#include "preload/native.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdint>

namespace chasqui::preload {
namespace {

/// The memory of the library that holds an address.
struct Mapped {
  std::uintptr_t low = 0, high = 0;

  bool holds(std::uintptr_t address) const { return address >= low && address < high; }
};

Mapped library_at(const void* address) {
  struct Search {
    std::uintptr_t address;
    Mapped found{};
  } search{reinterpret_cast<std::uintptr_t>(address)};
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* context) {
        auto& sought = *static_cast<Search*>(context);
        Mapped all{UINTPTR_MAX, 0};
        for (int i = 0; i < library->dlpi_phnum; ++i) {
          const auto& part = library->dlpi_phdr[i];
          if (part.p_type != PT_LOAD) continue;
          all.low = std::min<std::uintptr_t>(all.low, library->dlpi_addr + part.p_vaddr);
          all.high = std::max<std::uintptr_t>(all.high, library->dlpi_addr + part.p_vaddr + part.p_memsz);
        }
        if (all.holds(sought.address)) sought.found = all;
        return all.holds(sought.address) ? 1 : 0;
      },
      &search);
  return search.found;
}

}  // namespace

void* next_function(const char* name) { return dlsym(RTLD_NEXT, name); }

constinit LibraryMemory library_memory{};

void find_library() {
  const Mapped library = library_at(next_function("PMPI_Get_library_version"));
  library_memory.begin.store(library.low, std::memory_order_relaxed);
  library_memory.bytes.store(std::max<std::uintptr_t>(1, library.high - library.low), std::memory_order_release);
}

}  // namespace chasqui::preload
