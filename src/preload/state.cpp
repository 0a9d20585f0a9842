// SPDX-License-Identifier: MIT
#include "state.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <vector>

#include "memory_board.hpp"
#include "mpi/messages.hpp"
#include "preload/report.hpp"
#include "settings.hpp"

namespace chasqui::preload {
namespace {

constexpr std::size_t kMostPrivate = 256;  ///< private communicators at a time: MPI libraries have few thousand
constexpr int kIdleTag = 32'701;           ///< nobody sends it: probing for it only lets the library work

int key = MPI_KEYVAL_INVALID;
std::atomic<std::uint64_t> generation{1};  ///< grows whenever a handle may come to mean another communicator
std::atomic<bool> some_dead{false};
std::mutex mutex;  ///< of the two lists
std::vector<State*>& living() {
  static auto* const list = new std::vector<State*>;
  return *list;
}
std::vector<State*>& dead() {
  static auto* const list = new std::vector<State*>;
  return *list;
}

extern "C" int forget(MPI_Comm, int, void* value, void*) {
  auto* state = static_cast<State*>(value);
  const std::lock_guard lock(mutex);
  std::erase(living(), state);
  dead().push_back(state);
  some_dead.store(true, std::memory_order_release);
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

State* fresh(MPI_Comm comm) {
  auto state = std::make_unique<State>();
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

std::vector<int> nodes_of(MPI_Comm own, MPI_Comm node, int rank, int size) {
  int first = rank;
  PMPI_Bcast(&first, 1, MPI_INT, 0, node);
  std::vector<int> nodes(static_cast<std::size_t>(size));
  PMPI_Allgather(&first, 1, MPI_INT, nodes.data(), 1, MPI_INT, own);
  std::map<int, int> numbers;
  for (int& each : nodes) each = numbers.try_emplace(each, static_cast<int>(numbers.size())).first->second;
  return nodes;
}

bool agree(bool mine, MPI_Comm own) {
  int here = mine ? 1 : 0;
  int everywhere = 0;
  PMPI_Allreduce(&here, &everywhere, 1, MPI_INT, MPI_MIN, own);
  return everywhere != 0;
}

std::size_t private_communicators() {
  const std::lock_guard lock(mutex);
  return static_cast<std::size_t>(
      std::count_if(living().begin(), living().end(), [](const State* state) { return state->comm != nullptr; }));
}

run::Fabric fabric_of(const State& state, MPI_Comm own) {
  run::Fabric fabric;
  fabric.rank = state.rank;
  fabric.size = state.size;
  fabric.profile = settings().profile;
  MPI_Comm node = MPI_COMM_NULL;
  if (const auto pretended = static_cast<int>(settings().node_size); pretended > 0) {
    PMPI_Comm_split(own, state.rank / pretended, state.rank, &node);
  } else {
    PMPI_Comm_split_type(own, MPI_COMM_TYPE_SHARED, state.rank, MPI_INFO_NULL, &node);
  }
  fabric.node_of = nodes_of(own, node, state.rank, state.size);
  auto board = make_memory_board(node);
  PMPI_Comm_free(&node);
  if (agree(board != nullptr, own)) {
    fabric.board = std::move(board);
  } else {
    for (int r = 0; r < state.size; ++r) fabric.node_of[static_cast<std::size_t>(r)] = r;
  }
  fabric.idle = [own] {
    int flag = 0;
    PMPI_Iprobe(MPI_ANY_SOURCE, kIdleTag, own, &flag, MPI_STATUS_IGNORE);
  };
  return fabric;
}

}  // namespace

Cell& State::cell(Collective what, std::size_t bytes) {
  auto& row = cells[static_cast<std::size_t>(what)];
  if (row == nullptr) row = std::make_unique<std::array<Cell, kClasses>>();
  return (*row)[static_cast<std::size_t>(class_of_size(bytes))];
}

void open_states() { PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, nullptr); }

State* state_of(MPI_Comm comm) {
  struct Last {
    MPI_Comm comm = MPI_COMM_NULL;
    State* state = nullptr;
    std::uint64_t generation = 0;
  };
  static thread_local Last last;
  const std::uint64_t now = generation.load(std::memory_order_acquire);
  if (last.comm == comm && last.generation == now) return last.state;
  void* value = nullptr;
  int found = 0;
  if (PMPI_Comm_get_attr(comm, key, &value, &found) != MPI_SUCCESS) return nullptr;
  State* state = found != 0 ? static_cast<State*>(value) : fresh(comm);
  if (state != nullptr) last = {comm, state, now};
  return state;
}

void look_for_foreigners(State& state, MPI_Comm comm) {
  if (state.looked) return;
  state.looked = true;
  if (!all_ours(comm, state.size)) state.never = Reason::foreign;
}

void prepare(State& state, MPI_Comm comm) {
  state.prepared = true;
  look_for_foreigners(state, comm);
  if (state.never != Reason::none) return;
  state.never = Reason::no_room;
  MPI_Comm own = MPI_COMM_NULL;
  if (!split_quietly(comm, 0, state.rank, &own)) return;
  if (!agree(private_communicators() < kMostPrivate, own)) {
    PMPI_Comm_free(&own);
    return;
  }
  run::Fabric fabric = fabric_of(state, own);
  const Level* network = fabric.profile->level("network");
  const auto messages =
      std::make_shared<mpi::Messages>(own, false, network != nullptr ? *network : Level{});  // owns it from here
  std::unique_ptr<run::Comm> made;
  try {
    fabric.messages = messages;
    made = std::make_unique<run::Comm>(std::move(fabric));
  } catch (const std::exception& error) {
    if (settings().log) say(error.what());
  }
  if (!agree(made != nullptr, own)) return;
  state.comm = std::move(made);
  state.own = own;
  state.never = Reason::none;
}

void bury_the_dead() {
  if (!some_dead.load(std::memory_order_acquire)) return;
  std::vector<State*> taken;
  {
    const std::lock_guard lock(mutex);
    taken.swap(dead());
    some_dead.store(false, std::memory_order_release);
  }
  for (State* state : taken) {
    enter_in_ledger(*state);
    delete state;
  }
}

void close_states() {
  bury_the_dead();
  std::vector<State*> left;
  {
    const std::lock_guard lock(mutex);
    left = living();
  }
  for (State* state : left) {
    enter_in_ledger(*state);
    state->comm.reset();
    for (auto& row : state->cells) row.reset();
  }
}

}  // namespace chasqui::preload
