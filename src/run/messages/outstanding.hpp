// SPDX-License-Identifier: MIT
// The messages a task has under way. If the task is destroyed early, they are abandoned before its buffers go.
#pragma once

#include <vector>

#include "run/messages/script.hpp"
#include "run/messages/transport.hpp"

namespace chasqui::run {

class Outstanding {
 public:
  explicit Outstanding(const Group& group) : group_(group) {}
  Outstanding(const Outstanding&) = delete;
  Outstanding& operator=(const Outstanding&) = delete;
  ~Outstanding() {
    for (const auto ticket : tickets_) {
      if (ticket != kNoTicket) group_.transport->abandon(ticket);
    }
  }

  std::size_t send(int to, const void* data, std::size_t bytes) {
    tickets_.push_back(group_.transport->send(group_.member({to}), group_.tag, data, bytes));
    return tickets_.size() - 1;
  }
  std::size_t receive(int from, void* data, std::size_t bytes) {
    tickets_.push_back(group_.transport->receive(group_.member({from}), group_.tag, data, bytes));
    return tickets_.size() - 1;
  }
  /// co_await this: the operation is complete.
  Completed complete(std::size_t index) { return {*group_.transport, tickets_[index]}; }
  bool open(std::size_t index) const { return tickets_[index] != kNoTicket; }
  std::size_t count() const { return tickets_.size(); }

 private:
  const Group& group_;
  std::vector<Transport::Ticket> tickets_;
};

}  // namespace chasqui::run
