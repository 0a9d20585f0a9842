// SPDX-License-Identifier: MIT
// What annealing moves about: internal nodes are blocks of consecutive sends that tile a circle, and the leaves are a
// bijection from the free throws to the free landings. Wanted is how many leaves have which height. rings.hpp searches
// with it.
#pragma once

#include <span>
#include <vector>

#include "chasqui/base/random.hpp"
#include "forge/tree.hpp"
#include "plan/kernel/kernel.hpp"

namespace chasqui::forge {

using namespace plan::kernel;

/// One circle. A block without sends is an idle phase.
struct Placement {
  int m = 0;  ///< phases
  std::vector<Node> blocks;
  std::vector<int> throws, landings;  ///< free phases, ascending
  std::vector<int> to;                ///< the leaf thrown at throws[i] lands at landings[to[i]]
  std::vector<int> owner;             ///< by landing phase: the leaf that lands there, or -1

  int mod(int x) const {
    const int y = x % m;
    return y < 0 ? y + m : y;
  }
  int leaves() const { return static_cast<int>(throws.size()); }
  int height(int leaf) const { return height(leaf, leaf); }
  /// If leaf `a` landed where leaf `b` does.
  int height(int a, int b) const {
    return mod(landings[static_cast<std::size_t>(to[static_cast<std::size_t>(b)])] -
               throws[static_cast<std::size_t>(a)]);
  }

  /// Fills throws and landings from the order of the blocks. False if two internal nodes are thrown or land together.
  bool place();
  /// A random order that can be placed: a block that would meet an earlier one changes places with a later one. False if
  /// the greedy choice gets stuck again and again.
  bool shuffle(Random& random);
  /// Every leaf lands `shift` free landings later than it would in order.
  void rotate(int shift);
  /// Fills owner from to.
  void own();
  /// The internal nodes' part of the group; the leaves' throws are left at 0.
  Group inner_group() const;

 private:
  bool take(const Node& block, int phase);  ///< false: another internal node is thrown or lands with it
  bool repair();

  std::vector<char> thrown_, landed_;  ///< by phase: an internal node's
};

/// How many leaves of each height there shall be, and how far from it some circles are.
class Wanted {
 public:
  explicit Wanted(std::vector<int> required);  ///< by height

  int cost() const { return cost_; }                            ///< 0: as required
  const std::vector<int>& heights() const { return heights_; }  ///< that leaves shall have
  void recount(std::span<const Placement> circles);

  /// Gives a random leaf a height that is wanted, and its landing's owner what is left. Accepted by Metropolis' rule.
  void exchange_leaves(Placement& circle, double temperature, Random& random);
  /// Exchanges two blocks of one of the circles by the same rule.
  void exchange_blocks(std::span<Placement> circles, std::size_t which, double temperature, Random& random);

 private:
  int change(int height, int by);  ///< how the cost changes

  std::vector<int> required_, heights_;
  std::vector<int> surplus_;  ///< by height: leaves there are, less those there shall be
  int cost_ = 0;
};

}  // namespace chasqui::forge
