// SPDX-License-Identifier: MIT
// Supersteps in SimGrid's simulated time, checked: nothing to send, a message to the next rank, messages to ranks here and there.
//   bsp_bench KIND BYTES WHO L_ns o_ns G_ns_per_byte MODE [NODE_SIZE]: as its neighbours are called, and only the last is used. With it ranks
//   pretend to have nodes of this size, whose boards cost no simulated time; 1: they do without boards.
// Prints the simulated nanoseconds of each, beside those of the simulator's own barrier and Alltoall of counts.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "chasqui/bsp/mpi.hpp"

namespace {

using chasqui::bsp::World;

constexpr int kSteps = 4, kMessages = 16;

int destination(int from, int message, int size) {
  const auto mixed =
      (static_cast<std::uint64_t>(from) * kMessages + static_cast<std::uint64_t>(message)) * 0x9e3779b97f4a7c15U;
  return static_cast<int>((mixed >> 33) % static_cast<std::uint64_t>(size));
}

/// What a rank must have got, in order.
std::vector<int> expected(int rank, int size) {
  std::vector<int> all;
  for (int from = 0; from < size; ++from) {
    for (int i = 0; i < kMessages; ++i) {
      if (destination(from, i, size) == rank) all.push_back(from * kMessages + i);
    }
  }
  return all;
}

/// Simulated nanoseconds of one superstep, the latest rank's.
template <typename Step>
double time_of(const Step& step) {
  for (int i = 0; i < 2; ++i) step();  // from here on all are about equally late
  const double begin = MPI_Wtime();
  for (int i = 0; i < kSteps; ++i) step();
  const double mine = (MPI_Wtime() - begin) / kSteps * 1e9;
  double most = 0;
  MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double idle = 0, next = 0, scattered = 0;
  int wrong = 0;
  const chasqui::bsp::Options options{.pretend_node_size = argc > 8 ? std::atoi(argv[8]) : 1};
  const auto program = [&](World& w) {
    idle = time_of([&] { w.sync(); });
    next = time_of([&] {
      w.send((rank + 1) % size, rank);
      w.sync();
      const std::vector<int> got = w.received<int>().values();
      if (got != std::vector<int>{(rank + size - 1) % size}) ++wrong;
    });
    const std::vector<int> right = expected(rank, size);
    scattered = time_of([&] {
      for (int i = 0; i < kMessages; ++i) w.send(destination(rank, i, size), rank * kMessages + i);
      w.sync();
      if (w.received<int>().values() != right) ++wrong;
    });
  };
  const chasqui::bsp::Ledger ledger = chasqui::bsp::run_mpi(program, options);
  const double barrier = time_of([] { MPI_Barrier(MPI_COMM_WORLD); });
  std::vector<int> counts(static_cast<std::size_t>(size), 1), theirs(counts.size());
  const double alltoall =
      time_of([&] { MPI_Alltoall(counts.data(), 1, MPI_INT, theirs.data(), 1, MPI_INT, MPI_COMM_WORLD); });
  const auto& steps = ledger.machines.front().supersteps;
  if (steps.size() != 3 * (kSteps + 2) || steps.back().total_messages != std::int64_t{size} * kMessages) ++wrong;
  int all_wrong = 0;
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    std::printf("RESULT %d %s idle %.0f next %.0f scattered %.0f barrier %.0f alltoall %.0f\n", size,
                all_wrong == 0 ? "right" : "wrong", idle, next, scattered, barrier, alltoall);
  }
  MPI_Finalize();
  return all_wrong == 0 ? 0 : 1;
}
