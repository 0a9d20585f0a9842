// SPDX-License-Identifier: MIT
#include "verify/tiling.hpp"

#include <algorithm>
#include <functional>

namespace chasqui::verifier {

void Pieces::sort() {
  std::sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) { return a.lo < b.lo; });
}

/// Calls visit(offset from lo, piece) for the pieces that begin inside the interval, by offset; stops when it says so.
template <typename Visit>
void Pieces::sweep(std::int64_t lo, std::int64_t len, Visit visit) const {
  const std::size_t m = pieces_.size();
  const auto start =
      std::lower_bound(pieces_.begin(), pieces_.end(), lo, [](const Piece& p, std::int64_t x) { return p.lo < x; });
  std::size_t at = static_cast<std::size_t>(start - pieces_.begin());
  for (std::size_t n = 0; n < m; ++n, ++at) {
    const Piece& piece = pieces_[at < m ? at : at - m];
    const std::int64_t offset = piece.lo >= lo ? piece.lo - lo : piece.lo - lo + circle_;
    if (offset >= len || !visit(offset, piece)) return;
  }
}

Cover Pieces::tile(std::int64_t lo, std::int64_t len, std::int64_t time) const {
  if (len == 0) return Cover::empty;
  return may_wrap_ && len == circle_ ? tile_circle(time) : tile_from(lo, len, time);
}

Cover Pieces::tile_from(std::int64_t lo, std::int64_t len, std::int64_t time) const {
  const auto usable = [&](std::int64_t offset, const Piece& piece) {
    return piece.available <= time && offset + piece.len <= len;
  };
  bool exact = false;
  reachable_.assign(1, 0);
  sweep(lo, len, [&](std::int64_t offset, const Piece& piece) {
    while (!reachable_.empty() && reachable_.front() < offset) {
      std::pop_heap(reachable_.begin(), reachable_.end(), std::greater<>());
      reachable_.pop_back();
    }
    if (reachable_.empty()) return false;
    if (reachable_.front() == offset && usable(offset, piece)) {
      exact = offset + piece.len == len;
      if (exact) return false;
      reachable_.push_back(offset + piece.len);
      std::push_heap(reachable_.begin(), reachable_.end(), std::greater<>());
    }
    return true;
  });
  if (exact) return Cover::exact;
  std::int64_t covered = 0;
  sweep(lo, len, [&](std::int64_t offset, const Piece& piece) {
    if (offset > covered) return false;
    if (usable(offset, piece)) covered = std::max(covered, offset + piece.len);
    return true;
  });
  return covered >= len ? Cover::overlapping : Cover::missing;
}

/// Exactly one piece of a tiling contains 0: try every such piece as the first.
Cover Pieces::tile_circle(std::int64_t time) const {
  std::int64_t last = -1;
  for (const Piece& piece : pieces_) {
    const bool contains_zero = piece.lo == 0 || piece.lo + piece.len > circle_;
    if (!contains_zero || piece.lo == last || piece.available > time) continue;
    last = piece.lo;
    if (tile_from(piece.lo, circle_, time) == Cover::exact) return Cover::exact;
  }
  return heard(0, circle_, time) ? Cover::overlapping : Cover::missing;
}

bool Pieces::heard(std::int64_t lo, std::int64_t len, std::int64_t time) const {
  std::int64_t covered = 0;
  for (const Piece& piece : pieces_) {  // those that begin before lo and reach into the interval
    if (piece.available > time) continue;
    const std::int64_t offset = piece.lo >= lo ? piece.lo - lo : piece.lo - lo + circle_;
    covered = std::max(covered, offset + piece.len - circle_);
  }
  sweep(lo, len, [&](std::int64_t offset, const Piece& piece) {
    if (offset > covered) return false;
    if (piece.available <= time) covered = std::max(covered, offset + piece.len);
    return true;
  });
  return covered >= len;
}

}  // namespace chasqui::verifier
