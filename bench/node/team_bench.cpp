// SPDX-License-Identifier: MIT
// A team of threads on one node: every collective, 8 B to 4 MiB, and the standard library's barrier for comparison.
//   team_bench [threads] [--quick]
#include <time.h>

#include <algorithm>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "chasqui/threads/team.hpp"

namespace {

using chasqui::Kind;

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

template <typename Body>
double measure(chasqui::run::Comm& comm, int rounds, Body body) {
  std::vector<double> spans;
  for (int i = 0; i < rounds; ++i) {
    double start = now() + 20'000;
    comm.broadcast(start, 0);
    while (now() < start) {
    }
    body();
    const double end = now();
    spans.push_back(comm.allreduce(end, chasqui::run::Maximum{}) - start);
  }
  std::sort(spans.begin(), spans.end());
  return spans[spans.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 && argv[1][0] != '-' ? std::atoi(argv[1]) : 4;
  const bool quick = argc > 1 && std::strcmp(argv[argc - 1], "--quick") == 0;
  chasqui::threads::Team team(threads);
  std::barrier standard(threads);
  team.run([&](chasqui::run::Comm& comm) {
    const bool first = comm.rank() == 0;
    const double reference = measure(comm, quick ? 200 : 2000, [&] { standard.arrive_and_wait(); });
    if (first) std::printf("threads %d, pinned %d\n%-10s %9s %12s\n%-10s %9d %12.0f\n", threads, team.pinned(), "collective", "bytes", "ns", "std::barrier", 0, reference);
    for (const Kind kind : {Kind::barrier, Kind::broadcast, Kind::allreduce, Kind::reduce, Kind::allgather}) {
      for (std::size_t bytes = 8; bytes <= (std::size_t{4} << 20); bytes *= bytes == 8 ? 8 : 4) {
        if (kind == Kind::barrier && bytes > 8) break;
        const std::size_t all = kind == Kind::allgather ? static_cast<std::size_t>(comm.size()) : 1;
        std::vector<double> in(bytes / sizeof(double), 1.0), out(in.size() * all, 2.0);
        const chasqui::run::Sum sum;
        chasqui::run::Call call;
        call.kind = kind;
        call.in = in.data();
        call.out = out.data();
        call.count = static_cast<std::int64_t>(in.size());
        call.layout.element = sizeof(double);
        call.op = chasqui::run::operator_of<double>(sum, true);
        const double volume = static_cast<double>(bytes * all);
        int rounds = volume <= 1024 ? 4000 : volume <= 65536 ? 1000 : volume <= (1 << 20) ? 200 : 40;
        if (quick) rounds = rounds / 10 + 5;
        for (int i = 0; i < 3; ++i) comm.run(call);
        const double time = measure(comm, rounds, [&] { comm.run(call); });
        if (first) std::printf("%-10s %9zu %12.0f\n", std::string(to_string(kind)).c_str(), bytes, time);
      }
    }
  });
  return 0;
}
