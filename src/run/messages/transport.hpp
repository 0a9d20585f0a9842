// SPDX-License-Identifier: MIT
// What point-to-point messages must offer: ordered messages between pairs, told apart by a tag (one collective uses one
// tag), completed by polling. A ticket stands for an operation under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "chasqui/base/clock.hpp"
#include "chasqui/model/units.hpp"
#include "run/faults/fault_channel.hpp"
#include "run/wait/task.hpp"

namespace chasqui::run {

/// Point-to-point messages of one rank. What is known of failures goes beside them.
class Transport : public FaultChannel {
 public:
  using Ticket = std::int32_t;  ///< an operation under way

  virtual int rank() const = 0;  ///< this rank
  virtual int size() const = 0;  ///< ranks

  /// The data must stay in place until the ticket is done. Messages of one pair and tag arrive in order.
  virtual Ticket send(int to, std::uint32_t tag, const void* data, std::size_t bytes) = 0;
  virtual Ticket receive(int from, std::uint32_t tag, void* data,
                         std::size_t bytes) = 0;  ///< the buffer must stay until the ticket is done

  /// True once; the ticket is then gone. Throws Error if the message had another size.
  virtual bool done(Ticket ticket) = 0;

  /// Forgets an operation that will not be waited for (after an error).
  virtual void abandon(Ticket ticket) = 0;

  /// True when waiting must block in wait(): polling would not let time pass (simulated MPI).
  virtual bool blocks() const { return false; }
  virtual void wait(Ticket) {}  ///< where blocks() says so: returns when the ticket is done
  /// The time in nanoseconds.
  virtual double clock() const { return clock_now(); }
  virtual void sleep_until(double) {}  ///< where blocks() says so: returns at that time of the clock
};

inline constexpr Transport::Ticket kNoTicket = -1;  ///< no operation

/// co_await Completed(transport, ticket): the ticket is kNoTicket afterwards, and never abandoned twice.
class Completed final : public Waiting {
 public:
  Completed(Transport& transport, Transport::Ticket& ticket)
      : transport_(transport), ticket_(ticket) {}  ///< `ticket` is set to kNoTicket when it is done
  /// Is it done? Asks the transport.
  bool ready() override {
    if (ticket_ == kNoTicket) return true;
    const Transport::Ticket ticket = ticket_;
    ticket_ = kNoTicket;  // done() may throw, and the ticket is gone then too
    if (transport_.done(ticket)) return true;
    ticket_ = ticket;
    return false;
  }
  void block() override {
    if (ticket_ != kNoTicket) transport_.wait(ticket_);
  }

 private:
  Transport& transport_;
  Transport::Ticket& ticket_;
};

/// The ranks that take part, in the numbering of the plan.
struct Group {
  Transport* transport = nullptr;  ///< between the members
  std::vector<int> members;        ///< plan rank -> transport rank; empty: the same
  int rank = 0;                    ///< this rank, in the plan
  int size = 1;                    ///< members
  std::uint32_t tag = 0;           ///< tells this collective's messages apart

  /// The transport's rank of a plan's rank.
  int member(Rank r) const { return members.empty() ? r.index : members[static_cast<std::size_t>(r.index)]; }
};

}  // namespace chasqui::run
