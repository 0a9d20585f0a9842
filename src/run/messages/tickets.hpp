// SPDX-License-Identifier: MIT
// The operations that a transport has under way, by their tickets; those that are given back are used again.
#pragma once

#include <utility>
#include <vector>

#include "run/messages/transport.hpp"

namespace chasqui::run {

template <typename Operation>
class Tickets {
 public:
  using Ticket = Transport::Ticket;

  Ticket take(Operation operation) {
    if (free_.empty()) {
      operations_.push_back(std::move(operation));
      return static_cast<Ticket>(operations_.size() - 1);
    }
    const Ticket ticket = free_.back();
    free_.pop_back();
    (*this)[ticket] = std::move(operation);
    return ticket;
  }
  void give_back(Ticket ticket) { free_.push_back(ticket); }
  Operation& operator[](Ticket ticket) { return operations_[static_cast<std::size_t>(ticket)]; }

 private:
  std::vector<Operation> operations_;
  std::vector<Ticket> free_;
};

}  // namespace chasqui::run
