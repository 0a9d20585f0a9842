// SPDX-License-Identifier: MIT
#include "preload/state.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "mpi/fabric.hpp"
#include "preload/report.hpp"
#include "preload/settings.hpp"

namespace chasqui::preload {
namespace {

constexpr std::size_t kMostPrivate = 256;  ///< private communicators at a time: MPI libraries have few thousand

int key = MPI_KEYVAL_INVALID;
std::atomic<std::uint64_t> generation{1};  ///< grows whenever a handle may come to mean another communicator
std::atomic<bool> some_ended{false};
std::atomic<std::size_t> private_communicators{0};  ///< made, or being made
std::mutex mutex;                                   ///< of the two lists
std::vector<CommState*>& living() {
  static auto* const list = new std::vector<CommState*>;
  return *list;
}
std::vector<CommState*>& ended() {
  static auto* const list = new std::vector<CommState*>;
  return *list;
}

extern "C" int forget(MPI_Comm, int, void* value, void*) {
  auto* state = static_cast<CommState*>(value);
  const std::lock_guard lock(mutex);
  std::erase(living(), state);
  ended().push_back(state);
  some_ended.store(true, std::memory_order_release);
  generation.fetch_add(1, std::memory_order_release);
  return MPI_SUCCESS;
}

/// Are all ranks of the communicator also in this process's MPI_COMM_WORLD? (Others may have other settings.)
bool all_ours(MPI_Comm comm, int size) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &group);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  std::vector<int> here(static_cast<std::size_t>(size)), there(here.size());
  for (int r = 0; r < size; ++r) here[static_cast<std::size_t>(r)] = r;
  PMPI_Group_translate_ranks(group, size, here.data(), world, there.data());
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return std::find(there.begin(), there.end(), MPI_UNDEFINED) == there.end();
}

CommState* fresh(MPI_Comm comm) {
  auto state = std::make_unique<CommState>();
  int inter = 0;
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS) return nullptr;
  PMPI_Comm_rank(comm, &state->rank);
  PMPI_Comm_size(comm, &state->size);
  if (inter != 0) {
    state->never = Reason::inter;
  } else if (state->size == 1) {
    state->never = Reason::one_rank;
  }
  const std::lock_guard lock(mutex);
  if (PMPI_Comm_set_attr(comm, key, state.get()) != MPI_SUCCESS) return nullptr;
  living().push_back(state.get());
  return state.release();
}

/// Splitting instead of duplicating: the program's attributes and their callbacks are not ours to copy.
bool split_quietly(MPI_Comm comm, int colour, int rank, MPI_Comm* made) {
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(comm, &before);
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int code = PMPI_Comm_split(comm, colour, rank, made);
  PMPI_Comm_set_errhandler(comm, before);
  PMPI_Errhandler_free(&before);
  if (code != MPI_SUCCESS) return false;
  PMPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN);
  return true;
}

bool agree(bool mine, MPI_Comm own) {
  int here = mine ? 1 : 0;
  int everywhere = 0;
  PMPI_Allreduce(&here, &everywhere, 1, MPI_INT, MPI_MIN, own);
  return everywhere != 0;
}

/// What the private communicator of `own` stands on; many may be there, so each has little memory.
run::Fabric fabric_of(MPI_Comm own) {
  mpi::Options options;
  options.cross_memory = false;
  options.pretend_node_size = static_cast<int>(settings().node_size);
  options.stage_ring = 256 * 1024;
  options.profile = settings().profile;
  return mpi::make_fabric(own, options);
}

}  // namespace

Race& CommState::race(Collective what, std::size_t bytes) {
  auto& row = races[static_cast<std::size_t>(what)];
  if (row == nullptr) row = std::make_unique<std::array<Race, kClasses>>();
  return (*row)[static_cast<std::size_t>(class_of_size(bytes))];
}

void open_states() { PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, nullptr); }

CommState* state_of(MPI_Comm comm) {
  struct Last {
    MPI_Comm comm = MPI_COMM_NULL;
    CommState* state = nullptr;
    std::uint64_t generation = 0;
  };
  static thread_local Last last;
  const std::uint64_t now = generation.load(std::memory_order_acquire);
  if (last.comm == comm && last.generation == now) return last.state;
  void* value = nullptr;
  int found = 0;
  if (PMPI_Comm_get_attr(comm, key, &value, &found) != MPI_SUCCESS) return nullptr;
  CommState* state = found != 0 ? static_cast<CommState*>(value) : fresh(comm);
  if (state != nullptr) last = {comm, state, now};
  return state;
}

void look_for_foreigners(CommState& state, MPI_Comm comm) {
  if (state.looked) return;
  state.looked = true;
  if (!all_ours(comm, state.size)) state.never = Reason::foreign;
}

void prepare(CommState& state, MPI_Comm comm) {
  state.prepared = true;
  look_for_foreigners(state, comm);
  if (state.never != Reason::none) return;
  state.never = Reason::no_room;
  MPI_Comm own = MPI_COMM_NULL;
  if (!split_quietly(comm, 0, state.rank, &own)) return;
  const bool room = private_communicators.fetch_add(1) < kMostPrivate;
  PrivateSeat seat(&private_communicators);
  if (!agree(room, own)) {
    PMPI_Comm_free(&own);
    return;
  }
  const run::Fabric fabric = fabric_of(own);  // its messages own the communicator
  std::unique_ptr<run::Comm> made;
  try {
    made = run::make_comm(fabric);
  } catch (const std::exception& error) {
    if (settings().log) say(error.what());
  }
  if (!agree(made != nullptr, own)) return;
  state.comm = std::move(made);
  state.own = own;
  state.seat = std::move(seat);
  state.never = Reason::none;
}

void free_ended() {
  if (!some_ended.load(std::memory_order_acquire)) return;
  std::vector<CommState*> taken;
  {
    const std::lock_guard lock(mutex);
    taken.swap(ended());
    some_ended.store(false, std::memory_order_release);
  }
  for (CommState* state : taken) {
    add_to_report(*state);
    delete state;
  }
}

void close_states() {
  free_ended();
  std::vector<CommState*> left;
  {
    const std::lock_guard lock(mutex);
    left = living();
  }
  for (CommState* state : left) {
    add_to_report(*state);
    state->comm.reset();
    for (auto& row : state->races) row.reset();
  }
}

}  // namespace chasqui::preload
