// SPDX-License-Identifier: MIT
// The program's new and delete, for one source file of a test: an allocation fails where allocation_fails() says so, which that file
// defines.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

static bool allocation_fails();

static void* allocate(std::size_t bytes, std::size_t alignment) {
  void* memory = nullptr;
  if (allocation_fails() || posix_memalign(&memory, alignment, bytes) != 0) throw std::bad_alloc();
  return memory;
}

/// Not seen by the compiler, which would warn of memory from one of the operators below.
[[gnu::noinline]] static void give_back(void* memory) noexcept { std::free(memory); }

void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return operator new(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }
