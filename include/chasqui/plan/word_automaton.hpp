// SPDX-License-Identifier: MIT
// The automaton of legal words (SPAA Figure 2): states are the last L-1 letters received, a letter leads on
// if its item was not received in the last L-1 steps. A block of r ranks has the word that remains of a
// closed walk of r letters when the head, which counts as the letter L-1, is taken off its front.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace chasqui::plan {
/// All legal words of a latency as walks.
struct WordAutomaton {
  /// One letter.
  struct Edge {
    std::size_t from = 0;     ///< state before
    std::int32_t letter = 0;  ///< delay of the leaf received
    std::size_t to = 0;       ///< state after
  };
  std::int64_t L = 1;  ///< latency
  std::vector<std::vector<std::int32_t>>
      states;                ///< the oldest letter first; only states on closed walks through a start state
  std::vector<bool> starts;  ///< the oldest letter is L-1, which stands for the head
  std::vector<Edge> edges;   ///< all of them, by state
};

/// Time and memory: O(L^(L-1)) states before the useless ones are dropped. Throws an Error for L < 2 or L > 6.
WordAutomaton word_automaton(std::int64_t L);

/// "acab": 0 is a, 1 is b, …; from 26 on "x26".
std::string spell(const std::vector<std::int32_t>& letters);

/// One line a state: "(ca) --b--> cb". A start state stands in double parentheses.
std::string to_text(const WordAutomaton& automaton);

}  // namespace chasqui::plan
