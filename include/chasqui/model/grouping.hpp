// SPDX-License-Identifier: MIT
// Ranks in groups of one size: on the caches and sockets of a node, as launchers place them, or to fold for each other.
#pragma once

namespace chasqui {

/// Ranks in groups: neighbours in rank order, the last group perhaps smaller, or dealt out by turns, rank r to group r mod count.
struct Grouping {
  int size = 0;        ///< ranks of the largest; 0: there are no groups
  int count = 0;       ///< groups
  bool dealt = false;  ///< by turns
  /// Of so many ranks each, but for the last.
  static Grouping neighbours(int ranks, int size) { return {size, (ranks + size - 1) / size, false}; }
  /// So many groups.
  static Grouping by_turns(int ranks, int count) { return {(ranks + count - 1) / count, count, true}; }
  int smallest(int ranks) const { return dealt ? ranks / count : ranks - (count - 1) * size; }  ///< ranks of that group
  /// Is each of these groups part of one of the others?
  bool inside(const Grouping& others) const {
    if (size == 0 || others.size == 0 || dealt != others.dealt) return false;
    return dealt ? count % others.count == 0 : others.size % size == 0;
  }
  friend bool operator==(const Grouping&, const Grouping&) = default;
};

}  // namespace chasqui
