// SPDX-License-Identifier: MIT
#include "preload/private_comm.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "chasqui/base/error.hpp"
#include "preload/start/settings.hpp"
#include "run/comm/node_fabric.hpp"

namespace chasqui::preload {
namespace {

// Sets of tags by number. Set 0 is for messages of a process to itself, set 1 for tag_beside(), where there are more. A set is used by one communicator at a time on
// each of its ranks: whoever has its own part in use, by whichever thread, refuses, and another one is proposed. A set
// that is free on both ends of a pair has no message left between them.
constexpr std::int64_t kMostSets = 4096;
constexpr int kLengths = 16;  ///< of messages that are told apart: Channel::lengths
constexpr int kProposals = 64;
#ifdef CHASQUI_COMPONENT
constexpr bool kOneAtATime = false;  // it has non-blocking calls too
#else
constexpr bool kOneAtATime = true;
#endif

MPI_Comm own_world = MPI_COMM_NULL;
int own_rank = 0;
std::vector<int> own_nodes;
int own_lengths = 1;
std::mutex sets_mutex;         ///< of the two below
std::vector<bool> taken_sets;  ///< by number
std::size_t next_set = 0;      ///< where to look for a free one

int tags_of_set() { return mpi::kChannelTags * own_lengths; }

bool take(int set) {
  const std::lock_guard lock(sets_mutex);
  if (taken_sets[static_cast<std::size_t>(set)]) return false;
  return taken_sets[static_cast<std::size_t>(set)] = true;
}

void give_back(int set) {
  const std::lock_guard lock(sets_mutex);
  taken_sets[static_cast<std::size_t>(set)] = false;
}

/// One that is free here; different threads and different ranks begin to look at different places. 0: there is none.
int propose() {
  const std::lock_guard lock(sets_mutex);
  const std::size_t sets = taken_sets.size();
  next_set += 61;
  for (std::size_t i = 0; i < sets; ++i) {
    const std::size_t set = (next_set + i) % sets;
    if (!taken_sets[set]) return static_cast<int>(set);
  }
  return 0;
}

}  // namespace

void open_private(void (*besides)()) {
  PMPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
  own_nodes = mpi::make_together(MPI_COMM_WORLD, [besides](mpi::Together& all) {
    besides();
    if (PMPI_Comm_dup(MPI_COMM_WORLD, &own_world) != MPI_SUCCESS) throw Error("MPI_Comm_dup failed");
    PMPI_Comm_set_errhandler(own_world, MPI_ERRORS_RETURN);
    return mpi::nodes_of(MPI_COMM_WORLD, all, 0);
  });
  const std::int64_t sets = mpi::sets_of_tags();
  own_lengths = settings().stall > 0 && sets > kLengths ? kLengths : 1;
  taken_sets.assign(static_cast<std::size_t>(std::clamp<std::int64_t>(sets / own_lengths, 1, kMostSets)), false);
  taken_sets[0] = true;
  if (taken_sets.size() > 1) taken_sets[1] = true;
  next_set = static_cast<std::size_t>(own_rank) * 7;
}

void close_private() {
  if (own_world != MPI_COMM_NULL) PMPI_Comm_free(&own_world);
}

MPI_Comm private_world() { return own_world; }
int private_rank() { return own_rank; }
int private_size() { return static_cast<int>(own_nodes.size()); }

std::optional<int> tag_beside(std::uint32_t number) {
  const auto tags = static_cast<std::uint32_t>(tags_of_set());
  if (taken_sets.size() < 2 || number >= tags) return std::nullopt;
  return static_cast<int>(tags + number);
}

int private_self_tag() {
  static std::atomic<int> threads{0};
  static thread_local const int tag = threads.fetch_add(1) % 32'000;
  return tag;
}

std::vector<int> nodes_among(const std::vector<int>& world_ranks) {
  std::vector<int> found;
  for (const int r : world_ranks) found.push_back(own_nodes[static_cast<std::size_t>(r)]);
  return run::numbered(std::move(found));
}

std::optional<mpi::Channel> agree_on_channel(mpi::Together& all, const std::vector<int>& world_ranks) {
  for (int proposal = 0; proposal < kProposals; ++proposal) {
    int set = world_ranks.front() == own_rank ? propose() : 0;
    set = all.most(set);  // 0 on the others
    if (set == 0) break;
    mpi::Channel channel{own_world,   world_ranks, set * tags_of_set(), [set] { give_back(set); },
                         own_lengths, kOneAtATime};
    const bool mine = take(set);
    if (all.most(mine ? 0 : 1) == 0) return channel;
    if (mine) give_back(set);
  }
  return std::nullopt;
}

}  // namespace chasqui::preload
