// SPDX-License-Identifier: MIT
// What the drop-in library's verdicts cost: the call patterns of Intel's benchmark (a barrier, then calls back to back, sizes
// rising) and of a solver (dot products, norms, exchanges with neighbours, ranks that come late), each on a communicator of its own,
// by turns natively and through the library. Prints for each round of a pattern who, and the microseconds of the first
// fifth of the calls, of all, and of the second half. bench/node/regret.sh runs it as delivered and with CHASQUI_TRIALS=0, and prints the regret.
//   mpirun -x LD_PRELOAD=libchasqui-mpi-openmpi.so -np 16 regret [ROUNDS [CALLS [ROUNDS NATIVELY]]]
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "native_mpi.hpp"

namespace {

int rank = 0, ranks = 1, calls = 1000;

struct Times {
  double early = 0, all = 0, half = 0;  ///< seconds, of the slowest rank; half: the second one
};

void spin(double microseconds) {
  for (const double end = PMPI_Wtime() + microseconds * 1e-6; PMPI_Wtime() < end;) {
  }
}

std::vector<char> in, out;
float* floats(std::vector<char>& buffer) { return reinterpret_cast<float*>(buffer.data()); }
double* doubles(std::vector<char>& buffer) { return reinterpret_cast<double*>(buffer.data()); }

struct Pattern {
  std::string name;
  std::function<void(MPI_Comm, bool native, int call)> body;  ///< one call of the collective, and what is around it
};

/// Both ways of one MPI function; the arguments are given once.
#define CHASQUI_EITHER(name, ...) (native ? MPI_NATIVE(name)(__VA_ARGS__) : name(__VA_ARGS__))

void exchange(MPI_Comm comm) {
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  PMPI_Sendrecv(in.data(), 1024, MPI_BYTE, right, 1, out.data(), 1024, MPI_BYTE, left, 1, comm, MPI_STATUS_IGNORE);
}

std::vector<Pattern> patterns() {
  std::vector<Pattern> list;
  list.push_back({"back to back: barrier", [](MPI_Comm comm, bool native, int) { CHASQUI_EITHER(MPI_Barrier, comm); }});
  for (const int bytes : {8, 1024, 16'384, 65'536}) {
    const std::string size = " " + std::to_string(bytes);
    const int count = bytes / 4;
    list.push_back({"back to back: bcast" + size, [=](MPI_Comm comm, bool native, int) {
                      CHASQUI_EITHER(MPI_Bcast, out.data(), bytes, MPI_BYTE, 0, comm);
                    }});
    list.push_back({"back to back: allreduce" + size, [=](MPI_Comm comm, bool native, int) {
                      CHASQUI_EITHER(MPI_Allreduce, floats(in), floats(out), count, MPI_FLOAT, MPI_SUM, comm);
                    }});
    list.push_back({"back to back: allreduce int" + size, [=](MPI_Comm comm, bool native, int) {
                      CHASQUI_EITHER(MPI_Allreduce, in.data(), out.data(), count, MPI_INT, MPI_SUM, comm);
                    }});
    list.push_back({"back to back: reduce" + size, [=](MPI_Comm comm, bool native, int call) {
                      CHASQUI_EITHER(MPI_Reduce, floats(in), floats(out), count, MPI_FLOAT, MPI_SUM, call % ranks,
                                     comm);
                    }});
    list.push_back({"back to back: allgather" + size, [=](MPI_Comm comm, bool native, int) {
                      CHASQUI_EITHER(MPI_Allgather, in.data(), bytes, MPI_BYTE, out.data(), bytes, MPI_BYTE, comm);
                    }});
    list.push_back({"back to back: scatter" + size, [=](MPI_Comm comm, bool native, int) {
                      CHASQUI_EITHER(MPI_Scatter, in.data(), bytes, MPI_BYTE, out.data(), bytes, MPI_BYTE, 0, comm);
                    }});
  }
  // Which Open MPI was seen to win: many calls of the one overlap, and both sides of the other are copied by the kernel.
  list.push_back({"back to back: scan 1024", [](MPI_Comm comm, bool native, int) {
                    CHASQUI_EITHER(MPI_Scan, in.data(), out.data(), 256, MPI_INT, MPI_SUM, comm);
                  }});
  list.push_back({"back to back: alltoall 65536", [](MPI_Comm comm, bool native, int) {
                    CHASQUI_EITHER(MPI_Alltoall, in.data(), 65'536, MPI_BYTE, out.data(), 65'536, MPI_BYTE, comm);
                  }});
  for (const double late : {0., 20.}) {
    const std::string tail = late > 0 ? ", a rank 20 us late" : "";
    const auto compute = [=](int call) {
      spin(5 + ((call * 7 + rank * 13) % 10) / 5.0 + (late > 0 && rank == call / 10 % ranks ? late : 0));
    };
    list.push_back({"solver: dot, norm" + tail, [=](MPI_Comm comm, bool native, int call) {
                      compute(call);
                      if (call % 2 == 0) exchange(comm);
                      CHASQUI_EITHER(MPI_Allreduce, doubles(in), doubles(out), 1, MPI_DOUBLE, MPI_SUM, comm);
                    }});
    list.push_back({"solver: counts, broadcast" + tail, [=](MPI_Comm comm, bool native, int call) {
                      compute(call);
                      exchange(comm);
                      CHASQUI_EITHER(MPI_Allreduce, in.data(), out.data(), 2, MPI_INT, MPI_SUM, comm);
                      CHASQUI_EITHER(MPI_Bcast, out.data(), 512, MPI_BYTE, 0, comm);
                    }});
  }
  return list;
}

Times time_of(const Pattern& pattern, bool native) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int count = 1;
  for (int i = 0; i < 20; ++i)
    CHASQUI_EITHER(MPI_Allgather, &count, 1, MPI_INT, out.data(), 1, MPI_INT, comm);  // it is prepared
  double times[3] = {0, 0, 0}, most[3] = {0, 0, 0}, middle = 0;
  for (int i = 0; i < 3; ++i) MPI_NATIVE(MPI_Barrier)(comm);
  const double begin = PMPI_Wtime();
  for (int call = 0; call < calls; ++call) {
    if (call == calls / 5) times[0] = PMPI_Wtime() - begin;
    if (call == calls / 2) middle = PMPI_Wtime();
    pattern.body(comm, native, call);
  }
  const double end = PMPI_Wtime();
  times[1] = end - begin;
  times[2] = end - middle;
  MPI_NATIVE(MPI_Allreduce)(times, most, 3, MPI_DOUBLE, MPI_MAX, comm);
  MPI_Comm_free(&comm);
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
