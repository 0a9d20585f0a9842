// SPDX-License-Identifier: MIT
// The rounds of an all-reduce, a scan or a barrier (docs/exchange.md, Theorem 4). All ranks send at the
// same times s_1 < s_2 < …; with p(j) the number of send times <= s_j - D, F_0 = 1 and F_j = F_{j-1} + F_{p(j)}, the
// rank i holds after round j the fold of the window of w_j = ceil(P F_j / F_last) contributions that ends at i,
// cyclically, and the same without its own. w_j - w_{j-1} is w_{p(j)} or one less, because rounding up a sum gives the
// sum of the rounded terms or one less: so what must arrive is a window its sender already has, whole or without own.
#pragma once

#include <cstdint>
#include <vector>

#include "chasqui/model/logp.hpp"
#include "plan/exchange/send_times.hpp"

namespace chasqui::plan {

/// One round, the same for every rank r: at `begin` it sends the `width` contributions that end at r (at r -
/// 1 when its own is left out) to rank r + distance.
struct WindowRound {
  std::int64_t begin = 0;
  std::int64_t distance = 0;
  std::int64_t width = 0;
  bool without_own = false;

  friend bool operator==(const WindowRound&, const WindowRound&) = default;
};

/// The rounds in which something is sent. REQUIRES `times` legal and F_last >= P. Time and memory: O(|times|).
std::vector<WindowRound> window_rounds(const LogP& machine, const SendTimes& times);

/// F_0 .. F_n of the recurrence above.
std::vector<std::int64_t> window_growth(const SendTimes& times, const Spacing& spacing);

/// Send times with F_last >= P that end early: for o = 0, g = 1 the optimum (every tick); otherwise the best
/// of the earliest-legal rule, the group patterns and a beam search. Empty for P = 1. Time: O(rounds) for the
/// postal machine, otherwise bounded by a fixed budget plus O(rounds). Throws an Error beyond 2^25 rounds.
SendTimes window_send_times(const LogP& machine);

}  // namespace chasqui::plan
