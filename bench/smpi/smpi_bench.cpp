// SPDX-License-Identifier: MIT
// One collective in SimGrid's simulated time, checked: the same sources as everywhere, compiled with smpicxx.
//   smpi_bench KIND BYTES ours|native L_ns o_ns G_ns_per_byte shared|strict
// shared: messages under way share the link. CHASQUI_METHOD=items:40 forces a method, CHASQUI_LIST lists them all.
// Common start (all sleep until an agreed simulated time), latest finish. Prints the nanoseconds, and for ours the
// chosen method and its prediction.
#include <mpi.h>
#include <time.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/mpi/comm.hpp"

using chasqui::Kind;

namespace {

std::shared_ptr<const chasqui::Profile> machine(double L, double o, double G, bool shares) {
  chasqui::Profile profile = chasqui::default_profile();
  profile.bsp_g = chasqui::Estimate::exactly(0);
  for (auto& level : profile.levels) {
    level.L = chasqui::Estimate::exactly(L + 16 * G);  // the simulator adds 16 bytes of envelope to each message
    level.o_s = level.o_r = level.g = chasqui::Estimate::exactly(o);
    level.G = chasqui::Estimate::exactly(G);
    level.shares_bandwidth = shares;
    level.receives_in_parallel = !shares;
  }
  return std::make_shared<const chasqui::Profile>(profile);
}

void sleep_until(double seconds) {
  const double left = seconds - MPI_Wtime();
  if (left <= 0) return;
  timespec time{};
  time.tv_sec = static_cast<time_t>(left);
  time.tv_nsec = static_cast<long>((left - std::floor(left)) * 1e9);
  nanosleep(&time, nullptr);
}

void native(Kind kind, std::vector<double>& in, std::vector<double>& out, int count) {
  switch (kind) {
    case Kind::broadcast: MPI_Bcast(out.data(), count, MPI_DOUBLE, 0, MPI_COMM_WORLD); break;
    case Kind::reduce: MPI_Reduce(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); break;
    case Kind::allreduce: MPI_Allreduce(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    case Kind::allgather:
      MPI_Allgather(in.data(), count, MPI_DOUBLE, out.data(), count, MPI_DOUBLE, MPI_COMM_WORLD);
      break;
    default: MPI_Barrier(MPI_COMM_WORLD); break;
  }
}

bool right(Kind kind, const std::vector<double>& out, int count, int rank, int size) {
  const auto value = [](int r, int i) { return static_cast<double>((r + 1) * (i % 7 + 1)); };
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (kind == Kind::broadcast && out[at] != value(0, i)) return false;
    if ((kind == Kind::allreduce || (kind == Kind::reduce && rank == 0)) &&
        out[at] != static_cast<double>(i % 7 + 1) * size * (size + 1) / 2) {
      return false;
    }
    for (int r = 0; kind == Kind::allgather && r < size; ++r) {
      if (out[static_cast<std::size_t>(r) * static_cast<std::size_t>(count) + at] != value(r, i)) return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc < 8) return 2;
  const auto kind = chasqui::kind_from(argv[1]).value_or(Kind::barrier);
  const int count = std::atoi(argv[2]) / 8;
  const bool chasquis = std::string(argv[3]) == "ours";
  const std::size_t all = kind == Kind::allgather ? static_cast<std::size_t>(size) : 1;
  std::vector<double> in(static_cast<std::size_t>(count)), out(in.size() * all, -1.0);
  for (int i = 0; i < count; ++i) {
    in[static_cast<std::size_t>(i)] = static_cast<double>((rank + 1) * (i % 7 + 1));
    if (kind == Kind::broadcast && rank == 0) out[static_cast<std::size_t>(i)] = in[static_cast<std::size_t>(i)];
  }
  int failed = 0;
  double time = 0;
  chasqui::run::Choice choice;
  {
    chasqui::mpi::Options options;
    options.slots = options.native = false;
    options.blocking_waits = true;
    options.profile = machine(std::atof(argv[4]), std::atof(argv[5]), std::atof(argv[6]),
                              std::string(argv[7]) == "shared");
    const auto comm = chasquis ? chasqui::mpi::make_comm(MPI_COMM_WORLD, options) : nullptr;
    const chasqui::run::Sum sum;
    chasqui::run::Call call;
    call.kind = kind;
    call.in = in.data();
    call.out = out.data();
    call.count = kind == Kind::barrier ? 0 : count;
    call.layout.element = sizeof(double);
    call.op = chasqui::run::operator_of<double>(sum, true);
    if (chasquis) {
      const auto list = comm->choices_for(call);
      choice = list.front();
      const char* forced = std::getenv("CHASQUI_METHOD");
      for (const auto& other : list) {
        if (forced != nullptr && fmt::format("{}:{}", to_string(other.method), other.parts) == forced) choice = other;
        if (rank == 0 && std::getenv("CHASQUI_LIST") != nullptr) {
          std::printf("%s:%ld %.1f\n", std::string(to_string(other.method)).c_str(), static_cast<long>(other.parts), other.nanoseconds);
        }
      }
      comm->force(choice);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    start = std::floor(start) + 60;
    sleep_until(start);
    if (chasquis) comm->run(call);
    else native(kind, in, out, count);
    double end = MPI_Wtime() - start;
    failed = right(kind, out, count, rank, size) ? 0 : 1;
    sleep_until(start + 60);
    MPI_Reduce(&end, &time, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    int any = 0;
    MPI_Reduce(&failed, &any, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    failed = any;
  }
  if (rank == 0) {
    std::printf("RESULT %.1f ns %s %s(%ld) predicted %.1f\n", time * 1e9, failed ? "WRONG" : "right",
                chasquis ? std::string(to_string(choice.method)).c_str() : "native", static_cast<long>(choice.parts),
                chasquis ? choice.nanoseconds : 0.0);
  }
  MPI_Finalize();
  return failed;
}
