// SPDX-License-Identifier: MIT
#include "plan/kernel/circle.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace chasqui::plan::kernel {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// The state of the annealing. The idle phase is a block of r = 0, or the hole of a node.
class Circle {
 public:
  Circle(const Tree& tree, int L, bool idle, Random& random) : tree_(tree), L_(L), random_(random) {
    m_ = idle ? 1 : 0;
    for (const Node& node : tree.internal) m_ += node.r;
    blocks_ = tree.internal;
    const bool hole = std::any_of(blocks_.begin(), blocks_.end(), [](const Node& node) { return node.hole > 0; });
    if (idle && !hole) blocks_.push_back({});
    required_.assign(at(m_), 0);
    for (int h = 0; h <= tree.D; ++h) required_[at(h % m_)] += tree.leaves[at(h)];
    for (int h = 0; h < m_; ++h) {
      if (required_[at(h)] > 0) wanted_.push_back(h);
    }
  }

  /// A random order of the blocks in which no two internal nodes land in the same phase, and the best rotation of
  /// the leaves. False if the random greedy choice gets stuck.
  bool start() {
    bool placed = false;
    for (int tries = 0; tries < 50 && !placed; ++tries) {
      for (std::size_t i = blocks_.size(); i > 1; --i) {
        std::swap(blocks_[i - 1], blocks_[at(random_.below(static_cast<int>(i)))]);
      }
      placed = repair();
    }
    if (!placed) return false;
    const auto leaves = static_cast<int>(throws_.size());
    to_.resize(at(leaves));
    int best = -1;
    int best_shift = 0;
    for (int shift = 0; shift < std::min(leaves, 4 * L_ + 4); ++shift) {
      for (int i = 0; i < leaves; ++i) to_[at(i)] = (i + shift) % leaves;
      recount();
      if (best < 0 || cost_ < best) best = cost_, best_shift = shift;
    }
    for (int i = 0; i < leaves; ++i) to_[at(i)] = (i + best_shift) % leaves;
    recount();
    return true;
  }

  bool anneal(std::int64_t iterations) {
    const auto leaves = static_cast<int>(throws_.size());
    if (leaves < 2) return cost_ == 0;
    for (std::int64_t i = 0; i < iterations && cost_ > 0; ++i) {
      const double temperature = 0.65 - 0.2 * static_cast<double>(i) / static_cast<double>(iterations);
      if (random_.below(64) == 0) {
        exchange_blocks(temperature);
      } else {
        swap_leaves(leaves, temperature);
      }
    }
    return cost_ == 0;
  }

  Group group() const {
    Group group;
    group.H.assign(at(m_), 0);
    group.S.assign(at(m_), kNone);
    int phase = 0;
    for (const Node& block : blocks_) {
      if (block.r > 0) group.H[at(mod(phase - (block.h - block.first)))] = static_cast<std::int16_t>(block.h);
      for (int i = 0; i < block.length(); ++i) {
        if (i == 0 || i != block.hole) group.S[at(phase + i)] = static_cast<std::int16_t>(block.first - i);
      }
      phase += std::max(1, block.length());
    }
    std::vector<int> left = tree_.leaves;  // heights with one residue are interchangeable
    for (std::size_t i = 0; i < throws_.size(); ++i) {
      int h = mod(landings_[at(to_[i])] - throws_[i]);
      while (left[at(h)] == 0) h += m_;
      --left[at(h)];
      group.H[at(throws_[i])] = static_cast<std::int16_t>(h);
    }
    return group;
  }

 private:
  int mod(int x) const {
    const int y = x % m_;
    return y < 0 ? y + m_ : y;
  }

  /// Fills throws_ and landings_ from the order of the blocks. False if two internal nodes land together.
  bool place() {
    thrown_.assign(at(m_), 0);
    landed_.assign(at(m_), 0);
    int phase = 0;
    for (const Node& block : blocks_) {
      if (block.r > 0) {
        char& thrown = thrown_[at(mod(phase - (block.h - block.first)))];
        char& landed = landed_[at(mod(phase + block.first))];
        if (thrown != 0 || landed != 0) return false;
        thrown = landed = 1;
      }
      phase += std::max(1, block.length());
    }
    throws_.clear();
    landings_.clear();
    for (int x = 0; x < m_; ++x) {
      if (thrown_[at(x)] == 0) throws_.push_back(x);
      if (landed_[at(x)] == 0) landings_.push_back(x);
    }
    return true;
  }

  /// Takes the blocks in order, but swaps in a later one when the next would be thrown or land on a taken phase.
  bool repair() {
    thrown_.assign(at(m_), 0);
    landed_.assign(at(m_), 0);
    int phase = 0;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      std::size_t pick = i;
      while (pick < blocks_.size() && blocks_[pick].r > 0 &&
             (thrown_[at(mod(phase - (blocks_[pick].h - blocks_[pick].first)))] != 0 ||
              landed_[at(mod(phase + blocks_[pick].first))] != 0)) {
        ++pick;
      }
      if (pick == blocks_.size()) return false;
      std::swap(blocks_[i], blocks_[pick]);
      const Node& block = blocks_[i];
      if (block.r > 0) thrown_[at(mod(phase - (block.h - block.first)))] = landed_[at(mod(phase + block.first))] = 1;
      phase += std::max(1, block.length());
    }
    return place();
  }

  void recount() {
    surplus_.assign(at(m_), 0);
    for (int h = 0; h < m_; ++h) surplus_[at(h)] = -required_[at(h)];
    for (std::size_t i = 0; i < throws_.size(); ++i) ++surplus_[at(mod(landings_[at(to_[i])] - throws_[i]))];
    owner_.assign(at(m_), -1);
    for (std::size_t i = 0; i < throws_.size(); ++i) owner_[at(landings_[at(to_[i])])] = static_cast<int>(i);
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
  void swap_leaves(int leaves, double temperature) {
    const int a = random_.below(leaves);
    const int wanted = wanted_[at(random_.below(static_cast<int>(wanted_.size())))];
    if (surplus_[at(wanted)] > 0) return;
    const int b = owner_[at(mod(throws_[at(a)] + wanted))];
    if (b < 0 || a == b) return;
    const int ha = mod(landings_[at(to_[at(a)])] - throws_[at(a)]);
    const int hb = mod(landings_[at(to_[at(b)])] - throws_[at(b)]);
    const int na = mod(landings_[at(to_[at(b)])] - throws_[at(a)]);
    const int nb = mod(landings_[at(to_[at(a)])] - throws_[at(b)]);
    const int change = change_count(ha, -1) + change_count(hb, -1) + change_count(na, 1) + change_count(nb, 1);
    if (accept(change, temperature)) {
      std::swap(to_[at(a)], to_[at(b)]);
      owner_[at(landings_[at(to_[at(a)])])] = a;
      owner_[at(landings_[at(to_[at(b)])])] = b;
      cost_ += change;
    } else {
      change_count(na, -1), change_count(nb, -1), change_count(ha, 1), change_count(hb, 1);
    }
  }

  void exchange_blocks(double temperature) {
    const auto size = static_cast<int>(blocks_.size());
    if (size < 2) return;
    const int a = random_.below(size);
    const int b = random_.below(2) == 0 ? (a + 1) % size : random_.below(size);
    if (a == b) return;
    const int before = cost_;
    std::swap(blocks_[at(a)], blocks_[at(b)]);
    const bool legal = place();
    if (legal) recount();
    if (legal && accept(cost_ - before, temperature)) return;
    std::swap(blocks_[at(a)], blocks_[at(b)]);
    place();
    recount();
  }

  const Tree& tree_;
  int L_;
  Random& random_;
  int m_ = 0;
  std::vector<Node> blocks_;
  std::vector<int> required_;  ///< leaves wanted per height mod m
  std::vector<char> thrown_, landed_;
  std::vector<int> throws_, landings_;  ///< free phases, ascending
  std::vector<int> to_;                 ///< leaf thrown at throws_[i] lands at landings_[to_[i]]
  std::vector<int> wanted_;             ///< the heights mod m with required_ > 0
  std::vector<int> owner_;              ///< by landing phase: the index of the leaf that lands there, or -1
  std::vector<int> surplus_;
  int cost_ = 0;
};

}  // namespace

std::optional<Group> arrange_on_circle(const Tree& tree, int L, std::int64_t iterations, Random& random,
                                       bool idle) {
  Circle circle(tree, L, idle, random);
  if (!circle.start() || !circle.anneal(iterations)) return std::nullopt;
  return circle.group();
}

}  // namespace chasqui::plan::kernel
