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
  further,  ///< and from here on lines of contributions that take more than two, then as many of what was folded of them
};

/// Where a rank has its lines of a call that writes so many several times: the first time its contribution. Fewer times than line_sets().
constexpr Place place_of(int time, int lines, bool further) {
  const auto from = [](Place place, int so_many) { return static_cast<Place>(static_cast<int>(place) + so_many); };
  if (lines > 2) return from(Place::further, time * lines);
  if (time == 0) return Place::first;
  if (further) return from(Place::further, (time - 1) * lines);
  return time < 3 ? from(Place::result, time - 1) : Place::second;
}

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

  /// line() and wide() are asked about this collective from now on.
  void go_to(std::uint64_t sequence) {
    const std::size_t row = sequence % kSlotRing;
    present_ = first_ + row * row_;
    present_further_ = more_ + row * ranks_ * further_;
    present_wide_ = wide_ + row * ranks_ * wide_stride_;
  }
  Line* line(int slot, Place place) const {
    const auto number = static_cast<std::size_t>(slot);
    if (place < Place::further) return present_ + spacing_ * number + offset(place);
    return present_further_ + further_ * number + beyond(place);
  }
  std::byte* wide(int slot) const { return present_wide_ + static_cast<std::size_t>(slot) * wide_stride_; }
  /// The lines of all slots at this place and those after it, of the present collective. All of them before Place::further, or none.
  class Cells {
   public:
    Cells(Line* first, std::size_t across, std::size_t along) : first_(first), across_(across), along_(along) {}
    Line* at(int slot, int part) const {
      return first_ + across_ * static_cast<std::size_t>(slot) + along_ * static_cast<std::size_t>(part);
    }

   private:
    Line* first_;
    std::size_t across_, along_;  ///< lines to the next slot, to the next part
  };
  Cells cells(Place from) const {
    const bool further = from >= Place::further;
    return {line(0, from), further ? further_ : spacing_, further ? 1 : spacing_ / 2};
  }
  /// This rank's in any collective.
  Line* own_first(std::uint64_t sequence) const { return row(sequence) + own_slot_; }
  Line* own_line(std::uint64_t sequence, Place place) const {
    if (place < Place::further) return own_first(sequence) + offset(place);
    return more_ + own_slot_number(sequence) * further_ + beyond(place);
  }
  std::byte* own_wide(std::uint64_t sequence) const { return wide_ + own_slot_number(sequence) * wide_stride_; }
  /// Bytes from a slot's lines to those of the next slot.
  std::size_t stride(Place place) const { return (place < Place::further ? spacing_ : further_) * kLine; }

 private:
  Line* row(std::uint64_t sequence) const { return first_ + sequence % kSlotRing * row_; }
  std::size_t offset(Place place) const {
    const auto which = static_cast<std::size_t>(place);
    return which / 2 * results_ + which % 2 * (spacing_ / 2);
  }
  static std::size_t beyond(Place place) {
    return static_cast<std::size_t>(place) - static_cast<std::size_t>(Place::further);
  }
  std::size_t own_slot_number(std::uint64_t sequence) const {
    return sequence % kSlotRing * ranks_ + static_cast<std::size_t>(rank_);
  }

  Line* present_ = nullptr;  ///< the row of the present collective; and where its further lines and wide parts begin
  Line* present_further_ = nullptr;
  std::byte* present_wide_ = nullptr;
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
