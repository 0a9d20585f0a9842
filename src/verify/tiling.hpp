// SPDX-License-Identifier: MIT
// Can an interval on a circle be put together from given intervals, each used whole and none overlapping another?
#pragma once

#include <cstdint>
#include <vector>

namespace chasqui::verifier {

/// The fold of the contributions lo .. lo+len-1 (mod circle), there from `available` on.
struct Piece {
  std::int64_t lo = 0;
  std::int64_t len = 0;
  std::int64_t available = 0;
};

enum class Cover : unsigned char {
  exact,        ///< a tiling exists
  overlapping,  ///< the pieces inside the interval cover it, but only by counting something twice
  missing,      ///< they do not even cover it
  empty,        ///< there is nothing to cover
};

/// What one processor has, ever. Build once, ask often.
class Pieces {
 public:
  Pieces(std::int64_t circle, bool may_wrap) : circle_(circle), may_wrap_(may_wrap) {}

  void clear() { pieces_.clear(); }
  void add(const Piece& piece) {
    if (piece.len > 0) pieces_.push_back(piece);
  }
  void sort();

  /// Can lo .. lo+len-1 be tiled by pieces available at `time`? If wrapping is allowed and the interval is the whole
  /// circle, the tiling may begin anywhere. Time: O(m log m) for m pieces that begin inside; for a whole circle times
  /// the number of pieces that contain 0.
  Cover tile(std::int64_t lo, std::int64_t len, std::int64_t time) const;
  /// Is every contribution of the interval inside some piece available at `time`? Pieces may overlap and stick out.
  bool heard(std::int64_t lo, std::int64_t len, std::int64_t time) const;

 private:
  Cover tile_from(std::int64_t lo, std::int64_t len, std::int64_t time) const;
  Cover tile_circle(std::int64_t time) const;
  template <typename Visit>
  void sweep(std::int64_t lo, std::int64_t len, Visit visit) const;

  std::int64_t circle_;
  bool may_wrap_;
  std::vector<Piece> pieces_;                    ///< by lo
  mutable std::vector<std::int64_t> reachable_;  ///< scratch: a heap of offsets that a tiling prefix ends at
};

}  // namespace chasqui::verifier
