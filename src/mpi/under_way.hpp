// SPDX-License-Identifier: MIT
// The requests of a transport that are not complete, side by side. MPI looks at many of them in one call: it polls its network once for
// all and, where it was told to yield when idle, gives the core away once. Beside a program that computes, every such gift costs
// milliseconds.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "run/messages/transport.hpp"

namespace chasqui::mpi {

class UnderWay {
 public:
  using Ticket = run::Transport::Ticket;
  static constexpr std::size_t kAtOnce = 32;  ///< so few that looking at all of them for the sake of one is cheap

  void make_room();                                    ///< for one more: add() does not throw then
  std::size_t add(Ticket owner, MPI_Request request);  ///< its place
  Ticket remove(std::size_t place);                    ///< the owner that has this place now; kNoTicket: none

  MPI_Request& operator[](std::size_t place) { return requests_[place]; }

  /// The owners of those that are looked at together with the one at this place.
  std::span<const Ticket> owners_with(std::size_t place) const;

  struct Complete {
    Ticket owner;
    int code;
    MPI_Status status;
  };
  /// Looks at them. How many of `complete` it filled.
  std::size_t look_with(std::size_t place, std::array<Complete, kAtOnce>& complete);

 private:
  std::vector<MPI_Request> requests_;
  std::vector<Ticket> owners_;
};

}  // namespace chasqui::mpi
