// SPDX-License-Identifier: MIT
#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <tuple>

#include "verify/rules.hpp"

namespace chasqui::verifier {
namespace {

/// The fold of the contributions lo .. lo+len-1 (mod circle), there from `available` on.
struct Piece {
  std::int64_t lo = 0;
  std::int64_t len = 0;
  std::int64_t available = 0;
};

/// Can an interval on a circle be put together from given intervals, each used whole and none overlapping another?
/// What one processor has, ever. Build once, ask often.
class Pieces {
 public:
  Pieces(std::int64_t circle, bool may_wrap) : circle_(circle), may_wrap_(may_wrap) {}

  void clear() { pieces_.clear(); }
  void add(const Piece& piece) {
    if (piece.len > 0) pieces_.push_back(piece);
  }

  void sort() {
    std::sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) { return a.lo < b.lo; });
  }

  /// Can lo .. lo+len-1 be tiled by pieces available at `time`? If wrapping is allowed and the interval is the whole
  /// circle, the tiling may begin anywhere. Time: O(m log m) for m pieces that begin inside; for a whole circle times
  /// the number of pieces that contain 0.
  Cover tile(std::int64_t lo, std::int64_t len, std::int64_t time) const {
    if (len == 0) return Cover::empty;
    return may_wrap_ && len == circle_ ? tile_circle(time) : tile_from(lo, len, time);
  }

  /// Is every contribution of the interval inside some piece available at `time`? Pieces may overlap and stick out.
  bool heard(std::int64_t lo, std::int64_t len, std::int64_t time) const {
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

 private:
  Cover tile_from(std::int64_t lo, std::int64_t len, std::int64_t time) const {
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
  Cover tile_circle(std::int64_t time) const {
    std::int64_t last = -1;
    for (const Piece& piece : pieces_) {
      const bool contains_zero = piece.lo == 0 || piece.lo + piece.len > circle_;
      if (!contains_zero || piece.lo == last || piece.available > time) continue;
      last = piece.lo;
      if (tile_from(piece.lo, circle_, time) == Cover::exact) return Cover::exact;
    }
    return heard(0, circle_, time) ? Cover::overlapping : Cover::missing;
  }

  /// Calls visit(offset from lo, piece) for the pieces that begin inside the interval, by offset; stops when it says so.
  template <typename Visit>
  void sweep(std::int64_t lo, std::int64_t len, Visit visit) const {
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

  std::int64_t circle_;
  bool may_wrap_;
  std::vector<Piece> pieces_;                    ///< by lo
  mutable std::vector<std::int64_t> reachable_;  ///< scratch: a heap of offsets that a tiling prefix ends at
};

/// Where contributions lie: in a sum, ranks without operands have none and are skipped.
class Contributions {
 public:
  explicit Contributions(const Case& c) : P_(c.machine().P) {
    if (c.problem().kind != Kind::sum) return;
    before_.reserve(c.schedule().operands.size() + 1);
    before_.push_back(0);
    for (const std::int64_t operands : c.schedule().operands)
      before_.push_back(before_.back() + (operands > 0 ? 1 : 0));
  }

  std::int64_t count() const { return before_.empty() ? P_ : before_.back(); }

  /// REQUIRES: a well-formed interval.
  Piece piece(const Part& part, std::int64_t available) const {
    const std::int64_t lo = part.lo;
    const std::int64_t end = lo + part.len;
    std::int64_t len = before(std::min(end, P_)) - before(lo);
    if (end > P_) len += before(end - P_);
    return {count() == 0 ? 0 : before(lo) % count(), len, available};
  }

 private:
  std::int64_t before(std::int64_t rank) const {
    return before_.empty() ? rank : before_[static_cast<std::size_t>(rank)];
  }

  std::int64_t P_;
  std::vector<std::int64_t> before_;  ///< sum: contributions of smaller ranks
};

}  // namespace

std::optional<Part> promised_fold(const Case& c, Rank rank) {
  const auto P = static_cast<std::int32_t>(c.machine().P);
  switch (c.problem().kind) {
    case Kind::reduce:
    case Kind::sum:
      if (rank != c.problem().root) return std::nullopt;
      return Part{0, P};
    case Kind::scan: {
      const std::int32_t len = rank.index + (c.problem().exclusive ? 0 : 1);
      if (len == 0) return std::nullopt;
      return Part{0, len};
    }
    default: return Part{0, P};
  }
}

namespace {

/// `believed`, by index into Schedule::readings: is that what was read?
Folds judge_folds(const Case& c, const std::vector<bool>& believed) {
  const Contributions contributions(c);
  const bool barrier = c.problem().kind == Kind::barrier;
  Folds folds;
  folds.message.assign(c.schedule().sends.size(), Cover::exact);
  folds.publication.assign(c.schedule().publications.size(), Cover::exact);
  folds.result.assign(c.ranks().count(), Cover::exact);
  Pieces has(contributions.count(), c.problem().commutative);

  for (std::size_t id = 0; id < c.ranks().count(); ++id) {
    const Rank rank = c.ranks().rank(id);
    has.clear();
    has.add(contributions.piece({rank.index, 1}, 0));
    for (const Event& event : c.receptions().of(id)) {
      const Send& send = c.message(event.index);
      has.add(contributions.piece(send.part, c.available(event.index)));
      if (send.second.len > 0) has.add(contributions.piece(send.second, c.available(event.index)));
    }
    for (const Event& event : c.readings().of(id)) {
      if (!believed[event.index]) continue;
      const Reading& reading = c.schedule().readings[event.index];
      const std::int64_t available = event.time + c.nodes().read.ticks;
      has.add(contributions.piece(reading.part, available));
      if (reading.second.len > 0) has.add(contributions.piece(reading.second, available));
    }
    has.sort();

    Part proved{};  // a fold once made can be made again
    const auto judge = [&](const Part& part, std::int64_t time) {
      const Piece wanted = contributions.piece(part, time);
      if (part == proved && time >= 0) return Cover::exact;
      Cover cover = Cover::exact;
      if (!barrier) {
        cover = has.tile(wanted.lo, wanted.len, time);
      } else if (!has.heard(wanted.lo, wanted.len, time)) {
        cover = Cover::missing;
      }
      if (cover == Cover::exact) proved = part;
      return cover;
    };
    for (const Event& event : c.sends().of(id)) {
      const Send& send = c.message(event.index);
      Cover cover = judge(send.part, event.time);
      if (send.second.len > 0) cover = std::max(cover, judge(send.second, event.time));
      folds.message[event.index] = cover;
    }
    proved = Part{};  // publications are judged from the start of time again
    for (const Event& event : c.publications().of(id)) {
      const Publication& publication = c.schedule().publications[event.index];
      Cover cover = judge(publication.part, event.time);
      if (publication.second.len > 0) cover = std::max(cover, judge(publication.second, event.time));
      folds.publication[event.index] = cover;
    }

    const std::optional<Part> promise = promised_fold(c, rank);
    if (!promise) continue;
    constexpr std::int64_t kEver = std::numeric_limits<std::int64_t>::max();
    folds.result[id] = judge(*promise, kEver);
  }
  return folds;
}

using Content = std::tuple<Rank, Part, Part>;  ///< who published what

std::set<Content> contents(const Case& c, const std::function<bool(std::uint32_t)>& counts) {
  std::set<Content> all;
  for (std::size_t id = 0; id < c.ranks().count(); ++id) {
    for (const Event& event : c.publications().of(id)) {
      const Publication& p = c.schedule().publications[event.index];
      if (counts(event.index)) all.insert({p.rank, p.part, p.second});
    }
  }
  return all;
}

}  // namespace

/// Where publishing and reading take no time, ranks could make folds from each other's and from nothing else. There a reading is believed
/// once what it reads could be made without it. (What was never published, or later, is for rule 9 to report.)
Folds judge_folds(const Case& c) {
  const bool in_no_time = c.nodes().publish + c.nodes().read == Time{0};
  std::vector<bool> believed(c.schedule().readings.size(), !in_no_time);
  if (believed.empty() || !in_no_time) return judge_folds(c, believed);
  const std::set<Content> ever = contents(c, [](std::uint32_t) { return true; });
  for (;;) {
    Folds folds = judge_folds(c, believed);
    const std::set<Content> made = contents(c, [&](std::uint32_t i) { return folds.publication[i] != Cover::missing; });
    bool more = false;
    for (std::size_t i = 0; i < believed.size(); ++i) {
      const Reading& r = c.schedule().readings[i];
      const Content read{r.from, r.part, r.second};
      if (believed[i] || (ever.contains(read) && !made.contains(read))) continue;
      believed[i] = more = true;
    }
    if (!more) return folds;
  }
}

}  // namespace chasqui::verifier
