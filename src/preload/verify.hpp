// SPDX-License-Identifier: MIT
// CHASQUI_VERIFY: the program's output buffer, kept and compared.
#pragma once

#include <cstddef>
#include <vector>

#include "serve.hpp"

namespace chasqui::preload {

/// A copy of the bytes of a buffer.
class Region {
 public:
  Region(void* out, Span span);
  void restore() const;
  const std::byte* at(MPI_Aint offset) const { return bytes_.data() + (offset - span_.low); }

 private:
  std::byte* where_;
  Span span_;
  std::vector<std::byte> bytes_;
};

/// 0 when the result in the program's buffer is that of `other`: the same bytes; floating-point sums up to rounding.
/// Otherwise the largest relative difference, or 1.
double difference(const Region& other, const Demand& demand);

}  // namespace chasqui::preload
