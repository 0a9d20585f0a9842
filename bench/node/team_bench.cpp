// SPDX-License-Identifier: MIT
// A team of threads on one node: every collective, 8 B to 4 MiB, and the standard library's barrier for comparison.
// Median and quartiles of the latest finish.
//   team_bench [threads] [--quick] [--kinds broadcast,allreduce,…] [--largest bytes]
#include <barrier>

#include "chasqui/threads/team.hpp"
#include "rows.hpp"

int main(int argc, char** argv) {
  using namespace node_bench;
  const int threads = argc > 1 && argv[1][0] != '-' ? std::atoi(argv[1]) : 4;
  const Settings settings(argc, argv);
  chasqui::threads::Team team(threads);
  std::barrier standard(threads);
  team.run([&](chasqui::run::Comm& comm) {
    const auto print = [&](const char* name, std::size_t bytes, const Quartiles& q) {
      if (comm.rank() == 0) std::printf("%-12s %9zu %12.0f   [%.0f %.0f]\n", name, bytes, q.median, q.low, q.high);
    };
    CommonStart start(comm);
    if (comm.rank() == 0)
      std::printf("threads %d, pinned %d\n%-12s %9s %12s\n", threads, team.pinned(), "collective", "bytes", "ns");
    print("std::barrier", 0,
          Quartiles::of(timed_rounds(start, settings.quick ? 200 : 2000, [&] { standard.arrive_and_wait(); })));
    for_each_row(threads, settings, [&](const Row& row) {
      print(row.name(), row.bytes, Quartiles::of(timed_rounds(start, row.rounds, [&] { comm.run(row.call()); })));
    });
  });
  return 0;
}
