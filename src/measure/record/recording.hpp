// SPDX-License-Identifier: MIT
// A transport that writes down when its messages were sent and received, for timelines of real runs. It passes
// everything on to another transport; two clock readings a message.
#pragma once

#include <memory>
#include <vector>

#include "chasqui/base/clock.hpp"
#include "run/messages/transport.hpp"

namespace chasqui::measure {

/// One end of a message, in nanoseconds of the host's clock.
struct RecordedEvent {
  bool sends = false;      ///< this rank sent it; otherwise it received it
  int peer = 0;            ///< the other rank
  std::uint32_t tag = 0;   ///< of the collective
  std::size_t bytes = 0;   ///< size of the message
  std::int64_t begin = 0;  ///< send: it was handed over; reception: it was found to be there
  std::int64_t end = 0;    ///< the call that did so returned; 0: a reception that never completed
};

/// Records the messages of one rank. Used by one thread at a time, like every transport.
class RecordingTransport final : public run::Transport {
 public:
  explicit RecordingTransport(std::shared_ptr<run::Transport> inner) : inner_(std::move(inner)) {}

  Ticket send(int to, std::uint32_t tag, const void* data, std::size_t bytes) override;
  Ticket receive(int from, std::uint32_t tag, void* data, std::size_t bytes) override;
  bool done(Ticket ticket) override;
  void abandon(Ticket ticket) override { inner_->abandon(ticket); }
  void wait(Ticket ticket) override { inner_->wait(ticket); }
  std::optional<std::uint64_t> moved() const override { return inner_->moved(); }

  /// What happened since the last call, in the order in which it was asked for. REQUIRES nothing under way.
  std::vector<RecordedEvent> take();

 private:
  std::shared_ptr<run::Transport> inner_;
  std::vector<RecordedEvent> events_;
  std::vector<std::int64_t> receptions_;  ///< per ticket: index of its event, -1: a send
};

}  // namespace chasqui::measure
