// SPDX-License-Identifier: MIT
// Memory for values that elements of any alignment up to a line may live in, and copying between such places.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "chasqui/run/operator.hpp"

namespace chasqui::run {

/// Memory that nobody has written to yet.
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t bytes)
      : memory_(static_cast<std::byte*>(::operator new(std::max<std::size_t>(bytes, 1), kAlignment))), size_(bytes) {}

  std::byte* data() const { return memory_.get(); }
  std::size_t size() const { return size_; }  ///< bytes
  /// So many bytes; what was in it is lost if it must grow.
  std::byte* grown_to(std::size_t bytes) {
    if (size_ < bytes || memory_ == nullptr) *this = AlignedBuffer(bytes);
    return data();
  }

 private:
  static constexpr std::align_val_t kAlignment{kLargestAlignment};
  struct Release {
    void operator()(std::byte* memory) const { ::operator delete(memory, kAlignment); }
  };
  std::unique_ptr<std::byte, Release> memory_;
  std::size_t size_ = 0;
};

/// What a thread keeps from call to call, and nobody else uses meanwhile: an operator that calls a collective gets another one.
template <typename T>
class Borrowed {
 public:
  explicit Borrowed(T& kept) : kept_(kept), own_(std::move(kept)) {}
  ~Borrowed() { kept_ = std::move(own_); }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

  T* operator->() { return &own_; }

 private:
  T& kept_;
  T own_;
};

inline void copy_bytes(void* to, const void* from, std::size_t bytes) {
  if (bytes != 0 && to != from) std::memmove(to, from, bytes);
}

/// Where the part of `rank` begins when `count` elements are dealt to `ranks` ranks as evenly as possible.
inline std::size_t share_begin(std::size_t count, int ranks, int rank) {
  return count * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks);
}

}  // namespace chasqui::run
