// SPDX-License-Identifier: MIT
// Memory that others may still use when its owner cannot wait for them any more: it is never given back.
#pragma once

#include <atomic>
#include <new>

namespace chasqui::run {

/// `memory` came from new. It stays where leak checkers find it.
inline void keep_for_ever(const void* memory) noexcept {
  struct Kept {
    const void* memory;
    Kept* before;
  };
  static std::atomic<Kept*> latest{nullptr};
  auto* const one = new (std::nothrow) Kept{memory, nullptr};
  if (one != nullptr) one->before = latest.exchange(one);
}

}  // namespace chasqui::run
