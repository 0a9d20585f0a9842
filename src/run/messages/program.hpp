// SPDX-License-Identifier: MIT
// What one rank does in a collective whose messages carry whole values: which to receive, to fold and to send, in which
// order. Found once; a call then only plays it (playing.hpp). Values lie in spots: the caller's, and room of the call's own.
#pragma once

#include <cstdint>
#include <vector>

#include "chasqui/model/problem.hpp"
#include "run/messages/script.hpp"

namespace chasqui::run {

using Spot = std::int32_t;
inline constexpr Spot kOwn = -1;      ///< what this rank contributes
inline constexpr Spot kTarget = -2;   ///< the caller's output buffer
inline constexpr Spot kNowhere = -3;  ///< no value

struct Move {
  enum class What : std::uint8_t { send, arrive, fold, copy };
  What what;
  std::uint8_t values = 1;  ///< send: of the message
  std::int32_t other = 0;   ///< send: plan rank; arrive: index into Moves::receives
  Spot from = kNowhere;     ///< send: the first value; fold: the left one; copy
  Spot right = kNowhere;    ///< fold
  Spot to = kNowhere;       ///< fold, copy
};

struct Reception {
  std::int32_t peer;  ///< plan rank
  Spot to;            ///< of the first value
  std::uint8_t values;
};

struct Moves {
  std::vector<Reception> receives;  ///< all posted before the first move
  std::vector<Move> list;
  std::int32_t sends = 0;
  std::int32_t room = 0;   ///< values that need room of the call's own: spots 0 .. room-1
  Spot result = kNowhere;  ///< copied to the output buffer when all messages are done with
};

/// Folds of intervals of contributions (reduce, all-reduce, scan, barrier). `values`: false where nothing is carried.
Moves fold_moves(const Script& script, Kind kind, int rank, int size, int root, bool commutative, bool exclusive,
                 bool values);

/// One value from the root to all, along a tree.
Moves spread_moves(const Script& script);

/// A tree there and back: folded on the way to the root, then spread. `values`: false where nothing is carried.
Moves there_and_back_moves(const Script& there, const Script& back, bool values);

}  // namespace chasqui::run
