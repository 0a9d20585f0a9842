// SPDX-License-Identifier: MIT
// Streams of another shape than blocks: every rank has a word of its own, all of one period. L = 2 needs them for n = 5
// and n = 8.
#pragma once

#include <cstdint>
#include <vector>

#include "chasqui/plan/stream.hpp"

namespace chasqui::plan::stream_detail {

/// Letters by rank and time modulo the period: the item received then completes so many steps later. A letter of at
/// least L is an internal node of the full tree of height t, and its rank then sends in letter-L+1 steps.
struct WordTable {
  std::int64_t L = 2;
  std::int64_t t = 0;
  std::int64_t period = 1;
  std::vector<std::vector<std::int32_t>> words;
};

/// L = 2, n = 5 or 8: the first words that an exhaustive search finds, at the only periods below 6 that have any
/// (test stream_words).
WordTable words_of_two(std::int64_t n);

/// Plays a word table.
StreamPtr table_stream(std::int64_t P, std::int64_t root, WordTable table, Claim claim);

}  // namespace chasqui::plan::stream_detail
