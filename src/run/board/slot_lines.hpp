// SPDX-License-Identifier: MIT
// Where the slots of a board lie. A collective has a row of the ring, in it a slot for each rank: lines for its contribution and for
// what it has folded, and a wide part beside them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "run/board/shape.hpp"

namespace chasqui::run {

/// The lines of a rank in one collective.
enum class Place {
  first,          ///< its contribution
  second,         ///< the rest of it, from 57 bytes on
  result,         ///< what it folded for its group
  second_result,  ///< the rest of that
  further,        ///< and from here on the lines after those two, of contributions and results by turns
};

/// As one rank sees them. Addresses only: what may be read and written when is said in board.hpp.
class SlotLines {
 public:
  struct alignas(kLine) Line {
    std::atomic<std::uint64_t> header;
    std::byte payload[kLinePayload];
  };
  static_assert(sizeof(Line) == kLine);

  static std::size_t line_bytes(const BoardShape& shape);  ///< of memory for all lines
  static std::size_t bytes(const BoardShape& shape);       ///< and for the wide parts, which lie behind them

  SlotLines() = default;
  SlotLines(std::byte* memory, const BoardShape& shape, int rank);

  /// line() is asked about this collective from now on.
  void go_to(std::uint64_t sequence) { present_ = row(sequence); }
  /// REQUIRES go_to(sequence).
  Line* line(std::uint64_t sequence, int slot, Place place) const {
    if (place >= Place::further) return further_line(sequence, slot, place);
    return present_ + spacing_ * static_cast<std::size_t>(slot) + offset(place);
  }
  /// This rank's in any collective.
  Line* own_first(std::uint64_t sequence) const { return row(sequence) + own_slot_; }
  Line* own_line(std::uint64_t sequence, Place place) const {
    return place < Place::further ? own_first(sequence) + offset(place) : further_line(sequence, rank_, place);
  }
  std::byte* wide(std::uint64_t sequence, int slot) const { return wide_ + slot_number(sequence, slot) * wide_stride_; }
  /// Bytes from a slot's lines to those of the next slot.
  std::size_t stride(Place place) const { return (place < Place::further ? spacing_ : further_) * kLine; }

 private:
  Line* row(std::uint64_t sequence) const { return first_ + sequence % kSlotRing * row_; }
  std::size_t offset(Place place) const {
    const auto which = static_cast<std::size_t>(place);
    return which / 2 * results_ + which % 2 * (spacing_ / 2);
  }
  std::size_t slot_number(std::uint64_t sequence, int slot) const {
    return sequence % kSlotRing * ranks_ + static_cast<std::size_t>(slot);
  }
  Line* further_line(std::uint64_t sequence, int slot, Place place) const {
    return more_ + slot_number(sequence, slot) * further_ +
           (static_cast<std::size_t>(place) - static_cast<std::size_t>(Place::further));
  }

  Line* present_ = nullptr;  ///< the row of the present collective
  Line* first_ = nullptr;
  Line* more_ = nullptr;  ///< from the third line of a contribution on
  std::byte* wide_ = nullptr;
  std::size_t ranks_ = 0;
  std::size_t spacing_ = 0;   ///< lines from slot to slot
  std::size_t row_ = 0;       ///< lines of all slots of a collective
  std::size_t own_slot_ = 0;  ///< lines from the first slot to this rank's
  std::size_t results_ = 0;   ///< lines from contributions to results
  std::size_t further_ = 0;   ///< a rank has so many there, for contributions and results
  /// An odd number of lines, so that they spread over the sets of a cache.
  std::size_t wide_stride_ = 0;
  int rank_ = 0;
};

}  // namespace chasqui::run
