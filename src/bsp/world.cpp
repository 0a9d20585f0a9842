// SPDX-License-Identifier: MIT
#include "chasqui/bsp/world.hpp"

#include <numeric>

namespace chasqui::bsp {

namespace {

struct Piece {
  int first = 0;
  int count = 0;
};

/// Part `index` of n things in `parts` parts as equal as possible, larger ones first.
Piece piece(int n, int parts, int index) {
  const int small = n / parts, larger = n % parts;
  return {index * small + std::min(index, larger), small + (index < larger ? 1 : 0)};
}

void check_parts(int parts, int size) {
  if (parts < 1 || parts > size) {
    throw MachineError(Fault::bad_rank,
                       fmt::format("split of {} processors into {} parts: between 1 and {}", size, parts, size));
  }
}

}  // namespace

int World::part(int parts) const {
  check_parts(parts, size());
  const int small = size() / parts, larger = size() % parts;
  const int in_larger = larger * (small + 1);
  return rank() < in_larger ? rank() / (small + 1) : larger + (rank() - in_larger) / small;
}

int World::first_of(int parts, int index) const {
  check_parts(parts, size());
  if (index < 0 || index >= parts) {
    throw MachineError(Fault::bad_rank, fmt::format("first_of: submachine {} of a split into {}: between 0 and {}",
                                                    index, parts, parts - 1));
  }
  return piece(size(), parts, index).first;
}

World World::split(int parts) {
  const Piece own = piece(size(), parts, part(parts));
  return World(detail::Core::split(core_, own.first, own.count));
}

World World::split(std::span<const int> sizes) {
  std::int64_t first = 0;
  int begin = 0, count = 0;
  for (const int one : sizes) {
    if (one < 1) throw MachineError(Fault::bad_rank, fmt::format("split: a submachine of {} processors", one));
    if (rank() >= first && rank() < first + one) begin = static_cast<int>(first), count = one;
    first += one;
  }
  if (first != size()) {
    throw MachineError(Fault::bad_rank,
                       fmt::format("split: the sizes add up to {}, the machine has {}", first, size()));
  }
  return World(detail::Core::split(core_, begin, count));
}

World World::split_by(int color, Where where) {
  std::vector<int> colors = gather(color, 0, where);
  colors.resize(static_cast<std::size_t>(size()));
  core_->play({.kind = Kind::broadcast}, colors.data(), colors.data(), colors.size() * sizeof(int), {}, where);
  std::vector<std::int32_t> ranks;
  for (int r = 0; r < size(); ++r) {
    if (colors[static_cast<std::size_t>(r)] == color) ranks.push_back(r);
  }
  return World(detail::Core::split(core_, std::move(ranks)));
}

}  // namespace chasqui::bsp
