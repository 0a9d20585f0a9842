// SPDX-License-Identifier: MIT
// What the drop-in library's verdicts cost: call patterns of Intel's benchmark (calls back to back, of one size, or of all as it repeats them: fewer
// calls of long ones, buffers that nobody writes), of programs that write fresh data and change roots, of a solver (dot products, norms, exchanges with
// neighbours, ranks that come late), and on half of the ranks; each on a communicator of its own, by turns natively and through the library. Prints for
// each round of a pattern who, and the microseconds of the first fifth of CALLS, of all calls, and of the second half.
// bench/node/regret.sh runs it as delivered and with CHASQUI_TRIALS=0, and prints the regret.
//   mpirun -np 16 env LD_PRELOAD=libchasqui-mpi-openmpi.so regret [ROUNDS [CALLS [ROUNDS NATIVELY]]]
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "native_mpi.hpp"

namespace {

int rank = 0, ranks = 1, calls = 1000;

struct Times {
  double early = 0, all = 0, half = 0;  ///< seconds, of the slowest rank; half: the second one
};

/// Where a pattern is played.
struct Place {
  MPI_Comm comm = MPI_COMM_NULL;
  bool native = false;
  int rank = 0, ranks = 1;
};

void spin(double microseconds) {
  for (const double end = PMPI_Wtime() + microseconds * 1e-6; PMPI_Wtime() < end;) {
  }
}

std::vector<char> in, out;
volatile int seen = 0;  ///< of what was received
float* floats(std::vector<char>& buffer) { return reinterpret_cast<float*>(buffer.data()); }
double* doubles(std::vector<char>& buffer) { return reinterpret_cast<double*>(buffer.data()); }

using Body = std::function<void(const Place&, int call)>;  ///< one call of the collective, and what is around it

struct Pattern {
  std::string name;
  Body body;
  int calls = 0;         ///< not as many as the others
  bool by_half = false;  ///< of the ranks: those with an even number, while the others wait
};

/// Both ways of one MPI function; the arguments are given once.
#define CHASQUI_EITHER(name, ...) (at.native ? MPI_NATIVE(name)(__VA_ARGS__) : name(__VA_ARGS__))

void broadcast(const Place& at, int bytes, int root) {
  CHASQUI_EITHER(MPI_Bcast, out.data(), bytes, MPI_BYTE, root, at.comm);
}
void allreduce(const Place& at, int bytes) {
  CHASQUI_EITHER(MPI_Allreduce, floats(in), floats(out), bytes / 4, MPI_FLOAT, MPI_SUM, at.comm);
}
void reduce(const Place& at, int bytes, int root) {
  CHASQUI_EITHER(MPI_Reduce, floats(in), floats(out), bytes / 4, MPI_FLOAT, MPI_SUM, root, at.comm);
}
void allgather(const Place& at, int bytes) {
  CHASQUI_EITHER(MPI_Allgather, in.data(), bytes, MPI_BYTE, out.data(), bytes, MPI_BYTE, at.comm);
}
void gather(const Place& at, int bytes, int root) {
  CHASQUI_EITHER(MPI_Gather, in.data(), bytes, MPI_BYTE, out.data(), bytes, MPI_BYTE, root, at.comm);
}
void scatter(const Place& at, int bytes, int root) {
  CHASQUI_EITHER(MPI_Scatter, in.data(), bytes, MPI_BYTE, out.data(), bytes, MPI_BYTE, root, at.comm);
}
void alltoall(const Place& at, int bytes) {
  CHASQUI_EITHER(MPI_Alltoall, in.data(), bytes, MPI_BYTE, out.data(), bytes, MPI_BYTE, at.comm);
}
void reduce_scatter(const Place& at, int bytes) {
  CHASQUI_EITHER(MPI_Reduce_scatter_block, floats(in), floats(out), bytes / 4, MPI_FLOAT, MPI_SUM, at.comm);
}
void sum_of_ints(const Place& at, int count) {
  CHASQUI_EITHER(MPI_Allreduce, in.data(), out.data(), count, MPI_INT, MPI_SUM, at.comm);
}

void exchange(const Place& at) {
  const int right = (at.rank + 1) % at.ranks, left = (at.rank + at.ranks - 1) % at.ranks;
  PMPI_Sendrecv(in.data(), 1024, MPI_BYTE, right, 1, out.data(), 1024, MPI_BYTE, left, 1, at.comm, MPI_STATUS_IGNORE);
}

std::string named(const std::string& name, int bytes) { return name + " " + std::to_string(bytes); }

void add_back_to_back(std::vector<Pattern>& list) {
  const auto add = [&](const std::string& name, const Body& body) { list.push_back({"back to back: " + name, body}); };
  add("barrier", [](const Place& at, int) { CHASQUI_EITHER(MPI_Barrier, at.comm); });
  for (const int bytes : {8, 1024, 16'384, 65'536}) {
    add(named("bcast", bytes), [=](const Place& at, int) { broadcast(at, bytes, 0); });
    add(named("allreduce", bytes), [=](const Place& at, int) { allreduce(at, bytes); });
    add(named("allreduce int", bytes), [=](const Place& at, int) { sum_of_ints(at, bytes / 4); });
    add(named("reduce", bytes), [=](const Place& at, int call) { reduce(at, bytes, call % at.ranks); });
    add(named("allgather", bytes), [=](const Place& at, int) { allgather(at, bytes); });
    add(named("gather", bytes), [=](const Place& at, int) { gather(at, bytes, 0); });
    add(named("scatter", bytes), [=](const Place& at, int) { scatter(at, bytes, 0); });
    add(named("alltoall", bytes), [=](const Place& at, int) { alltoall(at, bytes); });
    if (bytes < 65'536) add(named("reduce-scatter", bytes), [=](const Place& at, int) { reduce_scatter(at, bytes); });
  }
  // Which Open MPI was seen to win: many calls overlap.
  add("scan 1024",
      [](const Place& at, int) { CHASQUI_EITHER(MPI_Scan, in.data(), out.data(), 256, MPI_INT, MPI_SUM, at.comm); });
}

/// One size after the other, as Intel's benchmark does: two barriers, then 1000 calls (here CALLS), or as many as move 40 MiB. Nobody writes the buffers.
void add_sweeps(std::vector<Pattern>& list) {
  std::vector<int> sizes;
  for (const int bytes : {8, 64, 1024, 4096, 16'384, 65'536}) {
    const int repeated = std::max(1, std::min(1000, (40 << 20) / bytes) * calls / 1000);
    sizes.insert(sizes.end(), static_cast<std::size_t>(repeated), bytes);
  }
  const auto add = [&](const std::string& name, const std::function<void(const Place&, int bytes)>& body) {
    const auto sweep = [=](const Place& at, int call) {
      const auto i = static_cast<std::size_t>(call);
      for (int k = 0; k < 2 && (i == 0 || sizes[i] != sizes[i - 1]); ++k) CHASQUI_EITHER(MPI_Barrier, at.comm);
      body(at, sizes[i]);
    };
    list.push_back({"sizes rise: " + name, sweep, static_cast<int>(sizes.size())});
  };
  add("bcast", [](const Place& at, int bytes) { broadcast(at, bytes, 0); });
  add("allreduce", allreduce);
  add("reduce", [](const Place& at, int bytes) { reduce(at, bytes, 0); });
  add("allgather", allgather);
  add("gather", [](const Place& at, int bytes) { gather(at, bytes, 0); });
  add("alltoall", alltoall);
}

/// What is sent was written just before, and what was received is read.
void add_fresh(std::vector<Pattern>& list) {
  const auto add = [&](const std::string& name, int bytes,
                       const std::function<void(const Place&, int bytes, int root)>& body) {
    list.push_back({"fresh data, roots change: " + named(name, bytes), [=](const Place& at, int call) {
                      const int root = call * 5 % at.ranks;
                      const auto size = static_cast<std::size_t>(bytes);
                      std::fill_n(in.begin(), size, static_cast<char>(call));
                      if (at.rank == root) std::fill_n(out.begin(), size, static_cast<char>(call));
                      body(at, bytes, root);
                      seen = seen + std::accumulate(out.begin(), out.begin() + bytes, 0);
                    }});
  };
  for (const int bytes : {8, 1024, 16'384}) {
    add("bcast", bytes, broadcast);
    add("reduce", bytes, reduce);
    add("gather", bytes, gather);
    add("allreduce", bytes, [](const Place& at, int size, int) { allreduce(at, size); });
  }
}

void add_solver(std::vector<Pattern>& list) {
  for (const double late : {0., 20.}) {
    const std::string tail = late > 0 ? ", a rank 20 us late" : "";
    const auto compute = [=](const Place& at, int call) {
      spin(5 + ((call * 7 + at.rank * 13) % 10) / 5.0 + (late > 0 && at.rank == call / 10 % at.ranks ? late : 0));
    };
    list.push_back({"solver: dot, norm" + tail, [=](const Place& at, int call) {
                      compute(at, call);
                      if (call % 2 == 0) exchange(at);
                      CHASQUI_EITHER(MPI_Allreduce, doubles(in), doubles(out), 1, MPI_DOUBLE, MPI_SUM, at.comm);
                    }});
    list.push_back({"solver: counts, broadcast" + tail, [=](const Place& at, int call) {
                      compute(at, call);
                      exchange(at);
                      sum_of_ints(at, 2);
                      broadcast(at, 512, 0);
                    }});
  }
}

void add_half(std::vector<Pattern>& list) {
  for (const int bytes : {8, 1024, 16'384}) {
    list.push_back(
        {named("half of the ranks: allreduce", bytes), [=](const Place& at, int) { allreduce(at, bytes); }, 0, true});
    list.push_back(
        {named("half of the ranks: bcast", bytes), [=](const Place& at, int) { broadcast(at, bytes, 0); }, 0, true});
  }
}

std::vector<Pattern> patterns() {
  std::vector<Pattern> list;
  add_back_to_back(list);
  add_sweeps(list);
  add_fresh(list);
  add_solver(list);
  add_half(list);
  return list;
}

Times time_of(const Pattern& pattern, bool native) {
  Place at;
  at.native = native;
  if (pattern.by_half) MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &at.comm);
  else MPI_Comm_dup(MPI_COMM_WORLD, &at.comm);
  MPI_Comm_rank(at.comm, &at.rank);
  MPI_Comm_size(at.comm, &at.ranks);
  double times[3] = {0, 0, 0}, most[3] = {0, 0, 0};
  if (!pattern.by_half || rank % 2 == 0) {
    int count = 1;
    for (int i = 0; i < 20; ++i)
      CHASQUI_EITHER(MPI_Allgather, &count, 1, MPI_INT, out.data(), 1, MPI_INT, at.comm);  // it is prepared
    for (int i = 0; i < 3; ++i) MPI_NATIVE(MPI_Barrier)(at.comm);
    const int all = pattern.calls > 0 ? pattern.calls : calls;
    double middle = 0;
    const double begin = PMPI_Wtime();
    for (int call = 0; call < all; ++call) {
      if (call == std::min(all, calls) / 5) times[0] = PMPI_Wtime() - begin;
      if (call == all / 2) middle = PMPI_Wtime();
      pattern.body(at, call);
    }
    const double end = PMPI_Wtime();
    times[1] = end - begin;
    times[2] = end - middle;
  }
  MPI_NATIVE(MPI_Allreduce)(times, most, 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Comm_free(&at.comm);
  return {most[0], most[1], most[2]};
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  if (argc > 2) calls = std::atoi(argv[2]);
  const int natively = argc > 3 ? std::atoi(argv[3]) : rounds;
  in.assign(std::size_t{65'536} * static_cast<std::size_t>(ranks), 0);
  out = in;
  for (const Pattern& pattern : patterns()) {
    for (int round = 0; round < rounds; ++round) {
      for (const bool native : {true, false}) {
        if (native && round >= natively) continue;
        const Times times = time_of(pattern, native);
        if (rank == 0)
          std::printf("%s;%s;%.3f;%.3f;%.3f\n", pattern.name.c_str(), native ? "native" : "through", times.early * 1e6,
                      times.all * 1e6, times.half * 1e6);
      }
    }
  }
  MPI_Finalize();
  return 0;
}
