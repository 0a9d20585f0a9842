// SPDX-License-Identifier: MIT
// How large the parts of a board are: lines, slots, stages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "chasqui/model/nearness.hpp"

namespace chasqui::run {

inline constexpr std::size_t kLine = 64;                                    ///< a cache line
inline constexpr std::size_t kLinePayload = kLine - sizeof(std::uint64_t);  ///< what fits besides its sequence number
inline constexpr std::size_t kSlotPayload = 2 * kLinePayload;               ///< a slot is two lines
inline constexpr std::size_t kWide = 16384;        ///< what a slot holds beside its lines, on boards of usual size
inline constexpr std::size_t kShortWide = 4096;    ///< on small boards, and of calls that are faster by stages beyond
inline constexpr std::size_t kWideFromAll = 2048;  ///< of 3 processes and more: what all read of several
inline constexpr std::size_t kSharedByAll = 8192;  ///< contributions to an all-reduce by shares
inline constexpr std::uint64_t kSlotRing = 16;     ///< slots a rank can be ahead of the slowest
inline constexpr std::size_t kLeastRound = 8192;   ///< bytes that a rank stages at once, at least
inline constexpr std::size_t kLeastStage = 2 * kLeastRound;  ///< staged calls are a round ahead of what is read
inline constexpr std::size_t kShortStage = 256 * 1024;       ///< where there are many boards

/// Lines from one slot to the next. Lines that processors fetch along with their neighbours are dearer to publish
/// (bench/node/lines.cpp), so there is space between them, on boards of usual size.
constexpr std::size_t slot_spacing(int ranks) { return ranks <= 64 ? 8 : 2; }

/// Lines of whole elements that a contribution takes which is folded line by line; 0: an element fits none.
constexpr int lines_of(std::size_t count, std::size_t element) {
  if (element > kLinePayload) return 0;
  return static_cast<int>(std::max<std::size_t>(1, (count + kLinePayload / element - 1) / (kLinePayload / element)));
}
/// As many as there are room for: 1 KiB of doubles, on boards of usual size.
constexpr int most_lines(int ranks) { return ranks <= 64 ? 19 : 2; }

/// How often a rank can write so many lines in a call, each time elsewhere. `further`: the board has room for contributions of more than two.
constexpr int line_sets(int lines, bool further) {
  constexpr int kMost = most_lines(1);
  if (lines > 2) return 2 * kMost / lines;
  return further ? 1 + 2 * kMost / lines : 4 / lines;
}

/// Boards without a wide part have lines for short contributions only.
constexpr bool has_further_lines(int ranks, std::size_t wide) { return most_lines(ranks) > 2 && wide != 0; }

/// Elements that a rank folds of a shared fold: whole lines, and enough that there is a share at most for every rank.
constexpr std::size_t share_elements(std::size_t count, std::size_t element, int ranks) {
  const std::size_t a_line = std::max<std::size_t>(1, kLine / element);
  const std::size_t least = (count + static_cast<std::size_t>(ranks) - 1) / static_cast<std::size_t>(ranks);
  return (least + a_line - 1) / a_line * a_line;
}

/// Bytes of a chunk that passes from rank to rank. That takes ranks + chunks steps, of a flag's journey and a chunk's copies
/// each: the journey costs as much as about 1400 bytes. The first rank is as many chunks ahead of the last as there are ranks,
/// and so many more in its next call: all those fit `room`.
constexpr std::size_t pipeline_chunk(std::size_t bytes, std::size_t element, int ranks, std::size_t room) {
  constexpr std::size_t kJourney = 1400;
  const auto steps = static_cast<std::size_t>(ranks);
  std::size_t chunk = 1024;
  while (2 * chunk * chunk * steps <= kJourney * bytes && 2 * chunk * 2 * steps <= room) chunk *= 2;
  return (std::max(chunk, element) + kLine - 1) / kLine * kLine;
}

/// The size of a board; the same on all ranks.
struct BoardShape {
  int ranks = 1;                           ///< ranks that see it
  std::size_t stage = 256 * 1024;          ///< bytes a rank can have staged
  std::size_t wide = kWide;                ///< bytes of a slot beside its lines; 0: none
  std::size_t ring = 0;                    ///< bytes that a rank's stage moves through, if more than `stage`
  bool dense = false;                      ///< slots lie side by side and have two lines each
  std::shared_ptr<const Nearness> near{};  ///< which ranks are near each other; none: all alike, or nobody knows

  /// All stages together stay below 16 MiB, or below 64 MiB where that leaves a rank less than 256 KiB, or have kLeastStage
  /// each; the wide parts of all slots below 8 MiB.
  static BoardShape for_ranks(int ranks, std::size_t stage = 1024 * 1024, std::size_t wide = kWide);
  static BoardShape for_threads(int ranks);  ///< without stages: they read each other's buffers
  static BoardShape for_slots(int ranks);    ///< with the least stages. REQUIRES calls of which a slot holds kShortWide
  /// Dense, and with no room for anything but lines. REQUIRES calls of which a slot holds a line.
  static BoardShape for_lines(int ranks);
  std::size_t spacing() const { return dense ? 2 : slot_spacing(ranks); }  ///< lines from one slot to the next
  int lines() const { return dense ? 2 : most_lines(ranks); }              ///< of a contribution
  std::size_t stage_room() const { return std::max(stage, ring); }         ///< bytes of memory for each rank's stage
  std::size_t bytes() const;   ///< of memory, from an address that is a multiple of kLine
  std::size_t zeroed() const;  ///< so many bytes at its beginning must be zero
};

}  // namespace chasqui::run
