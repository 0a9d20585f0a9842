// SPDX-License-Identifier: MIT
// Where a rank packs blocks for others of its node, which read them there: in its store, if the node has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bsp/mpi/nodes.hpp"

namespace chasqui::bsp::detail {

class MpiRooms {
 public:
  MpiRooms(std::shared_ptr<MpiNodes> nodes, std::int32_t rank);

  bool any() const { return store() != nullptr; }
  NodeStore* store() const { return nodes_ == nullptr ? nullptr : nodes_->store(); }  ///< nullptr: there is none
  /// Memory for a block for rank `to`; empty: that one reads no memory of this rank. REQUIRES any().
  Buffer room_for(std::int32_t to);
  /// Where the block lies, for rank `to` of this node, behind the one at `before`. REQUIRES it was packed in a room.
  std::uint64_t send(std::int32_t to, BlockPtr block, std::uint64_t before);

 private:
  std::shared_ptr<MpiNodes> nodes_;  ///< nullptr: there are no others on the node, or it shares no memory
  std::int32_t rank_;
  std::vector<std::size_t> sizes_;  ///< by slot: bytes of the last blocks for it, about
};

}  // namespace chasqui::bsp::detail
