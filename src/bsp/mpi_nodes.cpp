// SPDX-License-Identifier: MIT
#include "bsp/mpi_nodes.hpp"

#include "mpi/fabric.hpp"
#include "mpi/node_ranks.hpp"
#include "run/board/node_memory.hpp"

namespace chasqui::bsp::detail {

namespace {

/// Of `count` who send to radix - 1 others in a round.
std::int32_t rounds_of(std::int64_t count, std::int32_t radix) {
  std::int32_t rounds = 0;
  for (std::int64_t known = 1; known < count; known *= radix) ++rounds;
  return rounds;
}

}  // namespace

Circle Circle::of_members(std::int32_t count, std::int32_t own) {
  Circle circle;
  for (std::int32_t distance = 0; distance < count; ++distance) {
    circle.members.push_back((own + distance) % count);
    circle.begin.push_back(static_cast<std::size_t>(distance));
  }
  circle.begin.push_back(static_cast<std::size_t>(count));
  return circle;
}

/// A step of the board is taken to cost half a message between nodes.
LaneChoice choose_lanes(std::int32_t nodes, std::int32_t smallest, bool equal) {
  const std::int32_t fewest = rounds_of(nodes, smallest + 1);
  if (equal && 2 * rounds_of(nodes, 2) <= 3 * fewest) return {2, false};
  std::int32_t radix = 2;
  while (rounds_of(nodes, radix) > fewest) ++radix;  // more lanes than that are of no use
  return {radix, true};
}

std::unique_ptr<MpiNodes> MpiNodes::find(MPI_Comm comm, int pretended) {
  return mpi::make_together(comm, [&](mpi::Together& all) -> std::unique_ptr<MpiNodes> {
    std::vector<int> nodes = mpi::nodes_of(all, pretended);
    mpi::NodeRanks node(all, nodes);
    if (all.most(node.size()) == 1) return nullptr;
    run::BoardShape shape = run::BoardShape::for_threads(node.size());
    shape.wide = std::max(shape.wide, std::size_t{256});
    std::shared_ptr<run::Board> board = run::make_board(node, run::cores_of(node), shape);
    if (board == nullptr) return nullptr;
    return std::unique_ptr<MpiNodes>(new MpiNodes(run::NodeMap(std::move(nodes)), std::move(board), all.rank()));
  });
}

MpiNodes::MpiNodes(run::NodeMap map, std::shared_ptr<run::Board> board, std::int32_t rank)
    : map_(std::move(map)), board_(std::move(board)), node_(map_.node_of(rank)), place_(map_.place_of(rank)) {
  const std::int32_t nodes = map_.count();
  const LaneChoice choice = choose_lanes(nodes, map_.smallest(), map_.smallest() == map_.largest());
  circle_.radix = choice.radix;
  circle_.shared = choice.shared;
  circle_.turn = choice.shared ? place_ + 1 : 1;
  std::size_t begin = 0;
  for (std::int32_t distance = 0; distance < nodes; ++distance) {
    const std::vector<int>& there = map_.members((node_ + distance) % nodes);
    const auto place = static_cast<std::size_t>(place_);
    circle_.members.push_back(place < there.size() ? there[place] : -1);
    circle_.begin.push_back(begin);
    begin += choice.shared ? there.size() : 1;
  }
  circle_.begin.push_back(begin);
}

std::ptrdiff_t MpiNodes::count_for(std::int32_t rank) const {
  const std::int32_t nodes = map_.count(), place = map_.place_of(rank);
  const auto first = static_cast<std::ptrdiff_t>(
      circle_.begin[static_cast<std::size_t>((map_.node_of(rank) - node_ + nodes) % nodes)]);
  if (circle_.shared) return first + place;
  return place == place_ ? first : -1;
}

void MpiNodes::publish(std::span<const std::byte> bytes, std::size_t left) {
  Piece piece;
  piece.bytes = static_cast<std::uint32_t>(bytes.size());
  piece.left = static_cast<std::uint32_t>(left);
  const bool here = bytes.size() <= piece.here.size();
  if (!bytes.empty()) std::memcpy(here ? piece.here.data() : board_->wide(board_->rank()), bytes.data(), bytes.size());
  if (!here) board_->uses_wide(bytes.size());
  board_->publish_line(board_->rank(), run::Place::first, &piece, sizeof piece);
}

}  // namespace chasqui::bsp::detail
