// SPDX-License-Identifier: MIT
// The door of a processor that is an MPI rank.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <optional>

#include "bsp/mpi/books.hpp"
#include "bsp/mpi/ending.hpp"
#include "bsp/mpi/meetings.hpp"
#include "bsp/mpi/peers.hpp"
#include "bsp/mpi/rooms.hpp"
#include "chasqui/bsp/fault.hpp"

namespace chasqui::bsp::detail {

class MpiEndpoint final : public Endpoint {
 public:
  /// Collective: on all ranks, or a MachineError on all. What the nodes have stays with the communicator, for the next one.
  static std::unique_ptr<MpiEndpoint> make(MPI_Comm communicator, const Options& options);

  std::int32_t rank() const override { return peers_.rank(); }
  std::int32_t size() const override { return peers_.size(); }
  const Options& options() const override { return options_; }

  bool has_rooms() const override { return rooms_->any(); }
  Buffer room_for(std::int32_t to) override { return rooms_->room_for(to); }
  void post(std::int32_t to, BlockPtr block) override { peers_.post(to, std::move(block), false); }
  Block* take() override { return peers_.take(); }
  void await(const Waiting& why) override;

  GroupPtr open(const GroupInfo& info) override { return meetings_->open(info, books_.open(info)); }
  std::uint32_t meet(GroupState& group, const Arrival& arrival, std::span<Parcel> parcels, Blocks& in,
                     const Waiting& why) override {
    return meetings_->meet(static_cast<MpiGroup&>(group), arrival, parcels, in, why);
  }

  void allocate(Segment& segment) override { segment.data = new std::byte[segment.bytes + 1]; }
  void release(Segment& segment) noexcept override { delete[] segment.data; }

  void report(GroupState& group, std::span<const Booking> rows) override {
    books_.report(static_cast<MpiGroup&>(group).info, rows, options_.per_processor_costs);
  }
  Ledger ledger() override { return books_.ledger(size()); }

  /// The program ended well, or did not, here: one of them, once.
  Ledger finish(double seconds) { return end_well(peers_, books_, seconds); }
  void abandon(Fault fault, const std::function<std::string()>& text) { end_badly(peers_, fault, text); }

 private:
  MpiEndpoint(std::int32_t rank, std::int32_t size, const Options& options) : options_(options), peers_(rank, size) {}
  void use(const std::shared_ptr<MpiNodes>& nodes);

  Options options_;
  std::optional<MpiRooms> rooms_;  ///< outlives the blocks that have come through it
  MpiPeers peers_;
  MpiBooks books_;
  std::optional<MpiMeetings> meetings_;
};

}  // namespace chasqui::bsp::detail
