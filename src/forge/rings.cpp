// SPDX-License-Identifier: MIT
#include "forge/rings.hpp"

#include <algorithm>
#include <cstdlib>
#include <span>

namespace chasqui::forge {
namespace {

// What annealing moves about: internal nodes are blocks of consecutive sends that tile a circle, and the leaves are a
// bijection from the free throws to the free landings. Wanted is how many leaves have which height.

int phases(const Node& block) { return std::max(1, block.length()); }

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
  bool place() {
    thrown_.assign(at(m), 0);
    landed_.assign(at(m), 0);
    int phase = 0;
    for (const Node& block : blocks) {
      if (!take(block, phase)) return false;
      phase += phases(block);
    }
    throws.clear();
    landings.clear();
    for (int x = 0; x < m; ++x) {
      if (thrown_[at(x)] == 0) throws.push_back(x);
      if (landed_[at(x)] == 0) landings.push_back(x);
    }
    return true;
  }

  /// A random order that can be placed: a block that would meet an earlier one changes places with a later one. False if
  /// the greedy choice gets stuck again and again.
  bool shuffle(Random& random) {
    for (int tries = 0; tries < 50; ++tries) {
      for (std::size_t i = blocks.size(); i > 1; --i) {
        std::swap(blocks[i - 1], blocks[at(random.below(static_cast<int>(i)))]);
      }
      if (repair()) return true;
    }
    return false;
  }

  /// Every leaf lands `shift` free landings later than it would in order.
  void rotate(int shift) {
    to.resize(throws.size());
    for (int i = 0; i < leaves(); ++i) to[at(i)] = (i + shift) % leaves();
    own();
  }

  /// Fills owner from to.
  void own() {
    owner.assign(at(m), -1);
    for (int i = 0; i < leaves(); ++i) owner[at(landings[at(to[at(i)])])] = i;
  }

  /// The internal nodes' part of the group; the leaves' throws are left at 0.
  Group inner_group() const {
    Group group{std::vector<std::int16_t>(at(m), 0), std::vector<std::int16_t>(at(m), kNone)};
    int phase = 0;
    for (const Node& block : blocks) {
      if (block.r > 0) group.H[at(mod(phase - (block.h - block.first)))] = static_cast<std::int16_t>(block.h);
      for (int i = 0; i < block.length(); ++i) {
        if (i == 0 || i != block.hole) group.S[at(phase + i)] = static_cast<std::int16_t>(block.first - i);
      }
      phase += phases(block);
    }
    return group;
  }

 private:
  /// False: another internal node is thrown or lands with it
  bool take(const Node& block, int phase) {
    if (block.r == 0) return true;
    char& thrown = thrown_[at(mod(phase - (block.h - block.first)))];
    char& landed = landed_[at(mod(phase + block.first))];
    if (thrown != 0 || landed != 0) return false;
    thrown = landed = 1;
    return true;
  }

  bool repair() {
    thrown_.assign(at(m), 0);
    landed_.assign(at(m), 0);
    int phase = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      std::size_t pick = i;
      while (pick < blocks.size() && !take(blocks[pick], phase)) ++pick;
      if (pick == blocks.size()) return false;
      std::swap(blocks[i], blocks[pick]);
      phase += phases(blocks[i]);
    }
    return place();
  }

  std::vector<char> thrown_, landed_;  ///< by phase: an internal node's
};

/// How many leaves of each height there shall be, and how far from it some circles are.
class Wanted {
 public:
  /// By height
  explicit Wanted(std::vector<int> required) : required_(std::move(required)) {
    for (std::size_t h = 0; h < required_.size(); ++h) {
      if (required_[h] > 0) heights_.push_back(static_cast<int>(h));
    }
  }

  int cost() const { return cost_; }                            ///< 0: as required
  const std::vector<int>& heights() const { return heights_; }  ///< that leaves shall have
  void recount(std::span<const Placement> circles) {
    surplus_.resize(required_.size());
    for (std::size_t h = 0; h < required_.size(); ++h) surplus_[h] = -required_[h];
    for (const Placement& circle : circles) {
      for (int i = 0; i < circle.leaves(); ++i) ++surplus_[at(circle.height(i))];
    }
    cost_ = 0;
    for (const int s : surplus_) cost_ += std::abs(s);
  }

  /// Gives a random leaf a height that is wanted, and its landing's owner what is left. Accepted by Metropolis' rule.
  void exchange_leaves(Placement& circle, double temperature, Random& random) {
    if (circle.leaves() < 2) return;
    const int a = random.below(circle.leaves());
    const int wanted = heights_[at(random.below(static_cast<int>(heights_.size())))];
    if (surplus_[at(wanted)] > 0) return;
    const int b = circle.owner[at(circle.mod(circle.throws[at(a)] + wanted))];
    if (b < 0 || a == b) return;
    const int old[] = {circle.height(a), circle.height(b)}, fresh[] = {circle.height(a, b), circle.height(b, a)};
    const int by = change(old[0], -1) + change(old[1], -1) + change(fresh[0], 1) + change(fresh[1], 1);
    if (accept(by, temperature, random)) {
      std::swap(circle.to[at(a)], circle.to[at(b)]);
      circle.owner[at(circle.landings[at(circle.to[at(a)])])] = a;
      circle.owner[at(circle.landings[at(circle.to[at(b)])])] = b;
      cost_ += by;
    } else {
      for (const int h : fresh) change(h, -1);
      for (const int h : old) change(h, 1);
    }
  }

  /// Exchanges two blocks of one of the circles by the same rule.
  void exchange_blocks(std::span<Placement> circles, std::size_t which, double temperature, Random& random) {
    Placement& circle = circles[which];
    const auto size = static_cast<int>(circle.blocks.size());
    if (size < 2) return;
    const int a = random.below(size);
    const int b = random.below(2) == 0 ? (a + 1) % size : random.below(size);
    if (a == b || circle.blocks[at(a)] == circle.blocks[at(b)]) return;
    const int before = cost_;
    std::swap(circle.blocks[at(a)], circle.blocks[at(b)]);
    if (circle.place()) {
      circle.own();
      recount(circles);
      if (accept(cost_ - before, temperature, random)) return;
    }
    std::swap(circle.blocks[at(a)], circle.blocks[at(b)]);
    circle.place();
    circle.own();
    recount(circles);
  }

 private:
  /// How the cost changes
  int change(int height, int by) {
    int& s = surplus_[at(height)];
    const int before = std::abs(s);
    s += by;
    return std::abs(s) - before;
  }

  std::vector<int> required_, heights_;
  std::vector<int> surplus_;  ///< by height: leaves there are, less those there shall be
  int cost_ = 0;
};

/// The idle phase is a block of r = 0, or the hole of a node.
Placement blocks_of(const Tree& tree, bool idle) {
  Placement circle;
  circle.m = idle ? 1 : 0;
  for (const Node& node : tree.internal) circle.m += node.r;
  circle.blocks = tree.internal;
  const bool hole =
      std::any_of(circle.blocks.begin(), circle.blocks.end(), [](const Node& node) { return node.hole > 0; });
  if (idle && !hole) circle.blocks.push_back({});
  return circle;
}

/// Heights with one residue are interchangeable.
std::vector<int> by_residue(const Tree& tree, int m) {
  std::vector<int> required(at(m), 0);
  for (int h = 0; h <= tree.D; ++h) required[at(h % m)] += tree.leaves[at(h)];
  return required;
}

/// A random order of the blocks, and the best rotation of the leaves.
bool start(Placement& circle, Wanted& wanted, int L, Random& random) {
  if (!circle.shuffle(random)) return false;
  int best = -1;
  int best_shift = 0;
  for (int shift = 0; shift < std::min(circle.leaves(), 4 * L + 4); ++shift) {
    circle.rotate(shift);
    wanted.recount({&circle, 1});
    if (best < 0 || wanted.cost() < best) best = wanted.cost(), best_shift = shift;
  }
  circle.rotate(best_shift);
  wanted.recount({&circle, 1});
  return true;
}

bool anneal(Placement& circle, Wanted& wanted, std::int64_t iterations, Random& random) {
  if (circle.leaves() < 2) return wanted.cost() == 0;
  for (std::int64_t i = 0; i < iterations && wanted.cost() > 0; ++i) {
    const double temperature = 0.65 - 0.2 * static_cast<double>(i) / static_cast<double>(iterations);
    if (random.below(64) == 0) {
      wanted.exchange_blocks({&circle, 1}, 0, temperature, random);
    } else {
      wanted.exchange_leaves(circle, temperature, random);
    }
  }
  return wanted.cost() == 0;
}

std::vector<Placement> circles_of(const std::vector<Ring>& rings) {
  std::vector<Placement> circles;
  for (const Ring& ring : rings) {
    Placement& circle = circles.emplace_back();
    circle.blocks = ring.nodes;
    for (const Node& node : ring.nodes) circle.m += node.r;
  }
  return circles;
}

/// Leaves in order, rotated so that the circle has its balls.
void rotate(Placement& circle, int balls) {
  std::int64_t inner = 0;
  for (const Node& block : circle.blocks) inner += block.h;
  std::int64_t best = -1;
  int best_shift = 0;
  for (int shift = 0; shift < circle.leaves() && best != 0; ++shift) {
    circle.rotate(shift);
    std::int64_t sum = inner;
    for (int i = 0; i < circle.leaves(); ++i) sum += circle.height(i);
    const std::int64_t off = std::abs(sum - std::int64_t{balls} * circle.m);
    if (best < 0 || off < best) best = off, best_shift = shift;
  }
  circle.rotate(best_shift);
}

bool start(std::vector<Placement>& circles, const std::vector<Ring>& rings, const Wanted& wanted, Random& random) {
  for (std::size_t i = 0; i < circles.size(); ++i) {
    if (std::any_of(wanted.heights().begin(), wanted.heights().end(), [&](int h) { return h >= circles[i].m; }))
      return false;
    if (!circles[i].shuffle(random)) return false;
    rotate(circles[i], rings[i].balls);
  }
  return true;
}

bool anneal(std::vector<Placement>& circles, Wanted& wanted, std::int64_t moves, Random& random) {
  int total = 0;
  for (const Placement& circle : circles) total += circle.m;
  for (std::int64_t i = 0; i < moves && wanted.cost() > 0; ++i) {
    const double temperature = 0.65 - 0.25 * static_cast<double>(i) / static_cast<double>(moves);
    int x = random.below(total);
    std::size_t c = 0;
    while (x >= circles[c].m) x -= circles[c++].m;
    if (random.below(64) == 0) {
      wanted.exchange_blocks(circles, c, temperature, random);
    } else {
      wanted.exchange_leaves(circles[c], temperature, random);
    }
  }
  return wanted.cost() == 0;
}

}  // namespace

std::optional<Group> arrange_on_circle(const Tree& tree, int L, std::int64_t iterations, Random& random, bool idle) {
  Placement circle = blocks_of(tree, idle);
  Wanted wanted(by_residue(tree, circle.m));
  if (!start(circle, wanted, L, random) || !anneal(circle, wanted, iterations, random)) return std::nullopt;
  Group group = circle.inner_group();
  std::vector<int> left = tree.leaves;
  for (int i = 0; i < circle.leaves(); ++i) {
    int h = circle.height(i);
    while (left[at(h)] == 0) h += circle.m;
    --left[at(h)];
    group.H[at(circle.throws[at(i)])] = static_cast<std::int16_t>(h);
  }
  return group;
}

std::optional<std::vector<Group>> arrange_on_rings(const std::vector<Ring>& rings, const std::vector<int>& leaves,
                                                   std::int64_t moves, Random& random) {
  std::vector<Placement> circles = circles_of(rings);
  std::vector<int> required = leaves;
  for (const Placement& circle : circles) required.resize(std::max(required.size(), at(circle.m)), 0);
  Wanted wanted(std::move(required));
  if (!start(circles, rings, wanted, random)) return std::nullopt;
  wanted.recount(circles);
  if (!anneal(circles, wanted, moves, random)) return std::nullopt;
  std::vector<Group> groups;
  for (const Placement& circle : circles) {
    Group& group = groups.emplace_back(circle.inner_group());
    for (int i = 0; i < circle.leaves(); ++i)
      group.H[at(circle.throws[at(i)])] = static_cast<std::int16_t>(circle.height(i));
  }
  return groups;
}

}  // namespace chasqui::forge
