// SPDX-License-Identifier: MIT
#include "plan/kernel/rings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace chasqui::plan::kernel {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// One circle: blocks of consecutive sends tile it; throws and landings not taken by internal nodes belong to leaves.
struct Circle {
  int m = 0;
  int balls = 0;
  std::vector<Node> blocks;
  std::vector<int> throws, landings;  ///< free phases, ascending
  std::vector<int> to;                ///< the leaf thrown at throws[i] lands at landings[to[i]]
  std::vector<int> owner;             ///< by landing phase: the leaf that lands there, or -1

  int mod(int x) const {
    const int y = x % m;
    return y < 0 ? y + m : y;
  }
  int leaves() const { return static_cast<int>(throws.size()); }
  int height(int leaf) const { return mod(landings[at(to[at(leaf)])] - throws[at(leaf)]); }

  /// Fills throws and landings from the order of the blocks. False if two internal nodes are thrown or land together.
  bool place() {
    std::vector<char> thrown(at(m), 0);
    std::vector<char> landed(at(m), 0);
    int phase = 0;
    for (const Node& block : blocks) {
      char& up = thrown[at(mod(phase - (block.h - block.first)))];
      char& down = landed[at(mod(phase + block.first))];
      if (up != 0 || down != 0) return false;
      up = down = 1;
      phase += block.r;
    }
    throws.clear();
    landings.clear();
    for (int x = 0; x < m; ++x) {
      if (thrown[at(x)] == 0) throws.push_back(x);
      if (landed[at(x)] == 0) landings.push_back(x);
    }
    return true;
  }

  /// A random order that can be placed: a block that would meet an earlier one changes places with a later one.
  bool shuffle(Random& random) {
    for (int tries = 0; tries < 50; ++tries) {
      for (std::size_t i = blocks.size(); i > 1; --i) {
        std::swap(blocks[i - 1], blocks[at(random.below(static_cast<int>(i)))]);
      }
      if (repair()) return true;
    }
    return false;
  }

  void own() {
    owner.assign(at(m), -1);
    for (int i = 0; i < leaves(); ++i) owner[at(landings[at(to[at(i)])])] = i;
  }

  /// Leaves in order, rotated so that the circle has its balls.
  void rotate() {
    const int count = leaves();
    to.resize(at(count));
    std::int64_t inner = 0;
    for (const Node& block : blocks) inner += block.h;
    std::int64_t best = -1;
    int best_shift = 0;
    for (int shift = 0; shift < count; ++shift) {
      for (int i = 0; i < count; ++i) to[at(i)] = (i + shift) % count;
      std::int64_t sum = inner;
      for (int i = 0; i < count; ++i) sum += height(i);
      const std::int64_t off = std::abs(sum - std::int64_t{balls} * m);
      if (best < 0 || off < best) best = off, best_shift = shift;
      if (off == 0) break;
    }
    for (int i = 0; i < count; ++i) to[at(i)] = (i + best_shift) % count;
    own();
  }

 private:
  bool repair() {
    std::vector<char> thrown(at(m), 0);
    std::vector<char> landed(at(m), 0);
    int phase = 0;
    const auto free = [&](const Node& block) {
      return thrown[at(mod(phase - (block.h - block.first)))] == 0 && landed[at(mod(phase + block.first))] == 0;
    };
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      std::size_t pick = i;
      while (pick < blocks.size() && !free(blocks[pick])) ++pick;
      if (pick == blocks.size()) return false;
      std::swap(blocks[i], blocks[pick]);
      thrown[at(mod(phase - (blocks[i].h - blocks[i].first)))] = landed[at(mod(phase + blocks[i].first))] = 1;
      phase += blocks[i].r;
    }
    return place();
  }
};

/// All circles, with one histogram of the leaves' heights.
class Rings {
 public:
  Rings(const std::vector<Ring>& rings, const std::vector<int>& leaves, Random& random) : leaves_(leaves), random_(random) {
    for (const Ring& ring : rings) {
      Circle circle;
      circle.blocks = ring.nodes;
      circle.balls = ring.balls;
      for (const Node& node : ring.nodes) circle.m += node.r;
      largest_ = std::max(largest_, circle.m);
      total_ += circle.m;
      circles_.push_back(std::move(circle));
    }
    for (std::size_t h = 0; h < leaves.size(); ++h) {
      if (leaves[h] > 0) wanted_.push_back(static_cast<int>(h));
    }
  }

  bool start() {
    for (Circle& circle : circles_) {
      for (int h : wanted_) {
        if (h >= circle.m) return false;
      }
      if (!circle.shuffle(random_)) return false;
      circle.rotate();
    }
    recount();
    return true;
  }

  bool anneal(std::int64_t moves) {
    for (std::int64_t i = 0; i < moves && cost_ > 0; ++i) {
      const double temperature = 0.65 - 0.25 * static_cast<double>(i) / static_cast<double>(moves);
      int x = random_.below(total_);
      std::size_t c = 0;
      while (x >= circles_[c].m) x -= circles_[c++].m;
      if (random_.below(64) == 0) {
        exchange_blocks(circles_[c], temperature);
      } else {
        exchange_leaves(circles_[c], temperature);
      }
    }
    return cost_ == 0;
  }

  std::vector<Group> groups() const {
    std::vector<Group> groups;
    for (const Circle& circle : circles_) {
      Group group{std::vector<std::int16_t>(at(circle.m), 0), std::vector<std::int16_t>(at(circle.m), kNone)};
      int phase = 0;
      for (const Node& block : circle.blocks) {
        group.H[at(circle.mod(phase - (block.h - block.first)))] = static_cast<std::int16_t>(block.h);
        for (int i = 0; i < block.r; ++i) group.S[at(phase + i)] = static_cast<std::int16_t>(block.first - i);
        phase += block.r;
      }
      for (int i = 0; i < circle.leaves(); ++i) group.H[at(circle.throws[at(i)])] = static_cast<std::int16_t>(circle.height(i));
      groups.push_back(std::move(group));
    }
    return groups;
  }

 private:
  void recount() {
    surplus_.assign(at(largest_), 0);
    for (std::size_t h = 0; h < leaves_.size(); ++h) {
      if (leaves_[h] > 0) surplus_[h] = -leaves_[h];
    }
    for (const Circle& circle : circles_) {
      for (int i = 0; i < circle.leaves(); ++i) ++surplus_[at(circle.height(i))];
    }
    cost_ = 0;
    for (int s : surplus_) cost_ += std::abs(s);
  }

  bool accept(int change, double temperature) {
    return change <= 0 || random_.unit() < std::exp(-change / temperature);
  }

  int change_count(int h, int by) {
    int& s = surplus_[at(h)];
    const int before = std::abs(s);
    s += by;
    return std::abs(s) - before;
  }

  /// Gives a random leaf a height that is wanted, and its landing's owner what is left.
  void exchange_leaves(Circle& circle, double temperature) {
    const int count = circle.leaves();
    if (count < 2) return;
    const int a = random_.below(count);
    const int wanted = wanted_[at(random_.below(static_cast<int>(wanted_.size())))];
    if (surplus_[at(wanted)] > 0) return;
    const int b = circle.owner[at(circle.mod(circle.throws[at(a)] + wanted))];
    if (b < 0 || a == b) return;
    const int ha = circle.height(a);
    const int hb = circle.height(b);
    const int na = circle.mod(circle.landings[at(circle.to[at(b)])] - circle.throws[at(a)]);
    const int nb = circle.mod(circle.landings[at(circle.to[at(a)])] - circle.throws[at(b)]);
    const int change = change_count(ha, -1) + change_count(hb, -1) + change_count(na, 1) + change_count(nb, 1);
    if (accept(change, temperature)) {
      std::swap(circle.to[at(a)], circle.to[at(b)]);
      circle.owner[at(circle.landings[at(circle.to[at(a)])])] = a;
      circle.owner[at(circle.landings[at(circle.to[at(b)])])] = b;
      cost_ += change;
    } else {
      change_count(na, -1), change_count(nb, -1), change_count(ha, 1), change_count(hb, 1);
    }
  }

  void exchange_blocks(Circle& circle, double temperature) {
    const auto size = static_cast<int>(circle.blocks.size());
    if (size < 2) return;
    const int a = random_.below(size);
    const int b = random_.below(2) == 0 ? (a + 1) % size : random_.below(size);
    const Node& one = circle.blocks[at(a)];
    const Node& other = circle.blocks[at(b)];
    if (a == b || (one.r == other.r && one.h == other.h)) return;
    const int before = cost_;
    std::swap(circle.blocks[at(a)], circle.blocks[at(b)]);
    const bool legal = circle.place();
    if (legal) circle.own(), recount();
    if (legal && accept(cost_ - before, temperature)) return;
    std::swap(circle.blocks[at(a)], circle.blocks[at(b)]);
    circle.place();
    circle.own();
    recount();
  }

  const std::vector<int>& leaves_;
  Random& random_;
  std::vector<Circle> circles_;
  std::vector<int> wanted_;   ///< heights that leaves have
  std::vector<int> surplus_;  ///< by height: leaves there are, less those there shall be
  int largest_ = 1;
  int total_ = 0;
  int cost_ = 0;
};

}  // namespace

std::optional<std::vector<Group>> arrange_on_rings(const std::vector<Ring>& rings, const std::vector<int>& leaves,
                                                   std::int64_t moves, Random& random) {
  Rings state(rings, leaves, random);
  if (!state.start() || !state.anneal(moves)) return std::nullopt;
  return state.groups();
}

}  // namespace chasqui::plan::kernel
