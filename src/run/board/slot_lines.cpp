// SPDX-License-Identifier: MIT
#include "run/board/slot_lines.hpp"

namespace chasqui::run {
namespace {

/// Of a contribution and of what was folded, where they take more than two lines.
std::size_t further_lines(const BoardShape& shape) {
  return shape.lines() > 2 ? 2 * static_cast<std::size_t>(shape.lines()) : 0;
}

constexpr std::size_t wide_stride_of(const BoardShape& shape) { return shape.wide + kLine; }

}  // namespace

std::size_t SlotLines::line_bytes(const BoardShape& shape) {
  return (2 * shape.spacing() + further_lines(shape)) * kSlotRing * static_cast<std::size_t>(shape.ranks) *
         sizeof(Line);
}

std::size_t SlotLines::bytes(const BoardShape& shape) {
  return line_bytes(shape) + kSlotRing * static_cast<std::size_t>(shape.ranks) * wide_stride_of(shape);
}

SlotLines::SlotLines(std::byte* memory, const BoardShape& shape, int rank)
    : first_(reinterpret_cast<Line*>(memory)), ranks_(static_cast<std::size_t>(shape.ranks)), spacing_(shape.spacing()),
      row_(spacing_ * ranks_), own_slot_(spacing_ * static_cast<std::size_t>(rank)), results_(kSlotRing * row_),
      further_(further_lines(shape)), wide_stride_(wide_stride_of(shape)), rank_(rank) {
  more_ = first_ + 2 * results_;
  wide_ = memory + line_bytes(shape);
  go_to(0);
}

}  // namespace chasqui::run
