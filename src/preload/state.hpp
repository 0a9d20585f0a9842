// SPDX-License-Identifier: MIT
// What hangs on a communicator as an attribute: counts, races, and from the CHASQUI_AFTER-th call on a private
// communicator with its board. Freed with the communicator; the private part by each process alone.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "chasqui/run/comm.hpp"
#include "preload/names.hpp"
#include "preload/race.hpp"

namespace chasqui::preload {

/// One of the private communicators that a process may have; counted down when it goes.
struct LeaveSeat {
  void operator()(std::atomic<std::size_t>* taken) const { taken->fetch_sub(1); }
};
using PrivateSeat = std::unique_ptr<std::atomic<std::size_t>, LeaveSeat>;

struct CommState {
  int rank = 0;
  int size = 1;
  std::int64_t calls = 0;        ///< interposed collectives so far: the same number on every rank
  Reason never = Reason::none;   ///< why this communicator is never served
  bool looked = false;           ///< for ranks of another MPI_COMM_WORLD
  bool prepared = false;         ///< the private part was tried
  PrivateSeat seat;              ///< while there is a `comm`
  MPI_Comm own = MPI_COMM_NULL;  ///< belongs to `comm`
  std::unique_ptr<run::Comm> comm;
  std::array<std::unique_ptr<std::array<Race, kClasses>>, kServed> races;

  Race& race(Collective what, std::size_t bytes);
};

/// Makes the attribute key. Called once in MPI_Init.
void open_states();
/// Gives back the private parts of all communicators, in the order in which they were made. Before PMPI_Finalize.
void close_states();

/// The state of a valid communicator; nullptr when the MPI library refuses. Local.
CommState* state_of(MPI_Comm comm);

/// Once: a communicator with ranks of another MPI_COMM_WORLD is never served; they may have other settings. Local.
void look_for_foreigners(CommState& state, MPI_Comm comm);

/// Makes the private communicator of `state`. Collective over `comm`; all ranks succeed or none.
void prepare(CommState& state, MPI_Comm comm);

/// Gives back what freed communicators left behind (their delete callback may run deep inside the MPI library).
void free_ended();

}  // namespace chasqui::preload
