// SPDX-License-Identifier: MIT
// Who tells whom the counts of a superstep over MPI. Where several ranks share a node they show each other what they bring on
// the board of the node, and the nodes exchange it in rounds, along lanes. Two ways (choose_lanes() has the choice):
//  - each rank is a lane of its own: it carries the counts for those who have its place in their nodes, from its like to its like in
//    the other nodes, ceil(log2 N) messages, and needs nothing of the other lanes;
//  - in a round each lane sends to another node, all counts for some nodes, and what came is shown on the board:
//    ceil(log_r N) rounds of one message a lane and one step of the board, with r - 1 lanes.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "chasqui/bsp/detail/block.hpp"
#include "run/board/board.hpp"
#include "run/comm/node_map.hpp"

namespace chasqui::bsp::detail {

/// Those who exchange in rounds, members of a machine or whole nodes, as one rank sees them: by distance from itself.
struct Circle {
  /// The members of a machine, each for itself.
  static Circle of_members(std::int32_t count, std::int32_t own);

  std::int32_t count() const { return static_cast<std::int32_t>(members.size()); }

  std::int32_t radix = 2;             ///< in a round one sends to radix - 1 others
  std::int32_t turn = 1;              ///< to which of them this rank does, from 1
  bool shared = false;                ///< what comes in a round is for all ranks of the node: they show it
  std::vector<std::int32_t> members;  ///< by distance: the one who is this rank's turn there; -1: nobody is
  std::vector<std::size_t> begin;     ///< by distance: where the counts for its ranks begin; and where all end
};

/// How the nodes exchange. Equal nodes of `smallest` ranks each may go either way; where nodes differ, what came must be shown.
struct LaneChoice {
  std::int32_t radix = 2;
  bool shared = false;
};
LaneChoice choose_lanes(std::int32_t nodes, std::int32_t smallest, bool equal);

/// The nodes of the ranks of a communicator, and the board of this rank's.
class MpiNodes {
 public:
  /// Collective. Nothing where each rank is a node of its own, or a node cannot share memory. `pretended`: as
  /// Options::pretend_node_size.
  static std::unique_ptr<MpiNodes> find(MPI_Comm comm, int pretended);

  const Circle& circle() const { return circle_; }
  /// Which of the counts that travel along circle() is that for `rank`; -1: another lane carries it.
  std::ptrdiff_t count_for(std::int32_t rank) const;
  std::int32_t rank_at(int slot) const { return map_.members(node_)[static_cast<std::size_t>(slot)]; }

  /// All ranks of the node show each other bytes, as many as each likes: visit(slot, bytes) for all of them, in rank order.
  /// wait(condition) returns when the condition holds, or throws: then nothing more can be shown.
  template <typename Wait, typename Visit>
  void show(std::span<const std::byte> mine, const Wait& wait, const Visit& visit);

 private:
  /// What a line says: the bytes, where they fit; others lie beside it.
  struct Piece {
    std::uint32_t bytes = 0;
    std::uint32_t left = 0;  ///< bytes that follow in further pieces
    std::array<std::byte, run::kLinePayload - 8> here{};
  };
  static_assert(sizeof(Piece) == run::kLinePayload);

  MpiNodes(run::NodeMap map, std::shared_ptr<run::Board> board, std::int32_t rank);
  void publish(std::span<const std::byte> piece, std::size_t left);
  Piece piece(int slot) const {
    Piece read;
    board_->read(slot, &read, sizeof read);
    return read;
  }
  std::span<const std::byte> bytes_of(const Piece& piece, int slot) const {
    return {piece.bytes <= piece.here.size() ? piece.here.data() : board_->wide(slot), piece.bytes};
  }

  run::NodeMap map_;
  std::shared_ptr<run::Board> board_;
  std::int32_t node_, place_;
  Circle circle_;
};

template <typename Wait, typename Visit>
void MpiNodes::show(std::span<const std::byte> mine, const Wait& wait, const Visit& visit) {
  static const run::Signature kShow =
      run::signature_of({.kind = Kind::allgather, .count = 1, .element = sizeof(Piece)});
  const int ranks = board_->ranks(), looks = board_->crowded() ? 1 : 32;
  std::vector<Buffer> whole;  // where somebody needs several pieces
  for (bool more = true; more;) {
    board_->begin(kShow, run::Method::slots);
    if (!board_->may_publish()) wait([&] { return board_->may_publish(); });
    const std::size_t bytes = std::min(mine.size(), board_->shape().wide);
    publish(mine.first(bytes), mine.size() - bytes);
    mine = mine.subspan(bytes);
    for (int slot = 0; slot < ranks; ++slot) board_->fetch(slot, run::Place::first);
    int there = 0;
    wait([&] {
      for (int look = 0; look < looks; ++look, run::cpu_relax()) {
        while (there < ranks && board_->published(there)) ++there;
        if (there == ranks) return true;
      }
      return false;
    });
    board_->everybody_began();
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
    board_->finish();
  }
  for (std::size_t slot = 0; slot < whole.size(); ++slot) visit(static_cast<int>(slot), whole[slot].view());
}

}  // namespace chasqui::bsp::detail
