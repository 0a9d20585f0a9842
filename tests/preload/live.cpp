// SPDX-License-Identifier: MIT
// live [requests [numbers]]: many live persistent requests on one communicator, short ones and long ones, which each rank starts and frees in an order
// of its own; new ones take what others have left.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include "persistent_names.hpp"

namespace {

int rank = 0, size = 1;

/// Of each kind that boards do in a way of its own. What a rank gives is one number, but for blocks: those say for whom they are.
struct Planned {
  static constexpr int kKinds = 8;

  Planned(int number, int count_) : what(number), kind(number % kKinds), root(number % size), count(count_) {
    const auto n = static_cast<std::size_t>(count), blocks = n * static_cast<std::size_t>(size);
    in.resize(kind == 4 || kind == 5 || kind == 6 ? blocks : n);
    out.resize(kind == 3 || kind == 4 || kind == 7 ? blocks : n);
    const MPI_Comm comm = MPI_COMM_WORLD;
    const MPI_Info none = MPI_INFO_NULL;
    switch (kind) {
      case 0: MPIX_Bcast_init(out.data(), count, MPI_INT, root, comm, none, &request); break;
      case 1: MPIX_Allreduce_init(in.data(), out.data(), count, MPI_INT, MPI_SUM, comm, none, &request); break;
      case 2: MPIX_Scan_init(in.data(), out.data(), count, MPI_INT, MPI_MAX, comm, none, &request); break;
      case 3: MPIX_Allgather_init(in.data(), count, MPI_INT, out.data(), count, MPI_INT, comm, none, &request); break;
      case 4: MPIX_Alltoall_init(in.data(), count, MPI_INT, out.data(), count, MPI_INT, comm, none, &request); break;
      case 5:
        MPIX_Scatter_init(in.data(), count, MPI_INT, out.data(), count, MPI_INT, root, comm, none, &request);
        break;
      case 6:
        MPIX_Reduce_scatter_block_init(in.data(), out.data(), count, MPI_INT, MPI_SUM, comm, none, &request);
        break;
      default: MPIX_Gather_init(in.data(), count, MPI_INT, out.data(), count, MPI_INT, root, comm, none, &request);
    }
  }
  void start(int round) {
    given = what * 100 + round;
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = block(rank, kind == 4 || kind == 5 ? at(i) : 0);
    out.assign(out.size(), kind == 0 && rank == root ? given : -1);
    MPI_Start(&request);
  }
  bool right() const {
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (out[i] != wanted(at(i))) return false;
    }
    return true;
  }
  int at(std::size_t i) const { return static_cast<int>(i) / count; }
  int block(int from, int to) const { return given + from + 10'000'000 * to; }
  int wanted(int place) const {
    switch (kind) {
      case 0: return given;
      case 1:
      case 6: return size * given + size * (size - 1) / 2;
      case 2: return given + rank;
      case 3: return block(place, 0);
      case 4: return block(place, rank);
      case 5: return block(root, rank);
      default: return rank == root ? block(place, 0) : -1;
    }
  }

  std::vector<int> in, out;
  int what, kind, root, count, given = 0;
  MPI_Request request = MPI_REQUEST_NULL;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int requests = argc > 1 ? std::atoi(argv[1]) : 300, numbers = argc > 2 ? std::atoi(argv[2]) : 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::mt19937 own(static_cast<unsigned>(rank)), common(5);
  std::vector<std::unique_ptr<Planned>> all;
  for (int i = 0; i < requests; ++i) {
    constexpr int kCounts[] = {1, 14, 1, 3, 300, 2};
    all.push_back(std::make_unique<Planned>(i, numbers > 0 ? numbers : kCounts[common() % 6]));
  }
  int wrong = 0;
  for (int round = 0; round < 6; ++round) {
    std::vector<std::size_t> order(all.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), own);
    for (const std::size_t i : order) all[i]->start(round);
    std::shuffle(order.begin(), order.end(), own);
    for (const std::size_t i : order) {
      MPI_Wait(&all[i]->request, MPI_STATUS_IGNORE);
      wrong += all[i]->right() ? 0 : 1;
    }
    std::vector<char> ends(all.size());
    for (char& each : ends) each = common() % 4 == 0 ? 1 : 0;
    for (const std::size_t i : order) {
      if (ends[i] != 0) MPI_Request_free(&all[i]->request);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (ends[i] != 0)
        all[i] = std::make_unique<Planned>(all[i]->what, numbers > 0 ? numbers : 1 + static_cast<int>(common() % 20));
    }
  }
  for (auto& each : all) MPI_Request_free(&each->request);
  for (int i = 0; numbers > 0 && i < 2; ++i) {  // longer ones: what is left by others is of no use for them
    Planned one(1, 20'000);
    one.start(i);
    MPI_Wait(&one.request, MPI_STATUS_IGNORE);
    wrong += one.right() ? 0 : 1;
    MPI_Request_free(&one.request);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d live requests on %d ranks: %s\n", requests, size, wrong == 0 ? "right" : "wrong");
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
