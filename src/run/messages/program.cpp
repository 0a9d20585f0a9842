// SPDX-License-Identifier: MIT
#include "run/messages/program.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"

namespace chasqui::run {
namespace {

/// The folds a rank knows, by interval of contributions, and those it can make of them.
class Folds {
 public:
  Folds(Moves& moves, int ranks, bool values) : moves_(moves), ranks_(ranks), values_(values) {}

  void know(Part part, Spot value) { known_.push_back({part, value}); }
  /// The same where every value is wanted once, in one fold of all: it joins its neighbours while others are under way.
  void join(Part part, Spot value) {
    for (bool joined = true; joined;) {
      joined = false;
      for (std::size_t i = 0; i < known_.size() && !joined; ++i) {
        const Known other = known_[i];
        const bool before = other.part.lo + other.part.len == part.lo;
        if (!before && part.lo + part.len != other.part.lo) continue;
        const Spot to = other.value >= 0 ? other.value : value;  // what arrived is ours to overwrite
        fold(before ? other.value : value, before ? value : other.value, to);
        part = {std::min(part.lo, other.part.lo), part.len + other.part.len};
        value = to;
        known_.erase(known_.begin() + static_cast<std::ptrdiff_t>(i));
        joined = true;
      }
    }
    know(part, value);
  }

  /// The fold of an interval, or kNowhere if what is known does not tile it.
  Spot make(Part part) {
    std::vector<std::size_t> tiles;
    if (!tile(part.lo, part.len, tiles)) return kNowhere;
    Spot value = known_[tiles[0]].value;
    if (tiles.size() == 1) return value;
    const Spot to = moves_.room++;
    for (std::size_t i = 1; i < tiles.size(); ++i) {
      fold(value, known_[tiles[i]].value, to);
      value = to;
    }
    know(part, to);
    return to;
  }
  /// The fold of everything, beginning wherever the known intervals allow.
  Spot make_all(bool commutative) {
    if (const Spot value = make({0, ranks_}); value != kNowhere) return value;
    for (std::size_t i = 0; commutative && i < known_.size(); ++i) {
      if (const Spot value = make({known_[i].part.lo, ranks_}); value != kNowhere) return value;
    }
    return kNowhere;
  }

 private:
  struct Known {
    Part part;
    Spot value;
  };
  void fold(Spot left, Spot right, Spot to) {
    if (values_) moves_.list.push_back({Move::What::fold, 1, 0, left, right, to});
  }
  /// Longest tile first: the newest windows are the longest, so the search rarely turns back.
  bool tile(std::int32_t lo, std::int32_t len, std::vector<std::size_t>& tiles) const {
    if (len == 0) return !tiles.empty();
    std::vector<std::size_t> fitting;
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (known_[i].part.lo == lo && known_[i].part.len <= len && known_[i].part.len > 0) fitting.push_back(i);
    }
    std::sort(fitting.begin(), fitting.end(),
              [&](std::size_t a, std::size_t b) { return known_[a].part.len > known_[b].part.len; });
    for (const std::size_t i : fitting) {
      tiles.push_back(i);
      const std::int64_t next = (static_cast<std::int64_t>(lo) + known_[i].part.len) % ranks_;
      if (tile(static_cast<std::int32_t>(next), len - known_[i].part.len, tiles)) return true;
      tiles.pop_back();
    }
    return false;
  }

  Moves& moves_;
  std::int32_t ranks_;
  bool values_;
  std::vector<Known> known_;
};

Spot receive(Moves& moves, int peer, std::uint8_t values, Spot to) {
  moves.list.push_back(
      {Move::What::arrive, values, static_cast<std::int32_t>(moves.receives.size()), kNowhere, kNowhere, to});
  moves.receives.push_back({peer, to, values});
  return to;
}

void send(Moves& moves, int peer, std::uint8_t values, Spot from) {
  moves.list.push_back({Move::What::send, values, peer, from, kNowhere, kNowhere});
  ++moves.sends;
}

Spot room(Moves& moves, int values) {
  moves.room += values;
  return moves.room - values;
}

}  // namespace

Moves fold_moves(const Script& script, Kind kind, int rank, int size, int root, bool commutative, bool exclusive,
                 bool values) {
  Moves moves;
  Folds folds(moves, size, values);
  folds.know({rank, 1}, kOwn);
  const auto fold_of = [&](Part part) {
    const Spot value = folds.make(part);
    CHASQUI_CHECK(value != kNowhere, "rank {} cannot make the fold of {} contributions from {}", rank, part.len,
                  part.lo);
    return value;
  };
  for (const Step& step : steps_of(script)) {
    const Part parts[2] = {step.part, step.second};
    const auto carried = static_cast<std::uint8_t>((parts[0].len > 0 ? 1 : 0) + (parts[1].len > 0 ? 1 : 0));
    if (step.receives) {
      Spot at = receive(moves, step.peer, carried, room(moves, carried));
      for (const Part& part : parts) {
        if (part.len <= 0) continue;
        if (kind == Kind::reduce) folds.join(part, at++);
        else folds.know(part, at++);
      }
    } else if (!values) {
      send(moves, step.peer, carried, kNowhere);
    } else if (carried == 1) {
      send(moves, step.peer, 1, fold_of(parts[0].len > 0 ? parts[0] : parts[1]));
    } else {
      const Spot values_of[2] = {fold_of(parts[0]), fold_of(parts[1])};
      const Spot both = room(moves, 2);
      for (int i = 0; i < 2; ++i) moves.list.push_back({Move::What::copy, 1, 0, values_of[i], kNowhere, both + i});
      send(moves, step.peer, 2, both);
    }
  }
  if (!values) return moves;
  if (kind == Kind::scan) {
    const std::int32_t length = exclusive ? rank : rank + 1;
    if (length > 0) moves.result = fold_of({0, length});
  } else if (kind == Kind::allreduce || rank == root) {
    moves.result = folds.make_all(commutative);
    CHASQUI_CHECK(moves.result != kNowhere, "rank {} cannot make the fold of all {}", rank, size);
  }
  return moves;
}

Moves spread_moves(const Script& script) {
  Moves moves;
  for (const Step& step : steps_of(script)) {
    if (step.receives) receive(moves, step.peer, 1, kTarget);
    else send(moves, step.peer, 1, kTarget);
  }
  return moves;
}

Moves there_and_back_moves(const Script& there, const Script& back, bool values) {
  Moves moves;
  Spot value = kOwn;
  for (const Step& step : steps_of(there)) {
    if (!step.receives) {
      send(moves, step.peer, 1, value);
      continue;
    }
    const Spot arrived = receive(moves, step.peer, 1, room(moves, 1));
    if (values) moves.list.push_back({Move::What::fold, 1, 0, value, arrived, arrived});
    value = arrived;
  }
  for (const Step& step : steps_of(back)) {
    if (step.receives) value = receive(moves, step.peer, 1, room(moves, 1));
    else send(moves, step.peer, 1, value);
  }
  if (values) moves.result = value;
  return moves;
}

}  // namespace chasqui::run
