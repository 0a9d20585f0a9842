// SPDX-License-Identifier: MIT
#include "bsp/processes/node_board.hpp"

namespace chasqui::bsp::detail {

namespace {

std::size_t board_bytes(const run::BoardShape& shape) {
  return (shape.bytes() + run::kLine - 1) / run::kLine * run::kLine;
}

std::size_t places(const run::BoardShape& shape) {
  const auto ranks = static_cast<std::size_t>(shape.ranks);
  return 2 * ranks * ranks;
}

}  // namespace

run::BoardShape NodeBoard::shape(int ranks, std::size_t wide) {
  run::BoardShape shape = run::BoardShape::for_ranks(ranks, run::kLine, wide);
  shape.wide = std::max(shape.wide, std::size_t{256});
  return shape;
}

std::size_t NodeBoard::bytes(const run::BoardShape& shape) {
  return board_bytes(shape) + places(shape) * sizeof(Place);
}

void NodeBoard::clear(std::byte* memory, const run::BoardShape& shape) {
  std::memset(memory, 0, shape.zeroed());
  std::memset(memory + board_bytes(shape), 0, places(shape) * sizeof(Place));
}

NodeBoard::NodeBoard(std::byte* memory, const run::BoardShape& shape, int slot, int cores)
    : board_(memory, shape, slot, cores), table_(reinterpret_cast<Place*>(memory + board_bytes(shape))) {}

void NodeBoard::publish(std::span<const std::byte> bytes, std::size_t left) {
  Piece piece;
  piece.bytes = static_cast<std::uint32_t>(bytes.size());
  piece.left = static_cast<std::uint32_t>(left);
  const bool here = bytes.size() <= piece.here.size();
  if (!bytes.empty()) std::memcpy(here ? piece.here.data() : board_.wide(board_.rank()), bytes.data(), bytes.size());
  if (!here) board_.uses_wide(bytes.size());
  board_.publish_line(board_.rank(), run::Place::first, &piece, sizeof piece);
}

}  // namespace chasqui::bsp::detail
