// SPDX-License-Identifier: MIT
// What hangs on a communicator as an attribute: counts, races, and, after CHASQUI_AFTER calls or for the first reduction that rounds, a
// board and messages of its own. Freed with the communicator, by each process alone. Two threads are never in collectives of one
// communicator at the same time (MPI forbids it), so nothing in a state is locked; the list of states is.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "chasqui/run/comm.hpp"
#include "preload/names.hpp"
#include "preload/spares.hpp"
#include "preload/this_thread.hpp"
#include "preload/verdict/race.hpp"
#include "run/board/node_memory.hpp"

namespace chasqui::mpi {
class Talk;
}

namespace chasqui::preload {

/// A private part that is being made beside the program's calls.
struct Preparation {
  Preparation() = default;
  virtual ~Preparation() = default;
  Preparation(const Preparation&) = delete;
  Preparation& operator=(const Preparation&) = delete;
  /// Waits for all ranks: afterwards the state is prepared, and this is no more.
  virtual void finish() = 0;
};

struct CommState {
  int rank = 0;
  int size = 1;
  std::int64_t calls = 0;       ///< interposed collectives so far: the same number on every rank
  Reason never = Reason::none;  ///< why this communicator is never served
  bool looked = false;          ///< for ranks of another MPI_COMM_WORLD
  std::uint64_t failed_in = 0;  ///< number on `comm` of the last call after one failed
  bool prepared = false;        ///< the private part was tried
  std::unique_ptr<run::Comm> comm;
  std::unique_ptr<Preparation> beside;  ///< missing: `comm` is not being made now
  std::optional<SpareOf> spare;         ///< `comm` may serve another communicator when this one is freed
  std::optional<bool> early;            ///< are reductions that round served here? Not yet asked: nothing
  std::int64_t asks_from = 0;           ///< calls from which on ranks ask each other again whether to prepare
  double preparing = 0;                 ///< nanoseconds that preparing took and that are not paid back
  std::array<std::unique_ptr<std::array<Race, 2 * kClasses>>, kCollectives> races;
  bool astray =
      false;  ///< the others are to hear of a call that this rank made with another length, in the next that the MPI library makes
  bool goes_on = false;  ///< some calls did or do by themselves: who is in which blocking one says nothing then
  /// A private part of persistent requests.
  struct Part {
    std::unique_ptr<run::Comm> comm;  ///< missing: in use, or given back
    run::Boards::For calls;
    bool fresh;  ///< no request has had it
  };
  std::vector<Part> parts;     ///< all that were made, as many on all ranks
  std::size_t part_bytes = 0;  ///< of their boards
  int lasting = 0;             ///< calls that go on or may be started again: nothing is given back before they end

  /// for_good: one whose verdict stays.
  Race& race(Collective what, std::size_t bytes, bool for_good);
};

/// Makes the attribute key. Called once in MPI_Init.
void open_states();
/// In MPI_Finalize on several nodes: a rank that waits for others in vain, because their calls were not like its own, hears so
/// from those who have come to the end. Comes back when all have. Collective over MPI_COMM_WORLD.
void meet_at_the_end();
/// Gives back the private parts of all communicators. Before PMPI_Finalize.
void close_states();
/// Where it is too late for that. Local, without MPI.
void add_all_to_report();

/// The state of a valid communicator; nullptr when the MPI library refuses. Local.
CommState* state_of(MPI_Comm comm);
/// What a thread asked for last.
struct LastState {
  MPI_Comm comm{};
  CommState* state = nullptr;
  std::uint64_t generation = 0;  ///< 0: nothing yet
};
/// If it was this one; else nullptr.
CommState* last_state(MPI_Comm comm);

/// Once: a communicator with ranks of another MPI_COMM_WORLD is never served; they may have other settings. Local.
void look_for_foreigners(CommState& state, MPI_Comm comm);

extern std::atomic<std::uint64_t> handle_generation;
/// Grows whenever a handle may come to mean another communicator.
inline std::uint64_t generation_of_handles() { return handle_generation.load(std::memory_order_acquire); }
inline CommState* last_state(MPI_Comm comm) {
  const LastState& last = OfThread<LastState>::here();
  return last.comm == comm && last.generation == generation_of_handles() ? last.state : nullptr;
}

/// Gives `state` its private part: a spare one, or else a new one, unless some rank is not willing: false. Collective over `comm`, by its own
/// collectives; all ranks succeed or none.
bool prepare(CommState& state, MPI_Comm comm, bool willing = true, bool* spare = nullptr);

/// A further private part for the ranks of a communicator, with calls numbered on their own, and its place among state.parts, where it goes when
/// nothing needs it any more.
struct PrivatePart {
  std::unique_ptr<run::Comm> comm;
  std::size_t place = 0;
  Reason missing = Reason::none;  ///< why there is none
};
/// One that no rank needs any more, because making one takes longer than many calls; else a new one. Those for short calls are made several
/// at a time where there are many. Collective over `comm`; all ranks get one or none.
PrivatePart take_private_part(CommState& state, MPI_Comm comm, run::Boards::For calls);
/// Local. REQUIRES that no call has failed in it.
void give_private_part(CommState& state, PrivatePart part);

/// What prepare() does, where the ranks talk in their own way; world: their ranks in MPI_COMM_WORLD. Nothing, on all ranks, where it cannot be made.
std::unique_ptr<run::Comm> make_private_by(mpi::Talk& talk, const std::vector<int>& world);
/// The ranks of the communicator in this process's MPI_COMM_WORLD; empty: some are not there, and may have other settings. Local.
std::vector<int> world_ranks(MPI_Comm comm, int size);

/// Called while a call of ours waits for other ranks, if it is there.
extern void (*while_waiting)();

/// A private part of no communicator of the program's, for all ranks; nothing where they are on several nodes. Collective over
/// MPI_COMM_WORLD. Throws on all ranks.
std::unique_ptr<run::Comm> make_private_world();

/// Gives back what freed communicators left behind (their delete callback may run deep inside the MPI library).
void free_ended();

}  // namespace chasqui::preload
