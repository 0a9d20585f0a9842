// SPDX-License-Identifier: MIT
// What the messages of other ranks have brought and nobody has asked for yet, by kind.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "bsp/mpi/wire.hpp"
#include "bsp/processes/node_store.hpp"

namespace chasqui::bsp::detail {

/// What a member says of itself, or of some, at the end of a superstep.
struct ArrivalRecord {
  RecordHead head;
  Buffer bytes;
};

class MpiInbox {
 public:
  /// Is told what is not for the program: of deadlocks, and of how it ends.
  using Hear = std::function<void(const RecordHead&, std::span<const std::byte>)>;

  explicit MpiInbox(Hear hear) : hear_(std::move(hear)) {}
  void reads(NodeStore* store) { store_ = store; }  ///< of this node; nullptr: there is none

  /// Takes a message apart. A large block that comes first keeps the memory, and leaves other memory in its place.
  void sort_in(Buffer& message);
  std::uint64_t messages() const { return messages_; }          ///< of the program, that have come
  std::uint64_t ledger_parts() const { return ledger_parts_; }  ///< those of them that only end it

  void add(BlockPtr block) { blocks_.push(std::move(block)); }
  bool any_blocks() const { return !blocks_.empty(); }
  const Block* last_block() const { return blocks_.last(); }  ///< nullptr: there is none
  /// Chained by `next`; the caller owns them.
  Block* take_blocks() { return blocks_.release(); }

  /// Have so many blocks come to a meeting that counts them? Then they are counted no longer.
  bool all_counted(const Channel& channel, std::uint64_t blocks);
  /// What member `from` of a machine has said, first come first.
  std::deque<ArrivalRecord>& arrivals(std::uint64_t group, std::int32_t from) { return arrivals_[group][from]; }
  /// Nobody asks for what was said in this machine any more.
  void forget(std::uint64_t group) noexcept { arrivals_.erase(group); }
  bool has_ledger_of(std::int32_t from) const;
  BlockPtr take_ledger_of(std::int32_t from);  ///< REQUIRES has_ledger_of(from)

 private:
  void sort_in_block(const RecordHead& head, std::span<const std::byte> bytes, std::size_t begin, Buffer& message);

  Hear hear_;
  NodeStore* store_ = nullptr;
  std::uint64_t messages_ = 0, ledger_parts_ = 0;
  Pile blocks_;
  std::map<Channel, std::uint64_t> counted_;  ///< blocks
  std::map<std::uint64_t, std::map<std::int32_t, std::deque<ArrivalRecord>>> arrivals_;
  std::vector<BlockPtr> ledgers_;  ///< of ranks that finished earlier
};

}  // namespace chasqui::bsp::detail
