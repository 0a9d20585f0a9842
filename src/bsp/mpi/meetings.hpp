// SPDX-License-Identifier: MIT
// How MPI ranks end a superstep. Ranks of a node pack what they send each other into its store, where it is read; of a machine on one node
// all meet by one step of a board (mpi_nodes.hpp). Otherwise a few members exchange directly: one message to every member carries the last
// blocks for it, or where they lie, the arrival and the ledger rows. Many send only to those who get some, and learn in rounds how many blocks
// to expect (mpi_rounds.hpp). Where ranks of the whole machine share nodes they tell each other on the boards of these, and only the nodes
// exchange messages. Submachines and subsets on one node get a board when they have met a few times.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "bsp/mpi/peers.hpp"
#include "bsp/mpi/rooms.hpp"

namespace chasqui::bsp::detail {

struct MpiGroup final : GroupState {
  MpiGroup(const GroupInfo& description, MachineCosts& account, MpiInbox& mail)
      : GroupState(description), costs(account), inbox(mail) {}
  ~MpiGroup() override {
    inbox.forget(info.id);
    board.reset();
    if (board_at != 0) store->leave(board_at);
  }

  MachineCosts& costs;
  MpiInbox& inbox;
  std::optional<Circle> members;  ///< of a machine that ends supersteps in rounds without boards
  bool on_one_node = false;
  std::uint32_t meetings = 0;  ///< until there was a board
  NodeStore* store = nullptr;
  std::uint64_t board_at = 0;        ///< in the store; 0: it has none
  std::unique_ptr<NodeBoard> board;  ///< of a part of the machine that is on one node, by member
};

class MpiMeetings {
 public:
  /// `nodes`: nullptr: the machine goes without boards.
  MpiMeetings(MpiPeers& peers, std::shared_ptr<MpiNodes> nodes, bool keep_rows)
      : peers_(peers), nodes_(std::move(nodes)), keep_rows_(keep_rows) {}

  std::shared_ptr<MpiGroup> open(const GroupInfo& info, MachineCosts& costs) const;
  /// As Endpoint::meet.
  std::uint32_t meet(MpiGroup& group, const Arrival& arrival, std::span<Parcel> parcels, Blocks& in,
                     const Waiting& why);

 private:
  /// Where members of a machine meet, as this one sees it.
  struct Table {
    NodeBoard& board;
    const MpiNodes* nodes;  ///< nullptr: each member has its own slot; else of the whole machine

    /// -1: it is on another node.
    int slot_of(std::int32_t member) const { return nodes == nullptr ? member : nodes->slot_of(member); }
    std::int32_t member_at(int slot) const { return nodes == nullptr ? slot : nodes->rank_at(slot); }
  };
  std::optional<Table> table_of(const MpiGroup& group);
  Share put_down(const Table& table, const Members& members, Parcel& parcel);
  void pick_up(const Table& table, Chain& own, Blocks& in);
  Agreement meet_each(MpiGroup& group, const Arrival& arrival, const Waiting& why);
  std::uint32_t meet_in_rounds(MpiGroup& group, const Arrival& arrival, const std::optional<Table>& table,
                               std::span<const Share> shares, const Waiting& why);
  void show_on_node(const Table& table, const Arrival& arrival, std::span<const Share> shares, Digest& digest,
                    std::span<std::uint32_t> counts, const Waiting& why);
  std::uint64_t offer(MpiGroup& group, const Arrival& arrival);
  void accept(MpiGroup& group, const Arrival& arrival, std::uint64_t board);

  MpiPeers& peers_;
  std::shared_ptr<MpiNodes> nodes_;
  bool keep_rows_;  ///< everybody needs all rows of the ledger
};

}  // namespace chasqui::bsp::detail
