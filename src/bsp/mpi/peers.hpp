// SPDX-License-Identifier: MIT
// The other ranks as one of them sees them: what goes to them, what comes from them, and waiting for that. While rank 0 waits it looks for
// a deadlock (deadlock_waves.hpp).
//
// What is shown on a board is no message that could be counted then. Who has seen it counts as if it had sent itself one, so that a rank
// which has moved on between two waves is noticed.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "bsp/mpi/fate.hpp"
#include "bsp/mpi/inbox.hpp"
#include "bsp/mpi/mail.hpp"
#include "bsp/mpi/rooms.hpp"
#include "bsp/processes/deadlock_waves.hpp"
#include "chasqui/base/clock.hpp"

namespace chasqui::bsp::detail {

class MpiPeers {
 public:
  MpiPeers(std::int32_t rank, std::int32_t size);
  /// Collective.
  void open(MPI_Comm communicator) { mail_.open(communicator); }
  /// Where blocks for ranks of this node are packed, from now on.
  void pack_in(MpiRooms& rooms);

  std::int32_t rank() const { return rank_; }
  std::int32_t size() const { return size_; }
  MpiFate& fate() { return fate_; }
  MpiMail& mail() { return mail_; }
  MpiInbox& inbox() { return inbox_; }
  MpiRooms& rooms() { return *rooms_; }  ///< REQUIRES pack_in()

  /// Hands a block to a rank; never waits. counted: the receiver learns otherwise how many to expect.
  void post(std::int32_t to, BlockPtr block, bool counted);
  /// All blocks that have arrived, chained by `next`; the caller owns them.
  Block* take();
  /// A board has said that all blocks for this rank are here: the next take() need not look.
  void all_is_in() { all_in_ = true; }
  void saw_board() { ++shown_; }

  /// Takes one message in; false: none has come.
  bool progress();
  /// Throws when the program has failed, or can never go on.
  template <typename Condition>
  void wait_until(const Waiting& why, const Condition& condition);

  /// May rank 0 go? Who answers its last question after that would speak to whoever has the communicator next.
  bool nobody_answers_any_more() const { return waves_.all_have_answered(); }
  /// A record of its own for each of the others, which counts as no message of the program.
  void tell_all(const RecordHead& head, std::span<const std::byte> bytes);
  void all_know_why() { told_why_ = true; }
  bool told_why() const { return told_why_; }          ///< do all know why the program failed, or will they?
  std::int32_t goodbyes() const { return goodbyes_; }  ///< ranks that send no more

 private:
  static constexpr std::int64_t kPatience = 50'000'000;  ///< nanoseconds rank 0 waits before it asks around
  static constexpr std::uint32_t kUnseen = 64;           ///< times that messages of MPI need not be looked at

  void hear(const RecordHead& head, std::span<const std::byte> bytes);
  void look_for_deadlock(const Waiting& why);
  void answer_probe(const Waiting& why);
  RankStatus status(const Waiting& why) const;

  std::int32_t rank_, size_;
  MpiFate fate_;
  MpiMail mail_;
  MpiInbox inbox_;
  MpiRooms* rooms_ = nullptr;  ///< nullptr: blocks go by messages
  DeadlockWaves waves_;
  std::optional<std::uint32_t> probe_;  ///< a wave that waits for the answer of this rank
  std::uint64_t shown_ = 0;             ///< looks at boards
  std::int32_t goodbyes_ = 0;
  bool told_why_ = false;
  bool all_in_ = false;
  std::uint32_t unseen_ = 0;  ///< how often that was believed
};

template <typename Condition>
void MpiPeers::wait_until(const Waiting& why, const Condition& condition) {
  std::int64_t look_at = clock_nanoseconds() + kPatience;
  for (std::uint64_t idle = 0;;) {
    fate_.throw_if_failed();
    if (condition()) return;
    if (fate_.insist([&] { return progress(); })) {
      idle = 0;
      continue;
    }
    fate_.insist([&] { mail_.reap(); });
    if (probe_) fate_.insist([&] { answer_probe(why); });
    ++idle;
    if (idle > 64) sched_yield();
    if (idle > 20000) usleep(50);
    if (rank_ == 0 && size_ > 1 && idle % 64 == 0 && clock_nanoseconds() > look_at) {
      look_for_deadlock(why);
      look_at = clock_nanoseconds() + kPatience / 10;
    }
  }
}

}  // namespace chasqui::bsp::detail
