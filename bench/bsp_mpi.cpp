// SPDX-License-Identifier: MIT
// Many small messages to random ranks: the library's blocks against a hand-written MPI_Alltoallv and against
// a send for each message, and what a run that does nothing takes, the first one and later ones. One run under mpirun; rank 0 prints medians.
//   bench_bsp_… NODE_SIZE …: supersteps on nodes as Options::pretend_node_size has them instead, by turns. 1: without boards.
#include <fmt/core.h>
#include <mpi.h>

#include <cstdlib>
#include <random>
#include <vector>

#include "chasqui/bsp/mpi.hpp"
#include "chasqui/measure/bench.hpp"

namespace {

using chasqui::bsp::World;

constexpr int kRepeats = 15;

double median(std::vector<double> values) { return chasqui::measure::Quartiles::of(std::move(values)).median; }

std::vector<int> destinations(int rank, int size, int messages) {
  std::mt19937 random(static_cast<unsigned>(rank));
  std::vector<int> to(static_cast<std::size_t>(messages));
  for (int& one : to) one = static_cast<int>(random() % static_cast<unsigned>(size));
  return to;
}

double by_library(int messages, std::int64_t block_bytes) {
  std::vector<double> times;
  chasqui::bsp::run_mpi(
      [&](World& w) {
        const auto to = destinations(w.rank(), w.size(), messages);
        std::int64_t sum = 0;
        for (int repeat = 0; repeat < kRepeats; ++repeat) {
          w.sync();
          const double begin = MPI_Wtime();
          for (int i = 0; i < messages; ++i) w.send(to[static_cast<std::size_t>(i)], std::int64_t{i});
          w.sync();
          for (const auto& message : w.received<std::int64_t>()) sum += message.value();
          times.push_back(MPI_Wtime() - begin);
        }
        if (sum < 0) MPI_Abort(MPI_COMM_WORLD, 1);
      },
      {.block_bytes = block_bytes});
  return median(times);
}

double by_alltoallv(int rank, int size, int messages) {
  const auto to = destinations(rank, size, messages);
  const auto p = static_cast<std::size_t>(size);
  std::vector<double> times;
  std::int64_t sum = 0;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    std::vector<int> counts(p), places(p), in_counts(p), in_places(p);
    for (const int one : to) ++counts[static_cast<std::size_t>(one)];
    for (std::size_t i = 1; i < p; ++i) places[i] = places[i - 1] + counts[i - 1];
    std::vector<std::int64_t> out(to.size());
    auto next = places;
    for (std::size_t i = 0; i < to.size(); ++i)
      out[static_cast<std::size_t>(next[static_cast<std::size_t>(to[i])]++)] = static_cast<std::int64_t>(i);
    MPI_Alltoall(counts.data(), 1, MPI_INT, in_counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
    for (std::size_t i = 1; i < p; ++i) in_places[i] = in_places[i - 1] + in_counts[i - 1];
    std::vector<std::int64_t> in(static_cast<std::size_t>(in_places.back() + in_counts.back()));
    MPI_Alltoallv(out.data(), counts.data(), places.data(), MPI_INT64_T, in.data(), in_counts.data(), in_places.data(),
                  MPI_INT64_T, MPI_COMM_WORLD);
    for (const auto value : in) sum += value;
    times.push_back(MPI_Wtime() - begin);
  }
  if (sum < 0) MPI_Abort(MPI_COMM_WORLD, 1);
  return median(times);
}

/// Seconds of a run of a program that does nothing.
double empty_run() {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  chasqui::bsp::run_mpi([](World&) {});
  return MPI_Wtime() - begin;
}

/// Seconds of a superstep in which each rank sends `messages` words, the first to the next rank.
double superstep(World& w, int messages) {
  constexpr int kSteps = 20;
  const auto to = destinations(w.rank(), w.size(), messages);
  w.sync();
  const double begin = MPI_Wtime();
  for (int step = 0; step < kSteps; ++step) {
    for (int i = 0; i < messages; ++i)
      w.send(i == 0 ? (w.rank() + 1) % w.size() : to[static_cast<std::size_t>(i)], std::int64_t{i});
    w.sync();
  }
  return (MPI_Wtime() - begin) / kSteps;
}

void by_nodes(int rank, int size, const std::vector<int>& node_sizes) {
  constexpr int kMessages[] = {0, 1, 16}, kTurns = 5;
  std::vector<std::vector<double>> times(node_sizes.size() * std::size(kMessages));
  for (int repeat = 0; repeat < kTurns; ++repeat) {
    for (std::size_t way = 0; way < node_sizes.size(); ++way) {
      chasqui::bsp::run_mpi(
          [&](World& w) {
            for (std::size_t i = 0; i < std::size(kMessages); ++i)
              times[way * std::size(kMessages) + i].push_back(superstep(w, kMessages[i]));
          },
          {.pretend_node_size = node_sizes[way]});
    }
  }
  if (rank != 0) return;
  fmt::print("flavour,ranks,ranks a node,us idle,us a message each,us 16 messages each\n");
  for (std::size_t way = 0; way < node_sizes.size(); ++way) {
    fmt::print("{},{},{}", CHASQUI_MPI_FLAVOUR, size, node_sizes[way] == 0 ? size : node_sizes[way]);
    for (std::size_t i = 0; i < std::size(kMessages); ++i)
      fmt::print(",{:.1f}", median(times[way * std::size(kMessages) + i]) * 1e6);
    fmt::print("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int rank = chasqui::bsp::mpi_rank(), size = chasqui::bsp::mpi_size();
  if (argc > 1) {
    std::vector<int> node_sizes;
    for (int i = 1; i < argc; ++i) node_sizes.push_back(std::atoi(argv[i]));
    by_nodes(rank, size, node_sizes);
    return 0;
  }
  const double first = empty_run();
  std::vector<double> later;
  for (int repeat = 0; repeat < kRepeats; ++repeat) later.push_back(empty_run());
  if (rank == 0)
    fmt::print("{},{},,run_mpi() of nothing the first time,{:.1f},\n{},{},,and later,{:.1f},\n", CHASQUI_MPI_FLAVOUR,
               size, first * 1e6, CHASQUI_MPI_FLAVOUR, size, median(later) * 1e6);
  if (rank == 0) fmt::print("flavour,ranks,messages a rank,how,us,million messages a second and rank\n");
  for (const int messages : {100, 1000, 10000, 100000}) {
    const auto line = [&](const char* how, double seconds) {
      if (rank == 0)
        fmt::print("{},{},{},{},{:.1f},{:.2f}\n", CHASQUI_MPI_FLAVOUR, size, messages, how, seconds * 1e6,
                   messages / seconds * 1e-6);
    };
    const double ours = by_library(messages, 0), by_hand = by_alltoallv(rank, size, messages);
    line("send() and sync()", ours);
    line("MPI_Alltoallv by hand", by_hand);
    if (rank == 0) fmt::print("{},{},{},ours / by hand,{:.2f},\n", CHASQUI_MPI_FLAVOUR, size, messages, ours / by_hand);
    if (messages <= 10000) line("send() and sync() with B = 1", by_library(messages, 1));
  }
}
