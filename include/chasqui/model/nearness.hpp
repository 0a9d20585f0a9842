// SPDX-License-Identifier: MIT
// Which ranks of a node are near each other: the threads of a core, a cache, a part of the memory and a socket as levels, each of
// groups of ranks. Groups may be of any sizes, and ranks lie in them in any order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace chasqui {

/// What ranks of a level share, the nearest first.
enum class Shared : std::uint8_t {
  core,   ///< threads of one
  l2,     ///< a cache of the second level, of several cores
  l3,     ///< a cache of the third level or above, the last one
  numa,   ///< memory
  socket  ///< a package
};
inline constexpr std::size_t kSharedKinds = 5;
std::string_view to_string(Shared what);  ///< as `chasqui explain` prints it

/// Where one rank lies: a number for each of what there is to share, the same for those who share it; -1: nobody knows, or on several.
using Seat = std::array<int, kSharedKinds>;
inline constexpr Seat kNoSeat = {-1, -1, -1, -1, -1};

/// Ranks in groups that share something.
struct NearLevel {
  Shared what = Shared::core;
  std::vector<int> group_of{};  ///< of each rank; numbered by their first ranks
  int groups = 0;
  int largest = 0;  ///< ranks of that group
};

/// The levels of a node, the nearest first: each group lies in one of the next level. A level has more groups than one, and fewer than
/// there are ranks; what makes the same groups is one level, named after the nearest.
class Nearness {
 public:
  explicit Nearness(const std::vector<Seat>& seats);  ///< of each rank

  int ranks() const { return ranks_; }                              ///< on the node
  const std::vector<NearLevel>& levels() const { return levels_; }  ///< none: all are alike near each other

  /// How many groups of level `inner`, or ranks for -1, the group of level `outer` has that has most; the number of levels stands for the node.
  int most_inside(int inner, int outer) const;
  /// Are the groups of that level ranks that follow each other?
  bool in_rank_order(int level) const;

  friend bool operator==(const Nearness& a, const Nearness& b);  ///< are the levels the same?

 private:
  int ranks_;
  std::vector<NearLevel> levels_;
  std::vector<std::vector<int>> most_inside_;  ///< by outer level; the first of each is of ranks
};

/// Nothing where ranks are fewer than four, or there is no level.
std::shared_ptr<const Nearness> nearness_of(const std::vector<Seat>& seats);

/// A made-up node, as "socket:2 l3:4 core:8": two sockets of four caches of eight cores, which so many ranks fill in their order, those of the
/// last level by as many as need be. Nothing where the text is something else.
std::optional<std::vector<Seat>> made_up_seats(std::string_view text, int ranks);

}  // namespace chasqui
