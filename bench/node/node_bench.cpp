// SPDX-License-Identifier: MIT
// What one node can do: every collective, 8 B to 4 MiB, Chasqui against the native MPI library in the same run.
// The two take turns; median and quartiles of the latest finish, ratios of neighbouring slices.
//   mpirun -np 16 node_bench [--quick] [--kinds broadcast,allreduce,…] [--largest bytes] [--csv file]
#include <mpi.h>

#include <optional>

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
  std::optional<Table> table;
  if (first) table.emplace(settings, "native", "ours");
  for_each_row(comm->size(), settings, [&](const Row& row) {
    CommonStart start(*comm);
    const int rounds = rounds_per_slice(row.rounds);
    const Turns found = take_turns(
        [&] {
          return timed_rounds(start, rounds, [&] { chasqui::mpi::run_native_doubles(MPI_COMM_WORLD, row.call()); });
        },
        [&] { return timed_rounds(start, rounds, [&] { comm->run(row.call()); }); });
    if (first) table->add(row, comm->size(), found);
  });
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bench(Settings(argc, argv));
  MPI_Finalize();
  return 0;
}
