// SPDX-License-Identifier: MIT
// What groups of processes cost, each against what it is measured by, in turn, in one run:
//   chasqui launch -n 2 bench_group                        the C interface against C++; folds in rank order against any order
//   mpirun -np 2 bench_group_openmpi                       and groups without MPI against communicators over MPI
// bench_group [SECONDS [RANKS]]: so long for each row; RANKS: with the first so many ranks only.
#include <chasqui/chasqui.h>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#include "chasqui/group/join.hpp"
#include "chasqui/run/comm.hpp"
#if CHASQUI_BENCH_MPI
#include <mpi.h>

#include "chasqui/mpi/comm.hpp"
#endif

namespace {

using namespace chasqui;
using Calls = std::function<void(std::int64_t count)>;

double seconds_of(const Calls& calls, std::int64_t count) {
  const auto begin = std::chrono::steady_clock::now();
  calls(count);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / static_cast<double>(count);
}

double at(std::vector<double> sorted, double part) {
  std::sort(sorted.begin(), sorted.end());
  return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
}

struct Row {
  double base, other;  ///< nanoseconds a call, medians
  double ratio;        ///< median over the pairs of neighbours
};

/// In turn, for so many seconds; rank 0 says how often.
Row compare(run::Comm& comm, double seconds, const Calls& base, const Calls& other) {
  double once = 1e-9;
  for (int warm = 0; warm < 5; ++warm) once = std::max({seconds_of(base, 3), seconds_of(other, 3), 1e-9});
  std::int64_t count = std::clamp<std::int64_t>(static_cast<std::int64_t>(100e-6 / once), 1, 1000);
  std::int64_t rounds = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(seconds / (2 * once * static_cast<double>(count))), 15, 20'001);
  comm.broadcast(count, 0);
  comm.broadcast(rounds, 0);
  std::vector<double> bases, others, ratios;
  for (std::int64_t i = 0; i < rounds; ++i) {
    comm.barrier();
    const bool first = i % 2 == 0;
    const double a = seconds_of(first ? base : other, count), b = seconds_of(first ? other : base, count);
    bases.push_back(first ? a : b);
    others.push_back(first ? b : a);
    ratios.push_back(others.back() / bases.back());
  }
  return {at(bases, 0.5) * 1e9, at(others, 0.5) * 1e9, at(ratios, 0.5)};
}

void need(int code) {
  if (code == 0) return;
  fmt::print(stderr, "{}\n", chasqui_last_error());
  std::exit(1);
}

}  // namespace

int main(int words, char** word) {
  const double seconds = words > 1 ? std::atof(word[1]) : 1;
#if CHASQUI_BENCH_MPI
  MPI_Init(&words, &word);
  const auto over_mpi = mpi::make_comm(MPI_COMM_WORLD);
#endif
  auto all = group::join();
  const int wanted = words > 2 ? std::atoi(word[2]) : all->size();
  const auto comm = all->split(all->rank() < wanted ? 0 : 1, 0);
  chasqui_comm *c_all = nullptr, *c = nullptr, *ordered = nullptr;
  need(chasqui_join(nullptr, &c_all));
  need(chasqui_comm_split(c_all, all->rank() < wanted ? 0 : 1, 0, &c));
  need(chasqui_comm_split(c, 0, 0, &ordered));
  need(chasqui_comm_set_reproducible(ordered, 1));
#if CHASQUI_BENCH_MPI
  const auto part_over_mpi = over_mpi->split(all->rank() < wanted ? 0 : 1, 0);
#endif
  if (all->rank() >= wanted) return all->barrier(), 0;
  const bool speaks = comm->rank() == 0;
  const auto say = [&](const std::string& what, std::size_t bytes, const Row& row) {
    if (speaks)
      fmt::print("{:32} {:>9} {:>12.1f} {:>12.1f} {:>+9.1f} {:>7.3f}\n", what, bytes, row.base, row.other,
                 row.other - row.base, row.ratio);
  };
  if (speaks)
    fmt::print("{} ranks\n{:32} {:>9} {:>12} {:>12} {:>9} {:>7}\n", comm->size(), "", "bytes", "base ns", "ns",
               "more ns", "ratio");

  double x = 1, y = 0;
  say("C against C++", 8,
      compare(
          *comm, seconds,
          [&](std::int64_t n) {
            for (; n > 0; --n) comm->allreduce(std::span<const double>(&x, 1), std::span<double>(&y, 1));
          },
          [&](std::int64_t n) {
            for (; n > 0; --n) chasqui_allreduce(c, &x, &y, 1, CHASQUI_F64, CHASQUI_SUM, nullptr);
          }));

  std::vector<float> in(std::size_t{4} << 20, 1.5f), out(in.size());
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = 8; bytes <= in.size() * sizeof(float); bytes *= 4) sizes.push_back(bytes);
  sizes.push_back(in.size() * sizeof(float));
#if CHASQUI_BENCH_MPI
  const auto by = [&](run::Comm& where, std::size_t count) {
    return [&, count](std::int64_t n) {
      for (; n > 0; --n) where.allreduce(std::span<const float>(in.data(), count), std::span<float>(out.data(), count));
    };
  };
  for (const std::size_t bytes : sizes)
    say("group against MPI", bytes, compare(*comm, seconds, by(*part_over_mpi, bytes / 4), by(*comm, bytes / 4)));
#endif
  for (const char* const what : {"all-reduce", "reduce", "reduce-scatter"}) {
    const auto run = [&, what](chasqui_comm* where, std::int64_t count) {
      return [&, what, where, count](std::int64_t n) {
        const std::int64_t each = std::max<std::int64_t>(1, count / comm->size());
        for (; n > 0; --n) {
          if (what[0] == 'a') chasqui_allreduce(where, in.data(), out.data(), count, CHASQUI_F32, CHASQUI_SUM, nullptr);
          else if (what[6] == '-')
            chasqui_reduce_scatter(where, in.data(), out.data(), each, CHASQUI_F32, CHASQUI_SUM, nullptr);
          else chasqui_reduce(where, in.data(), out.data(), count, CHASQUI_F32, CHASQUI_SUM, 0, nullptr);
        }
      };
    };
    for (const std::size_t bytes : sizes) {
      const auto count = static_cast<std::int64_t>(bytes / sizeof(float));
      if (what[6] == '-' && count < comm->size()) continue;
      say(fmt::format("reproducible {}", what), bytes, compare(*comm, seconds, run(c, count), run(ordered, count)));
    }
  }
  chasqui_comm_free(ordered);
  chasqui_comm_free(c);
  chasqui_comm_free(c_all);
  all->barrier();
#if CHASQUI_BENCH_MPI
  MPI_Finalize();
#endif
  return 0;
}
