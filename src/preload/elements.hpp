// SPDX-License-Identifier: MIT
// Memory of our own for elements of any datatype, derived ones with gaps and negative bounds included.
#pragma once

#include <cstddef>
#include <vector>

#include "types.hpp"

namespace chasqui::preload {

/// `count` elements, their origins aligned as an allocation is.
class Elements {
 public:
  Elements(const TypeFacts& facts, MPI_Aint count) : extent_(facts.extent) {
    const Span span = span_of(facts, count);
    memory_.resize(static_cast<std::size_t>(span.high - span.low) / sizeof(std::max_align_t) + 2);
    constexpr MPI_Aint unit = sizeof(std::max_align_t);
    const MPI_Aint shift = span.low > 0 ? -(span.low / unit) * unit : (-span.low + unit - 1) / unit * unit;
    base_ = moved(static_cast<void*>(memory_.data()), shift);
  }
  void* at(MPI_Aint element) const { return moved(base_, element * extent_); }

 private:
  MPI_Aint extent_;
  std::vector<std::max_align_t> memory_;
  void* base_;
};

}  // namespace chasqui::preload
