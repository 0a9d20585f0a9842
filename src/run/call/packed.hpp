// SPDX-License-Identifier: MIT
// A call whose data lies side by side: the caller's own where it does, otherwise copies, brought back at the end. Of an
// exchange in place the input is a copy.
#pragma once

#include "chasqui/run/call.hpp"
#include "run/call/aligned_buffer.hpp"

namespace chasqui::run {

struct Packed {
  Call call;              ///< with packed buffers
  Call user;              ///< as the caller passed it
  AlignedBuffer in, out;  ///< the copies

  Packed() = default;
  Packed(const Call& call, int rank, int size);
  Packed(const Packed&) = delete;
  Packed& operator=(const Packed&) = delete;

  /// The results, to where the caller wants them.
  void deliver(int rank, int size) const;
};

}  // namespace chasqui::run
