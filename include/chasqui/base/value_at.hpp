// SPDX-License-Identifier: MIT
// Reading values that may lie anywhere in memory.
#pragma once

#include <cstddef>
#include <cstring>

namespace chasqui {

/// Value i of those side by side at `values`.
template <typename T>
T value_at(const void* values, std::size_t i) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(values) + i * sizeof(T), sizeof(T));
  return value;
}

}  // namespace chasqui
