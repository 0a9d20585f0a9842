// SPDX-License-Identifier: MIT
// Where some ranks of a node meet: a board of `run`, on which all show each other what they bring, and a table in which each says where it has
// put down blocks for whom (node_store.hpp).
//
// The table has two rows for each rank, for meetings of odd and even number. Who writes a row again has seen the lines of the
// meeting between, and whoever published one had read the row before: two are enough. A place counts if it has the number of the present meeting.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "chasqui/bsp/detail/block.hpp"
#include "run/board/board.hpp"

namespace chasqui::bsp::detail {

class NodeBoard {
 public:
  /// `wide`: bytes that a rank shows at once, about.
  static run::BoardShape shape(int ranks, std::size_t wide);
  static std::size_t bytes(const run::BoardShape& shape);  ///< of memory that all the ranks share, aligned to a line
  /// Memory that was used before. By one rank, before the others know of it.
  static void clear(std::byte* memory, const run::BoardShape& shape);
  NodeBoard(std::byte* memory, const run::BoardShape& shape, int slot, int cores);

  int ranks() const { return board_.ranks(); }
  int slot() const { return board_.rank(); }

  /// The next meeting of all of them: a show() belongs to it, or several.
  void begin() { ++meeting_; }
  /// Before the first show() of a meeting: blocks for the rank at `slot`, from this offset of the store on.
  void put_down(int slot, std::uint64_t offset) { *place(this->slot(), slot) = {meeting_, offset}; }
  /// After it: where the rank at `slot` has put down blocks for this one; 0: it has none.
  std::uint64_t put_down_by(int slot) const {
    const Place& one = *place(slot, this->slot());
    return one.meeting == meeting_ ? one.offset : 0;
  }

  /// All ranks show each other bytes, as many as each likes: visit(slot, bytes) for all of them, in order.
  /// wait(condition) returns when the condition holds, or throws: then nothing more can be shown.
  template <typename Wait, typename Visit>
  void show(std::span<const std::byte> mine, const Wait& wait, const Visit& visit);

 private:
  struct Place {
    std::uint64_t meeting, offset;
  };
  /// What a line says: the bytes, where they fit; others lie beside it.
  struct Piece {
    std::uint32_t bytes = 0;
    std::uint32_t left = 0;  ///< bytes that follow in further pieces
    std::array<std::byte, run::kLinePayload - 8> here{};
  };
  static_assert(sizeof(Piece) == run::kLinePayload);

  Place* place(int from, int to) const {
    const auto row = static_cast<std::size_t>(from) * 2 + meeting_ % 2;
    return table_ + row * static_cast<std::size_t>(ranks()) + static_cast<std::size_t>(to);
  }
  void publish(std::span<const std::byte> piece, std::size_t left);
  Piece piece(int slot) const {
    Piece read;
    board_.read(slot, &read, sizeof read);
    return read;
  }
  std::span<const std::byte> bytes_of(const Piece& piece, int slot) const {
    return {piece.bytes <= piece.here.size() ? piece.here.data() : board_.wide(slot), piece.bytes};
  }

  run::Board board_;
  Place* table_;
  std::uint64_t meeting_ = 0;
};

template <typename Wait, typename Visit>
void NodeBoard::show(std::span<const std::byte> mine, const Wait& wait, const Visit& visit) {
  static const run::Signature kShow =
      run::signature_of({.kind = Kind::allgather, .count = 1, .element = sizeof(Piece)});
  const int ranks = board_.ranks(), looks = board_.crowded() ? 1 : 32;
  std::vector<Buffer> whole;  // where somebody needs several pieces
  for (bool more = true; more;) {
    board_.begin(kShow, run::Method::slots);
    if (!board_.may_publish()) wait([&] { return board_.may_publish(); });
    const std::size_t bytes = std::min(mine.size(), board_.shape().wide);
    publish(mine.first(bytes), mine.size() - bytes);
    mine = mine.subspan(bytes);
    for (int slot = 0; slot < ranks; ++slot) board_.fetch(slot, run::Place::first);
    int there = 0;
    wait([&] {
      for (int look = 0; look < looks; ++look, run::cpu_relax()) {
        while (there < ranks && board_.published(there)) ++there;
        if (there == ranks) return true;
      }
      return false;
    });
    board_.everybody_began();
    more = false;
    for (int slot = 0; slot < ranks; ++slot) more = more || piece(slot).left != 0;
    if (more) whole.resize(static_cast<std::size_t>(ranks));
    for (int slot = 0; slot < ranks; ++slot) {
      const Piece one = piece(slot);
      const auto shown = bytes_of(one, slot);
      if (whole.empty()) {
        visit(slot, shown);
      } else if (!shown.empty()) {
        std::memcpy(whole[static_cast<std::size_t>(slot)].extend(shown.size()), shown.data(), shown.size());
      }
    }
    board_.finish();
  }
  for (std::size_t slot = 0; slot < whole.size(); ++slot) visit(static_cast<int>(slot), whole[slot].view());
}

}  // namespace chasqui::bsp::detail
