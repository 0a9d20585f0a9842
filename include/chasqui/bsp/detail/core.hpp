// SPDX-License-Identifier: MIT
// One processor's side of one machine: packing of messages, registered variables, supersteps, submachines.
// World and the variables are typed handles on it.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "chasqui/base/source_location.hpp"
#include "chasqui/bsp/detail/processor.hpp"
#include "chasqui/bsp/fault.hpp"
#include "chasqui/model/problem.hpp"

namespace chasqui::bsp::detail {

/// The bytes of so many elements, or 2^63 - 1, which no variable and no message has.
constexpr std::size_t bytes_of(std::size_t count, std::size_t each) {
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
  return count > kMost / each ? kMost : count * each;
}

/// What a get brought.
struct Fetched {
  Buffer bytes;
  bool ready = false;
};

/// result = left op right, on elements of a collective's type.
struct Fold {
  void (*combine)(const void* context, const std::byte* left, const std::byte* right, std::byte* result) = nullptr;
  const void* context = nullptr;
};

class Core {
 public:
  Core(Processor& processor, GroupInfo info, std::int32_t rank, std::shared_ptr<Core> parent = nullptr);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  std::int32_t rank() const { return rank_; }
  std::int32_t size() const { return main_.info().members.count; }
  std::uint64_t step() const { return main_.step; }
  std::int64_t block_bytes() const { return block_bytes_; }
  void set_block_bytes(std::int64_t bytes);
  void charge(std::int64_t work) { current_.work += work; }
  Ledger ledger();

  // Messages.
  /// Room for a message of `bytes` to `to`, delivered by the next sync; the caller fills it at once.
  std::byte* add_message(std::int32_t to, std::uint32_t channel, std::size_t bytes) {
    return add(to, make_tag(EntryKind::message, channel), bytes);
  }
  std::uint32_t new_channel() { return next_channel_++; }
  std::span<const BlockPtr> inbox() const { return inbox_; }

  // Supersteps.
  void sync(const SourceLocation& where);
  void sync_expecting(std::int64_t expected, const SourceLocation& where);
  void sync_among(std::span<const std::int32_t> ranks, const SourceLocation& where);

  // Registered variables. All processors register in the same order.
  std::uint32_t register_variable(std::size_t elements, std::size_t element_bytes);
  void free_variable(std::uint32_t id, const SourceLocation& where) noexcept;
  std::span<std::byte> memory(std::uint32_t id);
  void put(std::uint32_t id, std::int32_t to, std::size_t offset, std::span<const std::byte> bytes);
  std::shared_ptr<Fetched> get(std::uint32_t id, std::int32_t from, std::size_t offset, std::size_t bytes);

  // Submachines.
  /// The processors first .. first+count-1 as a machine of their own. All of them call it, with equal
  /// arguments.
  static std::shared_ptr<Core> split(const std::shared_ptr<Core>& self, std::int32_t first, std::int32_t count);
  static std::shared_ptr<Core> split(const std::shared_ptr<Core>& self, std::vector<std::int32_t> ranks);

  /// A collective: this processor's part of the library's plan. Members are involved only through its own messages, and
  /// nobody is synchronised. `in` and `out` are one value each, and may be the same; a gather has size() at the root's `out`.
  void play(const Problem& problem, const void* in, void* out, std::size_t bytes, const Fold& fold,
            const SourceLocation& where);

  void check_rank(std::int32_t rank, const char* doing) const {
    if (rank < 0 || rank >= size()) [[unlikely]]
      bad_rank(rank, doing);
  }
  /// The program is over: nothing may be left to deliver.
  void finish();

 private:
  /// A set of members that synchronises: all of them (main_), or a subset.
  struct Meeting {
    explicit Meeting(std::pmr::memory_resource* nest) : parcels(nest) {}

    GroupPtr group;
    std::uint64_t step = 0;
    std::int32_t member = 0;
    std::unique_ptr<const std::vector<std::int32_t>>
        members;  ///< by rank: index in the subset, or -1; nullptr: everybody
    std::pmr::vector<Parcel> parcels;
    std::vector<Booking> rows;
    std::int64_t released = 0;  ///< when the last of them ended here, in ticks

    const GroupInfo& info() const { return group->info; }
    std::int32_t member_of(std::int32_t rank) const {
      return members == nullptr ? rank : (*members)[static_cast<std::size_t>(rank)];
    }
  };
  static constexpr std::size_t kMostBytes = 0xffffffffU;  ///< of a message
  static constexpr std::uint64_t kUnlike = ~std::uint64_t{0};
  static constexpr std::uint64_t like(std::uint32_t tag, std::size_t bytes) {
    return std::uint64_t{tag} << 32 | static_cast<std::uint32_t>(bytes);
  }
  /// Where the next message to one destination goes, if it is like the last one.
  struct Place {
    std::byte* at = nullptr;
    std::byte* last = nullptr;     ///< where the last one begins for which there is room in the block
    std::uint64_t like = kUnlike;  ///< tag and length of the messages of the open run
    std::uint64_t outgoing = 0;    ///< number, from 1 on; 0: nothing goes there yet
  };
  /// What goes to one destination.
  struct Outgoing {
    std::size_t place = 0;
    std::size_t run = 0;  ///< where the head of the open run is
    BlockPtr open;
    Chain full;
    std::int32_t to = 0;
    std::uint32_t next_index = 0;
  };
  struct Registered {
    Segment segment;
    bool alive = true;
    const char* file = "";
    std::uint32_t line = 0;
  };
  struct Request {
    std::int32_t from;
    std::shared_ptr<Fetched> result;
  };
  /// What most of many processors do not have.
  struct Rare {
    std::map<std::vector<std::int32_t>, std::unique_ptr<Meeting>> subsets;
    std::unordered_map<std::int32_t, std::uint32_t> far_slot;  ///< large machines with many destinations
    std::vector<std::unique_ptr<Registered>> variables;        ///< engines keep pointers into them
    std::vector<Request> gets;
  };
  Rare& rare() {
    if (rare_ == nullptr) rare_ = std::make_unique<Rare>();
    return *rare_;
  }
  bool any_gets() const { return rare_ != nullptr && !rare_->gets.empty(); }

  [[noreturn]] void bad_rank(std::int32_t rank, const char* doing) const;
  std::byte* add(std::int32_t to, std::uint32_t tag, std::size_t bytes) {
    if (const auto index = static_cast<std::uint32_t>(to); index < direct_) [[likely]] {
      Place& place = places_[index];
      if (place.like == like(tag, bytes) && place.at <= place.last && bytes <= kMostBytes) [[likely]]
        return std::exchange(place.at, place.at + bytes);
    }
    return add_first(to, tag, bytes);
  }
  std::byte* add_first(std::int32_t to, std::uint32_t tag, std::size_t bytes);
  Outgoing& outgoing(std::int32_t to);
  Outgoing& add_outgoing(std::int32_t to, std::size_t place);
  void make_room(Place& place, Outgoing& out, std::size_t head, std::size_t bytes);
  void end_run(Outgoing& out);
  void end_block(Outgoing& out);
  bool nothing_left() const { return outgoing_.empty() && !any_gets(); }
  /// What the members of this meeting get; messages to others stay.
  std::pmr::vector<Parcel>& pack(Meeting& meeting) {
    meeting.parcels.clear();
    if (!outgoing_.empty()) pack_some(meeting);
    return meeting.parcels;
  }
  void pack_some(Meeting& meeting);
  void check_ready(const SourceLocation& where) const {
    if (processor_.deferred != nullptr || children_ > 0) [[unlikely]]
      not_ready(where);
  }
  [[noreturn]] void not_ready(const SourceLocation& where) const;
  void check_gets(const Meeting& meeting, const SourceLocation& where) const;
  void exchange(Meeting& meeting, const SourceLocation& where);
  void exchange_here(Meeting& meeting, const SourceLocation& where);
  void exchange_elsewhere(Meeting& meeting, const SourceLocation& where);
  Arrival bring(Meeting& meeting);
  void take_in(Meeting& meeting);
  Waiting waits_for(const Meeting& meeting, const SourceLocation& where) const;
  void serve_gets(Meeting& meeting, const Waiting& why);
  void apply_puts();
  void deliver(Meeting& meeting);
  void end_step(Meeting& meeting, bool together);
  Registered& alive(std::uint32_t id, const char* doing);
  std::string machine_name() const;

  class Messages;
  class SuperstepEnd;

  // What each superstep touches, up to the rows of main_: five lines.
  Processor& processor_;
  std::int32_t rank_;
  std::uint32_t direct_ = 0;  ///< ranks that have a place by rank
  std::int64_t block_bytes_;
  std::unique_ptr<Rare> rare_;  ///< nullptr: nothing of that
  std::int64_t begun_ = 0;      ///< in ticks
  std::uint32_t children_ = 0;
  std::uint32_t next_channel_ = 1;
  std::pmr::vector<Place> places_;  ///< by rank; of large machines: as outgoing_
  std::pmr::vector<Outgoing> outgoing_;
  Blocks inbox_;
  Row current_;
  Meeting main_;
  std::uint64_t splits_ = 0;
  std::uint64_t collectives_ = 0;
  std::shared_ptr<Core> parent_;
};

}  // namespace chasqui::bsp::detail
