// SPDX-License-Identifier: MIT
// One processor's door to the machine: what an engine (threads, virtual processors, MPI ranks) must offer.
// Everything else (packing, variables, supersteps, submachines, collectives) is built on it once, in Core.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "chasqui/bsp/detail/block.hpp"
#include "chasqui/bsp/detail/spare_blocks.hpp"
#include "chasqui/bsp/ledger.hpp"
#include "chasqui/bsp/options.hpp"

namespace chasqui::bsp::detail {

/// The processors of a machine, by rank of the whole machine: an interval, or a list when it is not one.
struct Members {
  std::int32_t first = 0;
  std::int32_t count = 0;
  std::shared_ptr<const std::vector<std::int32_t>> list;

  std::int32_t at(std::int32_t index) const { return list ? (*list)[static_cast<std::size_t>(index)] : first + index; }
};

struct GroupInfo {
  std::uint64_t id = 1;
  std::uint64_t parent = 0;
  std::uint64_t split = 0;
  Members members;

  /// An account of it without supersteps.
  MachineCosts costs() const { return {id, parent, split, members.count, {}}; }
};

/// What an engine keeps for a machine that synchronises.
class GroupState {
 public:
  explicit GroupState(GroupInfo description) : info(std::move(description)) {}
  virtual ~GroupState() = default;

  const GroupInfo info;
};
using GroupPtr = std::shared_ptr<GroupState>;

/// A processor's row of a superstep. The first member of a machine also says how long the superstep took, from the end of
/// the one before to its own.
struct Booking {
  Row row;
  std::int64_t span = 0;
};
void merge(MachineCosts& costs, const Booking& booking, bool keep_row);

/// A superstep of a processor that sent and received nothing.
struct Idle {
  std::int64_t nanoseconds = 0, work = 0;
  std::int64_t released = 0;  ///< when the superstep before ended, in ticks; then: when this one did
};
/// A flag of what meet() returns: all were idle, and the engine has booked the superstep.
constexpr std::uint32_t kAllIdle = std::uint32_t{1} << 31;

/// What a processor brings to the end of a superstep.
struct Arrival {
  std::uint64_t step = 0;
  std::uint32_t flags = 0;  ///< combined by "or"
  std::int32_t member = 0;  ///< index in the group
  std::span<const Booking> rows;
  Lane lane = Lane::superstep;  ///< of the blocks in the parcels of all
  Idle* idle = nullptr;         ///< not null: it has nothing for anybody
};

/// What several members bring, together.
struct Agreement {
  std::uint32_t flags = 0;
  std::int32_t low_member = -1, high_member = -1;  ///< -1: nobody yet
  std::uint64_t low = 0, high = 0;                 ///< the least and the last superstep, and who came to it

  void add(std::uint64_t step, std::int32_t member, std::uint32_t more) {
    flags |= more;
    if (low_member < 0 || step < low) low = step, low_member = member;
    if (high_member < 0 || step > high) high = step, high_member = member;
  }
  void add(const Agreement& other) {
    if (other.low_member < 0) return;
    add(other.low, other.low_member, other.flags);
    add(other.high, other.high_member, 0);
  }
  /// The flags of all. Throws sync_mismatch when members are at different supersteps.
  std::uint32_t agreed(const Members& members) const;
};

/// What one member gets.
struct Parcel {
  std::int32_t to = 0;  ///< index in the group
  Chain blocks;
};

/// Why a processor waits; shown when it waits for ever.
struct Waiting {
  enum class For : std::uint8_t { nothing, barrier, messages, collective };
  For what = For::nothing;
  std::uint64_t group = 0;
  std::int32_t group_size = 0;
  std::uint64_t step = 0;
  std::int64_t have = 0, expected = 0;  ///< messages
  const char* file = "";
  std::uint32_t line = 0;

  std::string text() const;
};

/// The end of a superstep in two parts, which an engine runs where it likes: before a processor meets the others, and after. What
/// fails there is thrown in the processor.
class Ending {
 public:
  explicit Ending(GroupState& met, Blocks& mail) : group(met), in(mail) {}
  /// Packs what the processor brings, and says so.
  virtual Arrival before(std::span<Parcel>& parcels) = 0;
  /// All have come, and what they sent is in `in`. `flags`: of all.
  virtual void after(std::uint32_t flags) = 0;
  virtual Waiting why() const = 0;

  GroupState& group;
  Blocks& in;
  std::exception_ptr failure;  ///< of one of the parts; nullptr: none

 protected:
  ~Ending() = default;
};

/// What to say when all have ended and rank `to` of the whole machine has not taken this block.
std::string unclaimed(const Block& block, std::int32_t to);

/// Registered memory of one variable. Engines that spill may move it between supersteps.
struct Segment {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::uint64_t spilled_at = 0;
};

class Endpoint {
 public:
  virtual ~Endpoint() = default;

  virtual std::int32_t rank() const = 0;
  virtual std::int32_t size() const = 0;
  virtual const Options& options() const = 0;

  /// Hands a block to processor `to`. Never waits.
  virtual void post(std::int32_t to, BlockPtr block) = 0;
  /// All blocks that arrived since the last call, chained by `next`, in no particular order; the caller owns
  /// them.
  virtual Block* take() = 0;
  /// Returns when take() will yield something. Throws when the machine failed or can never deliver.
  virtual void await(const Waiting& why) = 0;

  /// Enters the machine `info`; every member gets the same state.
  virtual GroupPtr open(const GroupInfo& info) = 0;
  /// Hands over the parcels, at most one for each member, and waits for all members. GUARANTEES what they handed to this
  /// processor is in `in`, by sender, or there for take(). Returns the flags of all.
  virtual std::uint32_t meet(GroupState& group, const Arrival& arrival, std::span<Parcel> parcels, Blocks& in,
                             const Waiting& why) = 0;

  /// Does this engine run both parts of an ending itself? Then end() takes the place of meet() in a superstep: a processor that
  /// has a stack of its own touches little of it there.
  virtual bool ends() const { return false; }
  virtual void end(Ending&) {}

  /// Does room_for() know better places than the heap?
  virtual bool has_rooms() const { return false; }
  /// Where what goes to processor `to` is packed; empty.
  virtual Buffer room_for(std::int32_t) { return {}; }
  /// What processors of this one's thread have read; nullptr: each keeps its own.
  virtual SpareBlocks* spares() { return nullptr; }
  /// Moves a block's payload out of memory until it is needed (engines that spill), and back.
  virtual void stow(Block&) {}
  virtual void unstow(Block&) {}
  virtual void allocate(Segment& segment) = 0;
  virtual void release(Segment& segment) noexcept = 0;

  /// A row for the books of the machine. False: not yet; an arrival brings it, or report().
  virtual bool book(GroupState&, const Row&, std::int64_t /*span*/) { return false; }
  /// Rows that no barrier will carry any more.
  virtual void report(GroupState& group, std::span<const Booking> rows) = 0;
  /// The ledger as far as barriers have carried it.
  virtual Ledger ledger() = 0;
};

}  // namespace chasqui::bsp::detail
