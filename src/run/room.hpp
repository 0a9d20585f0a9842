// SPDX-License-Identifier: MIT
// Room for values that elements of any alignment may live in, and copying between such places.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

namespace chasqui::run {

using Room = std::vector<std::max_align_t>;

inline Room room_for(std::size_t bytes) { return Room(bytes / sizeof(std::max_align_t) + 1); }
inline std::byte* bytes_of(Room& room) { return reinterpret_cast<std::byte*>(room.data()); }

inline void copy_bytes(void* to, const void* from, std::size_t bytes) {
  if (bytes != 0 && to != from) std::memmove(to, from, bytes);
}

}  // namespace chasqui::run
