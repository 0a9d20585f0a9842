// SPDX-License-Identifier: MIT
// Up to which size the collectives of a board go through slots, and how folds do: what one publication costs and what
// each further line costs that is read, against the longer ways, which pay fewer copies with more handshakes.
#pragma once

#include <array>
#include <cstddef>

#include "chasqui/model/problem.hpp"

namespace chasqui::run {

/// What a board costs, in nanoseconds.
struct LineCosts {
  int ranks = 1;       ///< that share the board
  double publish = 0;  ///< one line from its writer to all readers
  double each = 0;     ///< reading each further line while everybody does
};

/// The ways through a board.
enum class Way {
  slots,   ///< everybody publishes, whoever needs it reads it
  led,     ///< all-reductions of one line or two: leaders fold for their groups
  dealt,   ///< longer folds: shares are folded by some for all
  lent,    ///< all-reduce of threads: the same, from each other's buffers onto the board
  direct,  ///< threads read each other's buffers
  staged,  ///< processes: through stages, in rounds
};

/// Nanoseconds of a collective that puts `bytes` into a slot (a scatter: the blocks of all) on a way that is not `led`.
double way_time(const LineCosts& costs, Way way, Kind kind, double bytes);

/// The sizes at which a board changes its way, in bytes of what a slot holds.
class SlotLimits {
 public:
  SlotLimits() = default;  ///< nothing but lines and stages
  /// For slots of at most `wide` bytes beside their lines.
  SlotLimits(const LineCosts& costs, std::size_t wide, bool threads);

  /// Of what does not fit the lines of a slot.
  Way way(Kind kind, std::size_t bytes) const {
    const auto k = static_cast<std::size_t>(kind);
    if (bytes > most_[k]) return kind == Kind::allreduce && bytes <= lent_most_ ? Way::lent : long_;
    return bytes >= dealt_from_[k] ? Way::dealt : Way::slots;
  }

 private:
  static constexpr std::size_t kKinds = 8;        ///< broadcast .. barrier
  std::array<std::size_t, kKinds> most_{};        ///< longer ones go the long way
  std::array<std::size_t, kKinds> dealt_from_{};  ///< folds from here on are dealt
  std::size_t lent_most_ = 0;                     ///< all-reduces up to here are folded from lent buffers
  Way long_ = Way::staged;
};

}  // namespace chasqui::run
