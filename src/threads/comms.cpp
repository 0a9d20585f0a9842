// SPDX-License-Identifier: MIT
#include "comms.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "chasqui/base/error.hpp"
#include "chasqui/model/nearness.hpp"
#include "chasqui/model/profile.hpp"
#include "chasqui/run/choose.hpp"
#include "chasqui/threads/team.hpp"
#include "run/board/board.hpp"
#include "run/comm/fabric.hpp"
#include "run/faults/departures.hpp"
#include "run/wait/cores.hpp"
#include "threads/channels.hpp"
#include "threads/faults.hpp"

namespace chasqui::threads {
namespace {

/// What the ranks of one communicator share.
struct Shared {
  Shared(int ranks, bool with_board, run::Patience patience_of_all, std::vector<Seat> seat_of_rank)
      : seats(std::move(seat_of_rank)), channels(std::make_shared<ChannelMemory>(ranks)),
        faults(std::make_shared<FaultMemory>(ranks)), departures(std::make_shared<run::Departures>(ranks)),
        patience(patience_of_all), parts(static_cast<std::size_t>(ranks)) {
    cores = run::available_cores();
    shape = run::BoardShape::for_threads(ranks);
    shape.near = nearness_of(seats);
    if (with_board) {
      const std::size_t bytes = shape.bytes();
      memory = static_cast<std::byte*>(::operator new (bytes, std::align_val_t{4096}));
      std::memset(memory, 0, shape.zeroed());
    }
  }
  ~Shared() {
    if (memory != nullptr) ::operator delete (memory, std::align_val_t{4096});
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  run::BoardShape shape;
  int cores = 1;            ///< of this process
  std::vector<Seat> seats;  ///< of each rank; empty: nobody knows
  std::byte* memory = nullptr;
  std::shared_ptr<ChannelMemory> channels;
  std::shared_ptr<FaultMemory> faults;
  std::shared_ptr<run::Departures> departures;
  run::Patience patience;
  std::vector<std::shared_ptr<Shared>> parts;  ///< by rank: what it has made in a split, until all have taken a share
};

std::unique_ptr<run::Comm> split(Shared& whole, run::Comm& comm, int colour, int key);

std::unique_ptr<run::Comm> make_comm(const std::shared_ptr<Shared>& shared, int rank,
                                     const std::shared_ptr<const Profile>& profile) {
  run::Fabric fabric;
  fabric.rank = rank;
  fabric.size = shared->shape.ranks;
  if (shared->memory != nullptr) {
    fabric.board = std::shared_ptr<run::Board>(new run::Board(shared->memory, shared->shape, rank, shared->cores),
                                               [shared](run::Board* board) { delete board; });
  }
  fabric.messages = std::make_shared<ChannelTransport>(shared->channels, rank);
  fabric.faults = std::make_shared<Faults>(shared->faults, rank);
  fabric.departures = shared->departures;
  fabric.shares_memory = true;
  fabric.crowded = fabric.size > shared->cores;
  fabric.profile = profile;
  fabric.patience = shared->patience;
  fabric.split = [shared](run::Comm& comm, int colour, int key) { return split(*shared, comm, colour, key); };
  return run::make_comm(std::move(fabric));
}

std::unique_ptr<run::Comm> split(Shared& whole, run::Comm& comm, int colour, int key) {
  struct Wish {
    int colour, key, rank;
  };
  const auto n = static_cast<std::size_t>(comm.size());
  const Wish mine{colour, key, comm.rank()};
  std::vector<Wish> all(n);
  comm.allgather(std::span<const Wish>(&mine, 1), std::span<Wish>(all));
  std::vector<Wish> members;
  for (const Wish& wish : all) {
    if (wish.colour == colour) members.push_back(wish);
  }
  std::stable_sort(members.begin(), members.end(), [](const Wish& a, const Wish& b) { return a.key < b.key; });
  // The first of each colour makes the memory. It lies with the whole until everybody has a share: where a rank fails meanwhile, others may
  // still look for theirs.
  const auto first = static_cast<std::size_t>(members[0].rank);
  const bool makes = colour >= 0 && members[0].rank == comm.rank();
  if (makes) {
    std::vector<Seat> seats;
    for (const Wish& wish : members) {
      if (!whole.seats.empty()) seats.push_back(whole.seats[static_cast<std::size_t>(wish.rank)]);
    }
    whole.parts[first] = std::make_shared<Shared>(static_cast<int>(members.size()), comm.topology().board,
                                                  whole.patience, std::move(seats));
  }
  comm.barrier();
  std::unique_ptr<run::Comm> part;
  if (colour >= 0) {
    int rank = 0;
    while (members[static_cast<std::size_t>(rank)].rank != comm.rank()) ++rank;
    part = make_comm(whole.parts[first], rank, run::fabric_of(comm).profile);
  }
  comm.barrier();
  if (makes) whole.parts[first] = nullptr;
  return part;
}

}  // namespace

CommMaker share_comms(int n, std::shared_ptr<const Profile> profile, bool with_board, run::Patience patience,
                      std::vector<Seat> seats) {
  return [shared = std::make_shared<Shared>(n, with_board, patience, std::move(seats)),
          profile = std::move(profile)](int rank) { return make_comm(shared, rank, profile); };
}

std::vector<std::unique_ptr<run::Comm>> make_comms(int n, std::shared_ptr<const Profile> profile, bool with_board,
                                                   run::Patience patience) {
  if (n < 1 || n > 4096) throw Error("a team of {} threads: expected 1 to 4096", n);
  const CommMaker make = share_comms(n, std::move(profile), with_board, patience);
  std::vector<std::unique_ptr<run::Comm>> comms;
  for (int rank = 0; rank < n; ++rank) comms.push_back(make(rank));
  return comms;
}

}  // namespace chasqui::threads
