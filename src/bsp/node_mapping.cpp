// SPDX-License-Identifier: MIT
#include "chasqui/bsp/node_mapping.hpp"

#include <algorithm>
#include <bit>

#include "bsp/hash.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/bsp/search_tree.hpp"

namespace chasqui::bsp {

using detail::mix;

TreeShape::TreeShape(std::int64_t segments, int d) : degree(d) {
  const auto power = [&](std::int64_t base, int exponent) {  // or more than there are segments
    std::int64_t product = 1;
    for (; exponent > 0 && product < segments; --exponent) product *= base;
    return product;
  };
  while (power(degree + degree / 64, levels) < segments) ++levels;
  while (power(degree, levels) < segments) ++degree;
  for (int level = 0; level < levels; ++level) leaves *= degree;
}

Permutation::Permutation(std::uint64_t n, std::uint64_t seed)
    : n_(n), seed_(seed), half_bits_(std::max(1, (static_cast<int>(std::bit_width(n > 0 ? n - 1 : 0)) + 1) / 2)) {}

std::uint64_t Permutation::operator()(std::uint64_t i) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  do {
    std::uint64_t left = i >> half_bits_, right = i & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint64_t next = left ^ ((mix(seed_ + round, right) >> 8) & mask);
      left = right;
      right = next;
    }
    i = left << half_bits_ | right;
  } while (i >= n_);
  return i;
}

NodeMapping::NodeMapping(std::int64_t p, std::int64_t d, std::int64_t z, std::uint64_t seed)
    : p_(p), d_(d), z_(z), seed_(seed) {
  CHASQUI_CHECK(p >= 1 && d >= 2 && z >= 0 && z <= p, "p={} d={} z={}", p, d, z);
  for (std::int64_t nodes = d; nodes <= p; nodes *= d) ++last_spread_level_;
}

std::int64_t NodeMapping::child_owner(int level, std::int64_t index, std::int64_t parent_owner) const {
  const std::uint64_t at_level = mix(seed_, static_cast<std::uint64_t>(level));
  const auto node = static_cast<std::uint64_t>(index);
  const auto p = static_cast<std::uint64_t>(p_);
  if (z_ == 0) return static_cast<std::int64_t>((mix(at_level, node) >> 8) % p);
  if (!clustered(level)) return static_cast<std::int64_t>(Permutation(p, at_level)(node));
  const std::uint64_t which = (mix(at_level, node) >> 8) % static_cast<std::uint64_t>(z_);
  return static_cast<std::int64_t>(Permutation(p, mix(at_level, ~static_cast<std::uint64_t>(parent_owner)))(which));
}

std::int64_t NodeMapping::owner(int level, std::int64_t index) const {
  if (!clustered(level)) return child_owner(level, index, 0);
  return child_owner(level, index, owner(level - 1, index / d_));
}

}  // namespace chasqui::bsp
