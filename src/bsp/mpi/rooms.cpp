// SPDX-License-Identifier: MIT
#include "bsp/mpi/rooms.hpp"

#include <algorithm>
#include <utility>

namespace chasqui::bsp::detail {

MpiRooms::MpiRooms(std::shared_ptr<MpiNodes> nodes, std::int32_t rank) : nodes_(std::move(nodes)), rank_(rank) {
  if (nodes_ != nullptr) sizes_.resize(static_cast<std::size_t>(nodes_->board().ranks()));
}

/// As large as the last ones were: a block that grows is copied.
Buffer MpiRooms::room_for(std::int32_t to) {
  const int slot = to == rank_ ? -1 : nodes_->slot_of(to);
  if (slot < 0) return {};
  Buffer room(*store());
  if (const std::size_t bytes = sizes_[static_cast<std::size_t>(slot)]; bytes > 0) room.reserve(bytes);
  return room;
}

std::uint64_t MpiRooms::send(std::int32_t to, BlockPtr block, std::uint64_t before) {
  std::size_t& usual = sizes_[static_cast<std::size_t>(nodes_->slot_of(to))];
  usual = std::max(block->payload.size(), usual - usual / 8);
  return store()->send(std::move(block), before);
}

}  // namespace chasqui::bsp::detail
