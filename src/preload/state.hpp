// SPDX-License-Identifier: MIT
// What hangs on a communicator as an attribute: counts, cells, and from the CHASQUI_AFTER-th call on a private
// communicator with its board. Freed with the communicator; the private part by each process alone.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>

#include "chasqui/run/comm.hpp"
#include "names.hpp"
#include "preload/race.hpp"

namespace chasqui::preload {

struct State {
  int rank = 0;
  int size = 1;
  std::int64_t calls = 0;        ///< interposed collectives so far: the same number on every rank
  Reason never = Reason::none;   ///< why this communicator is never served
  bool looked = false;           ///< for ranks of another MPI_COMM_WORLD
  bool prepared = false;         ///< the private part was tried
  MPI_Comm own = MPI_COMM_NULL;  ///< belongs to `comm`
  std::unique_ptr<run::Comm> comm;
  std::array<std::unique_ptr<std::array<Cell, kClasses>>, kServed> cells;

  Cell& cell(Collective what, std::size_t bytes);
};

/// Makes the attribute key. Called once in MPI_Init.
void open_states();
/// Gives back the private parts of all communicators, in the order in which they were made. Before PMPI_Finalize.
void close_states();

/// The state of a valid communicator; nullptr when the MPI library refuses. Local.
State* state_of(MPI_Comm comm);

/// Once: a communicator with ranks of another MPI_COMM_WORLD is never served; they may have other settings. Local.
void look_for_foreigners(State& state, MPI_Comm comm);

/// Makes the private communicator of `state`. Collective over `comm`; all ranks succeed or none.
void prepare(State& state, MPI_Comm comm);

/// Gives back what freed communicators left behind (their delete callback may run deep inside the MPI library).
void bury_the_dead();

}  // namespace chasqui::preload
