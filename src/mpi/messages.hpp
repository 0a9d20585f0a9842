// SPDX-License-Identifier: MIT
// MPI messages as a transport: on a private communicator, or on a part of one with tags of its own. The tag is the
// collective's.
#pragma once

#include <memory>
#include <vector>

#include "mpi/open_channel.hpp"
#include "mpi/under_way.hpp"
#include "run/messages/tickets.hpp"

namespace chasqui::mpi {

/// The clock of simulated time, and sleeping in it.
run::Timing simulated_time();

class Messages final : public run::Transport {
 public:
  static constexpr std::size_t kLongest = std::size_t{1} << 30;  ///< bytes: MPI counts in int

  /// The communicator's error handler returns.
  Messages(std::shared_ptr<OpenChannel> channel, bool blocking_waits)
      : channel_(std::move(channel)), blocking_waits_(blocking_waits) {}

  Ticket send(int to, std::uint32_t tag, const void* data, std::size_t bytes) override;
  Ticket receive(int from, std::uint32_t tag, void* data, std::size_t bytes) override;
  bool done(Ticket ticket) override;
  void abandon(Ticket ticket) override;
  void wait(Ticket ticket) override;

 private:
  struct Operation {
    std::size_t place = 0;  ///< among what is under way, until it is complete
    int from = -1;          ///< receives only
    std::size_t bytes = 0;
    int code = MPI_SUCCESS;
    std::size_t arrived = 0;  ///< bytes
    bool complete = false;
    bool looked = false;  ///< at, for another one's sake, since it was last asked for
  };
  Ticket started(Ticket ticket, int code, const char* call, MPI_Request request);
  Ticket fresh(int from, std::size_t bytes);
  bool look(Ticket ticket);
  void call_off(MPI_Request& request, bool receives);
  void complete(Ticket ticket, int code, const MPI_Status& status);

  std::shared_ptr<OpenChannel> channel_;
  bool blocking_waits_;
  run::Tickets<Operation> operations_;
  UnderWay under_way_;
};

}  // namespace chasqui::mpi
