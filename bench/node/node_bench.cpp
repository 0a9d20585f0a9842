// SPDX-License-Identifier: MIT
// What one node can do: every collective, 8 B to 4 MiB, Chasqui against the native MPI library in the same run.
// Synchronised start on a common clock, latest finish, median and quartiles over rounds.
//   mpirun -np 16 node_bench [--quick] [--kinds broadcast,allreduce,…] [--largest bytes] [--csv file]
#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "chasqui/mpi/comm.hpp"

namespace {

using chasqui::Kind;

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

struct Quartiles {
  double low, median, high;
};

/// Times `body` with a common start; the latest finish of each round, at rank 0.
template <typename Body>
Quartiles measure(chasqui::run::Comm& comm, int rounds, double lead, Body body) {
  std::vector<double> spans;
  for (int i = 0; i < rounds; ++i) {
    double start = now() + lead;
    comm.broadcast(start, 0);
    while (now() < start) {
    }
    body();
    const double end = now();
    double latest = 0;
    comm.reduce(std::span<const double>(&end, 1), std::span<double>(&latest, 1), 0, chasqui::run::Maximum{});
    spans.push_back(latest - start);
  }
  std::sort(spans.begin(), spans.end());
  const auto at = [&](double q) { return spans[static_cast<std::size_t>(q * static_cast<double>(spans.size() - 1))]; };
  return {at(0.25), at(0.5), at(0.75)};
}

void native(Kind kind, const double* in, double* out, int count) {
  switch (kind) {
    case Kind::broadcast: MPI_Bcast(out, count, MPI_DOUBLE, 0, MPI_COMM_WORLD); break;
    case Kind::reduce: MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); break;
    case Kind::allreduce: MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    case Kind::scan: MPI_Scan(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    case Kind::allgather: MPI_Allgather(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, MPI_COMM_WORLD); break;
    case Kind::gather: MPI_Gather(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, 0, MPI_COMM_WORLD); break;
    case Kind::scatter: MPI_Scatter(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, 0, MPI_COMM_WORLD); break;
    default: MPI_Barrier(MPI_COMM_WORLD); break;
  }
}

chasqui::run::Call ours(Kind kind, const double* in, double* out, int count, const chasqui::run::Sum& sum) {
  chasqui::run::Call call;
  call.kind = kind;
  call.in = in;
  call.out = out;
  call.count = count;
  call.layout.element = sizeof(double);
  call.op = chasqui::run::operator_of<double>(sum, true);
  return call;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool quick = false;
  std::string kinds, csv;
  std::size_t largest = std::size_t{4} << 20;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) quick = true;
    if (std::strcmp(argv[i], "--kinds") == 0) kinds = argv[++i];
    if (std::strcmp(argv[i], "--largest") == 0) largest = std::strtoull(argv[++i], nullptr, 10);
    if (std::strcmp(argv[i], "--csv") == 0) csv = argv[++i];
  }
  {
    chasqui::mpi::Options options;
    options.native = false;
    const auto comm = chasqui::mpi::make_comm(MPI_COMM_WORLD, options);
    const bool first = comm->rank() == 0;
    std::ofstream raw;
    if (first && !csv.empty()) raw.open(csv);
    if (raw) raw << "collective,bytes,ranks,native_q1,native_median,native_q3,ours_q1,ours_median,ours_q3\n";
    if (first) std::printf("%-10s %9s %12s %12s %7s   [quartiles ns: native | ours]\n", "collective", "bytes", "native ns", "ours ns", "ratio");
    for (const Kind kind : {Kind::barrier, Kind::broadcast, Kind::allreduce, Kind::reduce, Kind::allgather, Kind::gather,
                            Kind::scatter, Kind::scan}) {
      const std::string name(to_string(kind));
      if (!kinds.empty() && kinds.find(name) == std::string::npos) continue;
      for (std::size_t bytes = 8; bytes <= largest; bytes *= bytes == 8 ? 8 : 4) {
        if (kind == Kind::barrier && bytes > 8) break;
        const bool blocks = kind == Kind::allgather || kind == Kind::gather || kind == Kind::scatter;
        const std::size_t all = blocks ? static_cast<std::size_t>(comm->size()) : 1;
        if (bytes * all > (std::size_t{64} << 20)) break;
        const int count = static_cast<int>(bytes / sizeof(double));
        std::vector<double> in(static_cast<std::size_t>(count) * all, 1.0), out(in.size(), 2.0);
        const chasqui::run::Sum sum;
        const auto call = ours(kind, in.data(), out.data(), count, sum);
        const double volume = static_cast<double>(bytes * all);
        int rounds = volume <= 1024 ? 4000 : volume <= 65536 ? 1000 : volume <= (1 << 20) ? 200 : 40;
        if (quick) rounds = rounds / 10 + 5;
        const auto run_native = [&] { native(kind, in.data(), out.data(), count); };
        const auto run_ours = [&] { comm->run(call); };
        for (int i = 0; i < rounds / 10 + 2; ++i) {
          run_native();
          run_ours();
        }
        // Interleaved halves, so that drift hits both alike.
        const Quartiles n1 = measure(*comm, rounds / 2 + 1, 20'000, run_native);
        const Quartiles o1 = measure(*comm, rounds / 2 + 1, 20'000, run_ours);
        const Quartiles n2 = measure(*comm, rounds / 2 + 1, 20'000, run_native);
        const Quartiles o2 = measure(*comm, rounds / 2 + 1, 20'000, run_ours);
        const Quartiles n{(n1.low + n2.low) / 2, (n1.median + n2.median) / 2, (n1.high + n2.high) / 2};
        const Quartiles o{(o1.low + o2.low) / 2, (o1.median + o2.median) / 2, (o1.high + o2.high) / 2};
        if (first) {
          std::printf("%-10s %9zu %12.0f %12.0f %7.2f   [%.0f %.0f | %.0f %.0f]\n", name.c_str(), bytes, n.median, o.median,
                      n.median / o.median, n.low, n.high, o.low, o.high);
          std::fflush(stdout);
          if (raw) {
            raw << name << ',' << bytes << ',' << comm->size() << ',' << n.low << ',' << n.median << ',' << n.high << ','
                << o.low << ',' << o.median << ',' << o.high << '\n';
          }
        }
      }
    }
  }
  MPI_Finalize();
  return 0;
}
