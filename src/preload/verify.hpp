// SPDX-License-Identifier: MIT
// CHASQUI_VERIFY: the program's output buffer, kept and compared.
#pragma once

#include <cstddef>
#include <vector>

#include "preload/serve.hpp"

namespace chasqui::preload {

/// A copy of the bytes of a buffer.
class BufferCopy {
 public:
  BufferCopy(void* out, ByteRange span);
  void restore() const;
  const std::byte* at(MPI_Aint offset) const { return bytes_.data() + (offset - span_.low); }

 private:
  std::byte* where_;
  ByteRange span_;
  std::vector<std::byte> bytes_;
};

/// 0 when the result in the program's buffer is that of `other`: the same bytes; floating-point sums up to rounding.
/// Otherwise the largest relative difference, or 1.
double difference(const BufferCopy& other, const CallFacts& facts);

}  // namespace chasqui::preload
