// SPDX-License-Identifier: MIT
// The door of a processor that is an MPI rank. Ranks of a node pack what they send each other into its store, where it is read; of a machine on
// one node all end a superstep by one step of a board (mpi_nodes.hpp). Otherwise a few members end it by a direct exchange: one message to every
// member carries the last blocks for it, or where they lie, the arrival and the ledger rows. Many send only to those who get some, and learn by a
// reduce-scatter how many blocks to expect: ceil(log2 P) messages each. Where ranks of the whole machine share nodes they tell each other
// on the boards of these, and only the nodes exchange messages. Submachines and subsets on one node get a board when they have met a few times.
//
// What is shown on a board is no message that rank 0 could count when it looks for a deadlock; who has seen it counts as if it had sent itself
// one, so that a rank which has moved on between two waves is noticed.
#pragma once

#include <mpi.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "bsp/deadlock_waves.hpp"
#include "bsp/mpi_fate.hpp"
#include "bsp/mpi_mail.hpp"
#include "bsp/mpi_nodes.hpp"
#include "bsp/mpi_wire.hpp"
#include "chasqui/bsp/detail/processor.hpp"
#include "chasqui/bsp/fault.hpp"

namespace chasqui::bsp::detail {

struct MpiGroup final : GroupState {
  explicit MpiGroup(const GroupInfo& description) : GroupState(description) {}
  ~MpiGroup() override {
    board.reset();
    if (board_at != 0) store->leave(board_at);
  }

  MachineCosts* costs = nullptr;
  std::optional<Circle> members;  ///< of a machine that ends supersteps in rounds without boards
  bool on_one_node = false;
  std::uint32_t meetings = 0;  ///< until there was a board
  NodeStore* store = nullptr;
  std::uint64_t board_at = 0;        ///< in the store; 0: it has none
  std::unique_ptr<NodeBoard> board;  ///< of a part of the machine that is on one node, by member
};

class MpiEndpoint final : public Endpoint {
 public:
  /// Collective: on all ranks, or a MachineError on all. What the nodes have stays with the communicator, for the next one.
  static std::unique_ptr<MpiEndpoint> make(MPI_Comm communicator, const Options& options);

  std::int32_t rank() const override { return rank_; }
  std::int32_t size() const override { return size_; }
  const Options& options() const override { return options_; }
  bool has_rooms() const override { return store_ != nullptr; }
  Buffer room_for(std::int32_t to) override;
  void post(std::int32_t to, BlockPtr block) override { post(to, std::move(block), false); }
  Block* take() override;
  void await(const Waiting& why) override;
  GroupPtr open(const GroupInfo& info) override;
  std::uint32_t meet(GroupState& group, const Arrival& arrival, std::span<Parcel> parcels, Blocks& in,
                     const Waiting& why) override;
  void allocate(Segment& segment) override { segment.data = new std::byte[segment.bytes + 1]; }
  void release(Segment& segment) noexcept override { delete[] segment.data; }
  void report(GroupState& group, std::span<const Booking> rows) override;
  Ledger ledger() override;

  /// The program ended well here: waits until it has everywhere and exchanges the ledgers.
  Ledger finish(double seconds);
  /// The program failed here (or elsewhere): tells everybody, and waits until nobody sends any more. The text is asked for
  /// unless another fault came first.
  void abandon(Fault fault, const std::function<std::string()>& text);

 private:
  MpiEndpoint(std::int32_t rank, std::int32_t size, const Options& options);

  struct Arrived {
    RecordHead head;
    Buffer bytes;
  };

  /// Where members of a machine meet, as this one sees it.
  struct Table {
    NodeBoard& board;
    const MpiNodes* nodes;  ///< nullptr: each member has its own slot; else of the whole machine

    /// -1: it is on another node.
    int slot_of(std::int32_t member) const { return nodes == nullptr ? member : nodes->slot_of(member); }
    std::int32_t member_at(int slot) const { return nodes == nullptr ? slot : nodes->rank_at(slot); }
  };

  std::optional<Table> table_of(const MpiGroup& group);
  /// Without a board: a message from each to each. So do few members, and all where everybody needs all rows of the ledger.
  bool meets_each(std::int32_t members) const;
  Agreement meet_each(MpiGroup& group, const Arrival& arrival, const Waiting& why);
  std::uint32_t meet_in_rounds(MpiGroup& group, const Arrival& arrival, const std::optional<Table>& table,
                               std::span<const Share> shares, const Waiting& why);
  Share put_down(const Table& table, const Members& members, Parcel& parcel);
  void pick_up(const Table& table, Chain& own, Blocks& in);
  std::uint64_t offer(MpiGroup& group, const Arrival& arrival);
  void accept(MpiGroup& group, const Arrival& arrival, std::uint64_t board);
  void show_on_node(const Table& table, const Arrival& arrival, std::span<const Share> shares, Digest& digest,
                    std::span<std::uint32_t> counts, const Waiting& why);
  void exchange(const MpiGroup& group, std::int32_t member, const Circle& circle, Digest& digest,
                std::span<std::uint32_t> counts, const Waiting& why);
  Arrived next_arrival(std::uint64_t group, std::int32_t from, const Waiting& why);
  void post(std::int32_t to, BlockPtr block, bool counted);
  std::uint64_t send_lent(std::int32_t to, BlockPtr block, std::uint64_t before);
  template <typename Condition>
  void wait_until(const Waiting& why, const Condition& condition);
  template <typename Visit>
  void show(NodeBoard& board, std::span<const std::byte> mine, const Waiting& why, const Visit& visit);
  bool progress();
  void receive(Buffer& message);
  void arrived(BlockPtr block);
  BlockPtr ledger_of(std::int32_t from);
  void look_for_deadlock(const Waiting& why);
  RankStatus status(const Waiting& why) const;
  void answer_probe(const Waiting& why);

  std::int32_t rank_ = 0, size_ = 1;
  Options options_;
  std::shared_ptr<MpiNodes> nodes_;  ///< of the whole machine; nullptr: it goes without boards
  NodeStore* store_ = nullptr;       ///< of this node; nullptr: there is none
  std::vector<std::size_t> sizes_;   ///< by slot: bytes of the last blocks for it, about
  MpiFate fate_;
  MpiMail mail_;
  DeadlockWaves waves_;
  std::optional<std::uint32_t> probe_;      ///< a wave that waits for the answer of this rank
  std::uint64_t received_ = 0, shown_ = 0;  ///< messages of the program, and looks at boards
  std::int32_t goodbyes_ = 0;
  bool told_ = false;  ///< another has told all why the program failed
  Pile arrived_blocks_;
  bool all_in_ = false;            ///< a board has said so, and nobody has asked since
  std::uint32_t unseen_ = 0;       ///< how often that was believed
  std::vector<BlockPtr> ledgers_;  ///< of ranks that finished earlier
  std::map<std::uint64_t, std::map<std::int32_t, std::deque<Arrived>>> arrivals_;
  std::map<Channel, std::uint64_t> counted_;         ///< blocks that have come to meetings that count them
  std::map<std::uint64_t, MachineCosts> accounts_;   ///< what meetings carried; equal at all members
  std::map<std::uint64_t, MachineCosts> leftovers_;  ///< what only this processor knows
  std::map<std::uint64_t, std::int32_t> speaker_;    ///< machine -> rank that publishes its account
};

}  // namespace chasqui::bsp::detail
