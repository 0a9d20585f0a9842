// SPDX-License-Identifier: MIT
// What one node can do: every collective, 8 B to 4 MiB, Chasqui against the native MPI library in the same run.
// The two take turns; median and quartiles of the latest finish, ratios of neighbouring slices.
//   mpirun -np 16 node_bench [--quick] [--kinds broadcast,allreduce,…] [--largest bytes] [--csv file]
#include <mpi.h>

#include <fstream>

#include "chasqui/mpi/comm.hpp"
#include "mpi/native.hpp"
#include "rows.hpp"

namespace {

using namespace node_bench;

void bench(const Settings& settings) {
  chasqui::mpi::Options options;
  options.native = false;
  const auto comm = chasqui::mpi::make_comm(MPI_COMM_WORLD, options);
  const bool first = comm->rank() == 0;
  std::ofstream raw;
  if (first && !settings.csv.empty()) raw.open(settings.csv);
  if (raw.is_open()) {
    raw << "collective,bytes,ranks,native_q1,native_median,native_q3,ours_q1,ours_median,ours_q3,ratio_q1,ratio_median,ratio_q3\n";
  }
  if (first) std::printf("%-10s %9s %12s %12s %7s   [quartiles ns: native | ours]\n", "collective", "bytes", "native ns", "ours ns", "ratio");
  for_each_row(comm->size(), settings, [&](const Row& row) {
    const auto [n, o, ratio] = take_turns(
        [&] { return slice(*comm, row.rounds, [&] { chasqui::mpi::run_native_doubles(MPI_COMM_WORLD, row.call); }); },
        [&] { return slice(*comm, row.rounds, [&] { comm->run(row.call); }); });
    if (!first) return;
    std::printf("%-10s %9zu %12.0f %12.0f %7.2f   [%.0f %.0f | %.0f %.0f]\n", row.name(), row.bytes, n.median,
                o.median, ratio.median, n.low, n.high, o.low, o.high);
    std::fflush(stdout);
    if (raw.is_open()) {
      raw << row.name() << ',' << row.bytes << ',' << comm->size() << ',' << n.low << ',' << n.median << ',' << n.high << ','
          << o.low << ',' << o.median << ',' << o.high << ',' << ratio.low << ',' << ratio.median << ',' << ratio.high << '\n';
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bench(Settings(argc, argv));
  MPI_Finalize();
  return 0;
}
