// SPDX-License-Identifier: MIT
// Memory of a node in which each of its ranks packs the blocks for the others, who read them there. Each rank has an area
// and cuts pieces from it; it grows as they are needed, up to its end. A piece that has been sent says how many ranks read it, and these take
// themselves off; its owner uses it again when nobody is left. Nobody ever waits: an owner without a free piece is told so, and sends the block
// by a message.
//
// MEMORY ORDER: what the owner writes goes to a reader with the word that tells it the piece's offset (a line of a board, an MPI message). A reader
// takes itself off with release after its last look, and the owner loads that with acquire before it writes again.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "chasqui/bsp/detail/block.hpp"

namespace chasqui::bsp::detail {

class NodeStore final : public Lender {
 public:
  /// Makes `bytes` from `begin` on usable; false: they cannot be had. Offsets count from the store's memory.
  using Reserve = std::function<bool(std::size_t begin, std::size_t bytes)>;

  /// `memory` has room for an area of `area` bytes for each rank, is aligned to a line, and outlives the store. Of each area
  /// only what `reserve` has granted may be touched.
  NodeStore(std::byte* memory, std::size_t area, int place, Reserve reserve);

  /// Memory to pack a block in.
  std::byte* lend(std::size_t& bytes) noexcept override;
  /// A piece that was not sent, or what another rank sent and this one has read.
  void give_back(std::byte* memory) noexcept override;

  /// The block lies in lent memory: from now on it is for another rank, which gets it by this offset. It is the last of some for
  /// that rank; `before`: the one before it, 0: there is none.
  std::uint64_t send(BlockPtr block, std::uint64_t before);
  /// The block at an offset that another rank told, and then the offset of the one after it, 0: there is none.
  BlockPtr receive(std::uint64_t& offset);

  /// Memory of this rank's that `ranks` ranks use until each has called leave(). 0: there is none.
  std::uint64_t share(std::size_t bytes, std::uint32_t ranks) noexcept;
  std::byte* at(std::uint64_t offset) const { return memory_ + offset; }
  void leave(std::uint64_t offset) noexcept { head_of(at(offset)).readers.fetch_sub(1, std::memory_order_release); }

  std::size_t reserved() const { return reserved_; }  ///< bytes of this rank's area

 private:
  /// In front of every piece. All but `readers` is the owner's to write.
  struct alignas(64) Head {
    std::atomic<std::uint32_t> readers;
    std::uint32_t size_class;
    Head* queue;         ///< the next one of those that are free, or of those that were sent
    std::uint64_t next;  ///< offset of the next block for the same rank; 0: none
    Channel channel;
    std::int32_t from;
    std::uint32_t index;
    std::uint64_t messages, information, bytes;
    std::uint32_t kinds;
  };
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "shared between processes");
  static constexpr std::size_t kClasses = 80, kLeast = 256;
  struct Shelf {
    Head* free = nullptr;
    Head* first_sent = nullptr;
    Head* last_sent = nullptr;
  };

  /// Four sizes from a power of two to the next, multiples of a line.
  static constexpr std::size_t capacity(std::size_t size_class) {
    return (kLeast / 4 * (4 + size_class % 4)) << (size_class / 4);
  }
  static Head& head_of(std::byte* memory) { return *reinterpret_cast<Head*>(memory - sizeof(Head)); }
  std::byte* memory_of(Head& head) const { return reinterpret_cast<std::byte*>(&head) + sizeof(Head); }
  Head* found(Shelf& shelf) noexcept;
  Head* cut(std::size_t size_class) noexcept;
  void sent(Head& head) noexcept;

  std::byte* memory_;
  std::byte* own_;
  std::size_t area_;
  std::size_t used_ = 0, reserved_ = 0;
  bool short_ = false;  ///< more could not be had
  Reserve reserve_;
  std::array<Shelf, kClasses> shelves_{};
};

}  // namespace chasqui::bsp::detail
