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
  BufferCopy(void* out, ByteRange range);
  void restore() const;
  const std::byte* at(MPI_Aint offset) const { return bytes_.data() + (offset - range_.low); }

 private:
  std::byte* where_;
  ByteRange range_;
  std::vector<std::byte> bytes_;
};

/// For sums of floating-point and complex numbers the magnitudes of the operands, added up over all ranks for each
/// element: what rounding is measured against where large operands cancel. Empty for other calls. Collective over `comm`,
/// before the call: in place the operands are still there.
std::vector<double> operand_sizes(const CallFacts& facts, MPI_Comm comm);

/// 0 when the result in the program's buffer is that of `other`: the same bytes, but for padding in numbers and pairs that MPI
/// names (MPI_LONG_DOUBLE_INT); floating-point and complex numbers up to rounding. Otherwise the largest difference relative to a result or its operands, or 1.
double difference(const BufferCopy& other, const CallFacts& facts, const std::vector<double>& sizes);

}  // namespace chasqui::preload
