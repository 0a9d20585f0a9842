// SPDX-License-Identifier: MIT
#include "forge/placement.hpp"

#include <algorithm>
#include <cstdlib>

#include "forge/metropolis.hpp"

namespace chasqui::forge {
namespace {

int phases(const Node& block) { return std::max(1, block.length()); }

}  // namespace

bool Placement::take(const Node& block, int phase) {
  if (block.r == 0) return true;
  char& thrown = thrown_[at(mod(phase - (block.h - block.first)))];
  char& landed = landed_[at(mod(phase + block.first))];
  if (thrown != 0 || landed != 0) return false;
  thrown = landed = 1;
  return true;
}

bool Placement::place() {
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

bool Placement::repair() {
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

bool Placement::shuffle(Random& random) {
  for (int tries = 0; tries < 50; ++tries) {
    for (std::size_t i = blocks.size(); i > 1; --i) {
      std::swap(blocks[i - 1], blocks[at(random.below(static_cast<int>(i)))]);
    }
    if (repair()) return true;
  }
  return false;
}

void Placement::rotate(int shift) {
  to.resize(throws.size());
  for (int i = 0; i < leaves(); ++i) to[at(i)] = (i + shift) % leaves();
  own();
}

void Placement::own() {
  owner.assign(at(m), -1);
  for (int i = 0; i < leaves(); ++i) owner[at(landings[at(to[at(i)])])] = i;
}

Group Placement::inner_group() const {
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

Wanted::Wanted(std::vector<int> required) : required_(std::move(required)) {
  for (std::size_t h = 0; h < required_.size(); ++h) {
    if (required_[h] > 0) heights_.push_back(static_cast<int>(h));
  }
}

void Wanted::recount(std::span<const Placement> circles) {
  surplus_.resize(required_.size());
  for (std::size_t h = 0; h < required_.size(); ++h) surplus_[h] = -required_[h];
  for (const Placement& circle : circles) {
    for (int i = 0; i < circle.leaves(); ++i) ++surplus_[at(circle.height(i))];
  }
  cost_ = 0;
  for (const int s : surplus_) cost_ += std::abs(s);
}

int Wanted::change(int height, int by) {
  int& s = surplus_[at(height)];
  const int before = std::abs(s);
  s += by;
  return std::abs(s) - before;
}

void Wanted::exchange_leaves(Placement& circle, double temperature, Random& random) {
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

void Wanted::exchange_blocks(std::span<Placement> circles, std::size_t which, double temperature, Random& random) {
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

}  // namespace chasqui::forge
