// SPDX-License-Identifier: MIT
// Non-blocking and persistent all-reduces under the component of Open MPI:
//   mpirun --mca mca_base_component_path SYSTEM_DEFAULT:FOLDER -np 16 ongoing [ROUNDS]
// Blocking against persistent on one communicator, back to back; and non-blocking under computing, with an MPI_Test every two
// microseconds, on that one and on a new one each time, whose first calls go to Open MPI (CHASQUI_AFTER). Each pair takes turns in going first.
// Medians of all rounds, of the slowest rank. Compiled by mpicxx -std=c++20 -O2.
#include <mpi.h>
// after it
#include <mpi-ext.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kCalls = 200;

double median(std::vector<double> list) {
  std::nth_element(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2), list.end());
  return list[list.size() / 2];
}

/// Of the slowest rank.
double slowest(double mine) {
  double most = 0;
  MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

/// Microseconds of each of many calls.
template <typename Call>
double back_to_back(Call&& call) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < kCalls; ++i) call();
  return slowest((MPI_Wtime() - begin) / kCalls * 1e6);
}

void compute(double microseconds) {
  for (const double end = MPI_Wtime() + microseconds * 1e-6; MPI_Wtime() < end;) {
  }
}

/// Microseconds from the start to the test that finds the end.
double overlapped(const double* in, double* out, int count, MPI_Comm comm) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm, &request);
  for (int done = 0; done == 0;) {
    compute(2);
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
  return slowest((MPI_Wtime() - begin) * 1e6);
}

/// By Open MPI.
double left_to_it(const double* in, double* out, int count) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < 3; ++i) overlapped(in, out, count, comm);
  const double took = overlapped(in, out, count, comm);
  MPI_Comm_free(&comm);
  return took;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 51;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm ours = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &ours);
  for (int i = 0; i < 2000; ++i) MPI_Barrier(ours);
  if (rank == 0)
    std::printf("%10s %12s %12s %8s   %12s %12s %8s\n", "bytes", "blocking us", "persistent", "ratio", "left to it",
                "ours", "ratio");
  for (const int count : {1, 16, 64, 512, 2048, 8192}) {
    std::vector<double> in(static_cast<std::size_t>(count), 1.0), out(in.size());
    MPI_Request planned = MPI_REQUEST_NULL;
    MPIX_Allreduce_init(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, ours, MPI_INFO_NULL, &planned);
    for (int i = 0; i < kCalls; ++i) MPI_Allreduce(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, ours);
    std::vector<double> blocking, persistent, native, overlap;
    const auto block = [&] {
      blocking.push_back(back_to_back([&] { MPI_Allreduce(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, ours); }));
    };
    const auto start = [&] {
      persistent.push_back(back_to_back([&] {
        MPI_Start(&planned);
        MPI_Wait(&planned, MPI_STATUS_IGNORE);
      }));
    };
    for (int round = 0; round < rounds; ++round) {
      const bool other_first = round % 2 == 1;
      if (other_first) start();
      block();
      if (!other_first) start();
      if (other_first) overlap.push_back(overlapped(in.data(), out.data(), count, ours));
      native.push_back(left_to_it(in.data(), out.data(), count));
      if (!other_first) overlap.push_back(overlapped(in.data(), out.data(), count, ours));
    }
    MPI_Request_free(&planned);
    if (rank == 0) {
      const double a = median(blocking), b = median(persistent), c = median(native), d = median(overlap);
      std::printf("%10zu %12.2f %12.2f %8.2f   %12.2f %12.2f %8.2f\n", in.size() * sizeof(double), a, b, b / a, c, d,
                  c / d);
    }
  }
  MPI_Comm_free(&ours);
  MPI_Finalize();
}
