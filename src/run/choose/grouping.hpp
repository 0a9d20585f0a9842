// SPDX-License-Identifier: MIT
// All-to-all on cache lines: should everybody read everybody's lines, or should leaders fold for their groups? Two
// publications one after the other against more lines to read. Measured: bench/node/lines.cpp.
#pragma once

namespace chasqui::run {

/// Nanoseconds of an all-reduce on a board whose contributions take 1 or 2 lines. group 0: everybody reads all;
/// otherwise a member of each group of that many ranks folds each line, and everybody reads what the groups have.
double fold_time(int ranks, int lines, int group, double publish, double publish_per_rank);

/// The fastest group size; 0 when nothing is faster than without groups.
int fold_group(int ranks, int lines, double publish, double publish_per_rank);

}  // namespace chasqui::run
