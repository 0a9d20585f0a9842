// SPDX-License-Identifier: MIT
// What point-to-point messages must offer: ordered messages between pairs, told apart by a tag (one collective uses one
// tag), completed by polling. A ticket stands for an operation under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "chasqui/base/clock.hpp"
#include "chasqui/model/units.hpp"

namespace chasqui::run {

/// Point-to-point messages of one rank.
class Transport {
 public:
  using Ticket = std::int32_t;  ///< an operation under way

  virtual ~Transport() = default;

  /// The data must stay in place until the ticket is done. Messages of one pair and tag arrive in order.
  virtual Ticket send(int to, std::uint32_t tag, const void* data, std::size_t bytes) = 0;
  virtual Ticket receive(int from, std::uint32_t tag, void* data,
                         std::size_t bytes) = 0;  ///< the buffer must stay until the ticket is done

  /// True once; the ticket is then gone. Throws Error if the message had another size.
  virtual bool done(Ticket ticket) = 0;

  /// Forgets an operation that will not be waited for (after an error).
  virtual void abandon(Ticket ticket) = 0;

  /// Where waiting blocks (Timing): returns when the ticket is done.
  virtual void wait(Ticket) {}

  /// Grows whenever done() has brought any message further, complete or not: who waits may sleep while it does not grow. Nothing:
  /// it does not say, and sleeping would slow down a long message that comes in pieces.
  virtual std::optional<std::uint64_t> moved() const { return std::nullopt; }
};

inline constexpr Transport::Ticket kNoTicket = -1;  ///< no operation

/// How a rank waits, and by which clock.
struct Timing {
  bool blocks = false;          ///< in wait() and sleep_until(): polling would not let time pass (simulated MPI)
  double (*now)() = clock_now;  ///< nanoseconds
  void (*sleep_until)(double now) = nullptr;  ///< where waiting blocks, and plans have times
};

/// The ranks that take part, in the numbering of the plan.
struct Group {
  Transport* transport = nullptr;  ///< between the members
  std::vector<int> members;        ///< plan rank -> transport rank; empty: the same
  int rank = 0;                    ///< this rank, in the plan
  int size = 1;                    ///< members
  std::uint32_t tag = 0;           ///< tells this collective's messages apart
  Timing timing{};

  /// The transport's rank of a plan's rank.
  int member(Rank r) const { return members.empty() ? r.index : members[static_cast<std::size_t>(r.index)]; }
};

}  // namespace chasqui::run
