// SPDX-License-Identifier: MIT
#include "preload/state.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "chasqui/base/clock.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/run/choose.hpp"
#include "preload/native.hpp"
#include "preload/private_comm.hpp"
#include "preload/report.hpp"
#include "preload/serve.hpp"
#include "preload/spares.hpp"
#include "preload/start/settings.hpp"
#include "preload/this_thread.hpp"
#include "run/board/board.hpp"
#include "run/comm/node_fabric.hpp"

namespace chasqui::preload {

std::atomic<std::uint64_t> handle_generation{1};
void (*while_waiting)() = nullptr;

namespace {

int key = MPI_KEYVAL_INVALID;
std::atomic<bool> some_ended{false};
std::mutex lists_mutex;  ///< of the two lists
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
  const std::lock_guard lock(lists_mutex);
  std::erase(living(), state);
  ended().push_back(state);
  some_ended.store(true, std::memory_order_release);
  handle_generation.fetch_add(1, std::memory_order_release);
  return MPI_SUCCESS;
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
  const std::lock_guard lock(lists_mutex);
  if (PMPI_Comm_set_attr(comm, key, state.get()) != MPI_SUCCESS) return nullptr;
  living().push_back(state.get());
  return state.release();
}

/// Asked again and again while a rank waits: says once that it has waited long. A rank that calls the MPI library by a way that
/// nobody sees would be waited for without a word. Few ranks say so: 0 and 1 first, the others if those do not wait.
class LongWait {
 public:
  LongWait(int rank, int size) : rank_(rank), size_(size) {
    const unsigned turn = std::bit_floor(static_cast<unsigned>(std::max(1, rank)));
    after_ = settings().stall_notice * 1e9 * turn;
  }
  void look() {
    constexpr double kApart = 10e9;  // nanoseconds between two looks: nobody waited in between
    const double now = clock_now();
    const UnderWay& under_way = this_thread().under_way;
    if (call_ != under_way.number || now - latest_ > kApart) since_ = now;
    call_ = under_way.number;
    latest_ = now;
    if (after_ == 0 || now - since_ < after_) return;
    after_ = 0;
    say(fmt::format(
        "rank {} of a communicator of {} has waited {:.0f} s in MPI_{}. A rank that comes late does no harm. If all ranks "
        "wait in this collective, one reached it by a way that is not seen here (a function of the MPI library found by "
        "dlsym, a part that is linked statically): CHASQUI_DISABLE=all passes everything on (CHASQUI_STALL_NOTICE=0: no notice)",
        rank_, size_, (now - since_) / 1e9, to_string(under_way.what)));
  }

 private:
  int rank_, size_;
  double after_, since_ = 0, latest_ = 0;
  std::uint64_t call_ = 0;
};

/// Ranks of several nodes that wait in vain compare their calls: who waits elsewhere answers. Not where another thread may be in
/// one of these calls.
void answer_in_all(const run::Comm* except = nullptr, bool leaves = false) {
  int level = MPI_THREAD_MULTIPLE;
  PMPI_Query_thread(&level);
  if (level == MPI_THREAD_MULTIPLE) return;
  std::vector<CommState*> all;
  {
    const std::lock_guard lock(lists_mutex);
    all = living();
  }
  for (const CommState* state : all) {
    if (state->comm != nullptr && state->comm.get() != except && state->comm->topology().nodes > 1)
      run::answer(*state->comm, leaves);
  }
}

std::vector<int> nodes_of(const std::vector<int>& world) {
  const int pretended = static_cast<int>(settings().node_size);
  return pretended != 0 ? run::pretended_nodes(static_cast<int>(world.size()), pretended) : nodes_among(world);
}
std::vector<int> whole_world(int size) {
  std::vector<int> world(static_cast<std::size_t>(size));
  std::iota(world.begin(), world.end(), 0);
  return world;
}
bool on_one_node(const std::vector<int>& nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [](int node) { return node == 0; });
}

/// Nothing where its ranks cannot be served. On one node all goes over the board: without one the MPI library is no slower. Between nodes there
/// is one, for all calls.
std::vector<std::unique_ptr<run::Comm>> make_privates(mpi::Together& all, const std::vector<int>& world,
                                                      const run::Boards& boards) {
  mpi::Options options;
  options.profile = settings().profile;
  options.cross_memory = boards.calls == run::Boards::all;
  std::vector<int> nodes = nodes_of(world);
  const bool alone = on_one_node(nodes);
  auto channel = alone ? mpi::Channel{private_world(), world, -1, {}} : agree_on_channel(all, world);
  std::vector<std::unique_ptr<run::Comm>> made;
  if (!channel) return made;
  auto fabrics = mpi::make_fabrics(all, *std::move(channel), std::move(nodes), options,
                                   alone ? boards : run::Boards{run::Boards::all, 1, boards.stage});
  if (fabrics.front().board == nullptr && fabrics.front().messages == nullptr) return made;
  for (run::Fabric& fabric : fabrics) {
    fabric.idle = [idle = std::move(fabric.idle), wait = LongWait(all.rank(), all.size())]() mutable {
      if (idle) idle();
      if (while_waiting != nullptr) while_waiting();
      wait.look();
    };
    if (!alone) {  // on one node each call is compared as it is made
      fabric.patience = {settings().stall, 0};
      fabric.answer_others = [](const run::Comm& waiting) { answer_in_all(&waiting); };
    }
    made.push_back(run::make_comm(std::move(fabric)));
  }
  return made;
}
std::unique_ptr<run::Comm> make_private(mpi::Together& all, const std::vector<int>& world) {
  auto made = make_privates(all, world, {});
  return made.empty() ? nullptr : std::move(made.front());
}

/// None where some rank is not `willing`, which all know afterwards, or where they cannot be made.
std::vector<std::unique_ptr<run::Comm>> make_parts(const CommState& state, MPI_Comm comm, bool& willing,
                                                   const run::Boards& boards) {
  try {
    return mpi::make_together(comm, [&](mpi::Together& all) {
      willing = all.most(willing ? 0 : 1) == 0;
      return willing ? make_privates(all, world_ranks(comm, state.size), boards)
                     : std::vector<std::unique_ptr<run::Comm>>{};
    });
  } catch (const std::exception& error) {  // on all ranks
    willing = true;
    if (settings().log) say(error.what());
    return {};
  }
}

/// Whether a private part of `state` may serve later communicators, and which it is among those of the same ranks; state.comm and
/// state.spare: a spare one was found. Collective over `comm`.
std::optional<SpareOf> look_for_spare(CommState& state, MPI_Comm comm) {
  SpareOf of{world_ranks(comm, state.size), 0};
  if (!on_one_node(nodes_of(of.world))) return std::nullopt;
  SpareFound found;
  try {
    found = mpi::make_together(comm, [&](mpi::Together& all) { return find_spare(all, of.world, !several_threads); });
  } catch (const std::exception& error) {  // on all ranks
    if (settings().log) say(error.what());
  }
  if (!found.place) return std::nullopt;
  of.place = *found.place;
  state.comm = std::move(found.comm);
  if (state.comm != nullptr) state.spare = of;
  return of;
}

/// What is left of it serves others, where all went well.
void leave_spare(CommState& state) {
  if (!state.spare) return;
  const bool well = state.comm != nullptr && state.never == Reason::none && state.failed_in == 0 && !state.astray &&
                    !state.goes_on && run::call_numbers(*state.comm).astray == 0;
  keep_spare(*state.spare, well ? std::move(state.comm) : nullptr);
}

/// The first place of a part for such calls that no rank uses any more. Collective over `comm`.
std::optional<std::size_t> unused_part(const CommState& state, MPI_Comm comm, run::Boards::For calls) {
  constexpr std::size_t kBits = 64;
  const auto& parts = state.parts;
  std::vector<std::uint64_t> unused((parts.size() + kBits - 1) / kBits, 0);
  bool some = false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].calls > calls || parts[i].fresh) continue;
    some = true;
    unused[i / kBits] |= std::uint64_t{parts[i].comm != nullptr} << i % kBits;
  }
  if (!some) return std::nullopt;
  if (PMPI_Allreduce(MPI_IN_PLACE, unused.data(), static_cast<int>(unused.size()), MPI_UINT64_T, MPI_BAND, comm) !=
      MPI_SUCCESS)
    throw Error("MPI_Allreduce failed, by which ranks agree on what a persistent request may use");
  for (std::size_t i = 0; i < unused.size(); ++i) {
    if (unused[i] != 0) return i * kBits + static_cast<std::size_t>(std::countr_zero(unused[i]));
  }
  return std::nullopt;
}

std::size_t held_by_parts = 0;  ///< bytes of the boards of all that are in `parts`, or come from there
void drop_parts(CommState& state) {
  held_by_parts -= std::exchange(state.part_bytes, 0);
  state.parts.clear();
}

/// Those that this rank does not use now are of no use any more. Others may have them in use.
void drop_idle_parts(CommState& state) {
  for (CommState::Part& part : state.parts) {
    if (part.comm == nullptr) continue;
    state.part_bytes -= board_bytes(*part.comm);
    held_by_parts -= board_bytes(*part.comm);
    part.comm.reset();
    part.fresh = false;
  }
}

}  // namespace

/// Nobody reads what other ranks took.
static bool reports_times() { return !settings().report.empty() && private_rank() == 0; }

Race& CommState::race(Collective what, std::size_t bytes, bool for_good) {
  auto& row = races[static_cast<std::size_t>(what)];
  if (row == nullptr) {
    row = std::make_unique<std::array<Race, 2 * kClasses>>();
    if (reports_times()) {
      static std::atomic<std::uint64_t> seed{0};
      for (Race& each : *row) each.sample.begin(seed.fetch_add(1, std::memory_order_relaxed));
    }
  }
  return (*row)[static_cast<std::size_t>(class_of_size(bytes) + (for_good ? kClasses : 0))];
}

std::vector<int> world_ranks(MPI_Comm comm, int size) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &group);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  std::vector<int> here(static_cast<std::size_t>(size)), there(here.size());
  std::iota(here.begin(), here.end(), 0);
  PMPI_Group_translate_ranks(group, size, here.data(), world, there.data());
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  if (std::find(there.begin(), there.end(), MPI_UNDEFINED) != there.end()) there.clear();
  return there;
}

void open_states() { PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, nullptr); }

CommState* state_of(MPI_Comm comm) {
  if (CommState* const last = last_state(comm)) return last;
  const std::uint64_t now = generation_of_handles();
  void* value = nullptr;
  int found = 0;
  if (PMPI_Comm_get_attr(comm, key, &value, &found) != MPI_SUCCESS) return nullptr;
  CommState* state = found != 0 ? static_cast<CommState*>(value) : fresh(comm);
  if (state != nullptr) OfThread<LastState>::here() = {comm, state, now};
  return state;
}

void look_for_foreigners(CommState& state, MPI_Comm comm) {
  if (state.looked) return;
  state.looked = true;
  if (world_ranks(comm, state.size).empty()) state.never = Reason::foreign;
}

bool prepare(CommState& state, MPI_Comm comm, bool willing, bool* spare) {
  if (state.beside != nullptr) {  // on all ranks
    state.beside->finish();
    return true;
  }
  look_for_foreigners(state, comm);
  if (state.never != Reason::none) return state.prepared = true;
  const std::optional<SpareOf> of = look_for_spare(state, comm);
  if (spare != nullptr) *spare = state.comm != nullptr;
  if (state.comm != nullptr) return state.prepared = true;
  if (auto made = make_parts(state, comm, willing, {}); !made.empty()) {
    state.comm = std::move(made.front());
    if (of) enter_spare(*(state.spare = of));
  }
  if (willing && state.comm == nullptr) state.never = Reason::no_room;
  return state.prepared = willing;
}

PrivatePart take_private_part(CommState& state, MPI_Comm comm, run::Boards::For calls) {
  constexpr std::size_t kFew = 8, kAtATime = 16;              // of so few each has a board with space between the lines
  constexpr std::size_t kMostBytes = std::size_t{256} << 20;  // of a process's, and of its node's
  auto& parts = state.parts;
  if (calls == run::Boards::lines && parts.size() < kFew) calls = run::Boards::slots;
  const auto take = [&parts](std::size_t place) {
    parts[place].fresh = false;
    return PrivatePart{std::move(parts[place].comm), place};
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].fresh && parts[i].calls <= calls) return take(i);
  }
  if (const auto unused = unused_part(state, comm, calls)) return take(*unused);
  const bool several = calls != run::Boards::all && parts.size() >= kFew;
  const std::size_t number = several ? std::min(kAtATime, parts.size() - kFew + 1) : 1;
  bool willing = held_by_parts < kMostBytes;
  const std::size_t stage = held_by_parts < kMostBytes / 2       ? 0
                            : held_by_parts < kMostBytes / 8 * 5 ? run::kShortStage
                                                                 : run::kLeastStage;
  auto made = make_parts(state, comm, willing, {calls, static_cast<int>(number), stage});
  if (made.empty()) {
    drop_idle_parts(state);
    return {nullptr, 0, willing ? Reason::no_room : Reason::many_requests};
  }
  const std::size_t first = parts.size();
  for (auto& each : made) {
    state.part_bytes += board_bytes(*each);
    held_by_parts += board_bytes(*each);
    parts.push_back({std::move(each), calls, true});
  }
  return take(first);
}

void give_private_part(CommState& state, PrivatePart part) {
  if (part.place < state.parts.size()) state.parts[part.place].comm = std::move(part.comm);
}

std::unique_ptr<run::Comm> make_private_by(mpi::Talk& talk, const std::vector<int>& world) {
  try {
    return mpi::make_together(talk, [&](mpi::Together& all) { return make_private(all, world); });
  } catch (const std::exception& error) {  // on all ranks
    if (settings().log) say(error.what());
    return nullptr;
  }
}

std::unique_ptr<run::Comm> make_private_world() {
  return mpi::make_together(private_world(), [](mpi::Together& all) -> std::unique_ptr<run::Comm> {
    const std::vector<int> world = whole_world(all.size());
    return on_one_node(nodes_of(world)) ? make_private(all, world) : nullptr;
  });
}

void free_ended() {
  if (!some_ended.load(std::memory_order_acquire)) return;
  std::vector<CommState*> taken;
  {
    const std::lock_guard lock(lists_mutex);
    taken.swap(ended());
    some_ended.store(false, std::memory_order_release);
  }
  for (CommState* state : taken) {
    if (state->lasting > 0) {
      const std::lock_guard lock(lists_mutex);
      ended().push_back(state);
      some_ended.store(true, std::memory_order_release);
      continue;
    }
    add_to_report(*state);
    drop_parts(*state);
    leave_spare(*state);
    delete state;
  }
}

void meet_at_the_end() {
  int size = 1, done = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  if (settings().stall == 0 || on_one_node(nodes_of(whole_world(size)))) return;
  MPI_Request request = MPI_REQUEST_NULL;
  if (CHASQUI_LIBRARY(Ibarrier)(private_world(), &request) != MPI_SUCCESS) return;
  while (PMPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) {
    try {
      answer_in_all(nullptr, true);
    } catch (const std::exception& error) {  // the others are met all the same
      say(error.what());
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void add_all_to_report() {
  const std::lock_guard lock(lists_mutex);
  for (const auto* const list : {&ended(), &living()}) {
    for (const CommState* const state : *list) add_to_report(*state);
  }
}

void close_states() {
  free_ended();
  add_all_to_report();
  std::vector<CommState*> left, requested;
  {
    const std::lock_guard lock(lists_mutex);
    left = living();
    requested = ended();
  }
  for (CommState* const state : requested) drop_parts(*state);  // requests of theirs were never freed
  for (CommState* const state : left) {
    state->beside.reset();
    state->comm.reset();
    drop_parts(*state);
    for (auto& row : state->races) row.reset();
  }
  drop_spares();
}

}  // namespace chasqui::preload
