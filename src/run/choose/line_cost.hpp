// SPDX-License-Identifier: MIT
// What the short methods of a board take, by what publishing a line and reading it were measured to cost. Each formula and constant
// has where it was fitted.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "chasqui/run/choose.hpp"
#include "run/board/groups.hpp"

namespace chasqui::run {

constexpr bool folds(Kind kind) { return combines(kind) && kind != Kind::barrier; }
constexpr bool exchanges(Kind kind) { return kind == Kind::alltoall || kind == Kind::reduce_scatter; }

/// The level of a profile that tells of shared memory.
const Level& node_level(const Profile& profile);

/// What a board costs, in nanoseconds.
struct LineCosts {
  int ranks = 1;                           ///< that share the board
  double publish = 0;                      ///< one line from its writer to all readers
  double each = 0;                         ///< reading each further line while everybody does
  std::shared_ptr<const Nearness> near{};  ///< none: all are alike near each other
  std::array<double, kSharedKinds> inside = {1, 1, 1, 1,
                                             1};  ///< both take so much of that between ranks that share so much
  friend bool operator==(const LineCosts& a, const LineCosts& b) = default;
};
LineCosts line_costs(const Profile& profile, int ranks, const std::shared_ptr<const Nearness>& near = nullptr);

/// An all-reduce whose contributions take so many lines. No groups (1 or 2 lines): everybody reads all lines (slots); otherwise a
/// member of each group folds each line, and everybody reads what the groups have.
double grouped_fold_time(const LineCosts& costs, int lines, const Grouping& groups);

/// A line that one root reads alone, in units of LineCosts::each.
inline constexpr double kReadByRoot = 0.4;

/// Of more than two lines, fitted to 3 to 16 processes, 128 B to 1 KiB (docs/laboratory/reduce.md, "Line by line"); in units of
/// LineCosts::each: a line that a member folds, of each other member; a line that all read; and a line that a member folds beside another.
inline constexpr double kFoldedLine = 0.6, kReadByAll = 3.1, kSecondLine = 5;

/// The fastest groups; of 1 or 2 lines none when nothing is faster than without.
Grouping best_groups(const LineCosts& costs, int lines);
/// Those for contributions of more than two lines: the same for all of them.
Grouping groups_of_many(const LineCosts& costs);

/// What a reader of a broadcast needs for what lies beside the line.
double beside_line_time(const LineCosts& costs, double bytes);

/// A scan in chunks of the best length that pass from rank to rank: `work` is what a rank does for all of them.
double pipeline_time(const LineCosts& costs, double work);
/// For each line, in units of LineCosts::each.
inline constexpr double kLineAlong = 1;

/// A collective that puts `bytes` beside the lines of a slot (a scatter: the blocks of all), or takes one of the longer
/// methods that compete with that. REQUIRES slots, grouped_fold, shared_fold, exposed_fold, direct or staged.
double beside_lines_time(const LineCosts& costs, Method method, Kind kind, double bytes);

/// How often as long a payload of two lines takes as one of one line (flat all-reduces of 8 and 64 B on 16 ranks,
/// bench/node/lines.cpp).
inline constexpr double kTwoLines = 1.7;

}  // namespace chasqui::run
