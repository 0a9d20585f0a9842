// SPDX-License-Identifier: MIT
// Blocks that have been read and will be written again: their memory is known, and in the cache.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "chasqui/bsp/detail/block.hpp"

namespace chasqui::bsp::detail {

class SpareBlocks {
 public:
  /// Keeps no more than so many, with no more than so many bytes.
  SpareBlocks(std::size_t most, std::size_t most_bytes) : most_(most), most_bytes_(most_bytes) {
    blocks_.reserve(most);
  }

  /// An empty block: the last one that was kept, else a new one.
  BlockPtr take() {
    if (blocks_.empty()) return std::make_unique<Block>();
    BlockPtr block = std::move(blocks_.back());
    blocks_.pop_back();
    bytes_ -= block->payload.capacity();
    return block;
  }
  /// These have been read. Afterwards there are none.
  void keep(Blocks& read) {
    for (BlockPtr& block : read) {
      if (block->payload.borrowed()) continue;  // its memory goes back to the sender
      if (blocks_.size() >= most_ || bytes_ + block->payload.capacity() > most_bytes_) break;
      block->payload.resize(0);
      block->messages = block->information = 0;
      block->kinds = 0;
      bytes_ += block->payload.capacity();
      blocks_.push_back(std::move(block));
    }
    read.clear();
  }

 private:
  std::vector<BlockPtr> blocks_;
  std::size_t most_, most_bytes_;
  std::size_t bytes_ = 0;
};

}  // namespace chasqui::bsp::detail
