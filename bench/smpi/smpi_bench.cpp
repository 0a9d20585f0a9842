// SPDX-License-Identifier: MIT
// One collective in SimGrid's simulated time, checked: the same sources as everywhere, compiled with smpicxx.
//   smpi_bench KIND[,KIND…] BYTES[,BYTES…] ours|native L_ns o_ns G_ns_per_byte shared|strict
// shared: messages under way share the link. CHASQUI_METHOD=items:40 forces a method, CHASQUI_LIST lists them all.
// Common start (all sleep until an agreed simulated time), latest finish. Prints the nanoseconds, and for ours the
// chosen method and its prediction; several cases are run one after another (some native algorithms leave stray
// messages behind: give those a process each).
#include <mpi.h>
#include <time.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/mpi/comm.hpp"
#include "chasqui/run/choose.hpp"

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

struct Case {
  Kind kind = Kind::barrier;
  int count = 0;  ///< of doubles
};

std::vector<Case> cases_from(const std::string& kinds, const std::string& sizes) {
  std::vector<Case> cases;
  std::istringstream kind_list(kinds), size_list(sizes);
  for (std::string kind, size; std::getline(kind_list, kind, ',') && std::getline(size_list, size, ',');) {
    cases.push_back({chasqui::kind_from(kind).value_or(Kind::barrier), std::atoi(size.c_str()) / 8});
  }
  return cases;
}

/// The chosen method, or the one asked for.
chasqui::run::Choice choose(const chasqui::run::Comm& comm, const chasqui::run::Call& call, bool prints) {
  const auto list = comm.choices_for(call);
  auto choice = list.front();
  const char* forced = std::getenv("CHASQUI_METHOD");
  for (const auto& other : list) {
    const auto name = fmt::format("{}:{}", to_string(other.method), other.parts);
    if (forced != nullptr && name == forced) choice = other;
    if (prints && std::getenv("CHASQUI_LIST") != nullptr) std::printf("%s %.1f\n", name.c_str(), other.nanoseconds);
  }
  return choice;
}

/// comm: nullptr for the native collective. Collective; true where the result was right everywhere.
bool measure(const Case& job, chasqui::run::Comm* comm, int rank, int size) {
  const std::size_t all = job.kind == Kind::allgather ? static_cast<std::size_t>(size) : 1;
  std::vector<double> in(static_cast<std::size_t>(job.count)), out(in.size() * all, -1.0);
  for (int i = 0; i < job.count; ++i) {
    in[static_cast<std::size_t>(i)] = static_cast<double>((rank + 1) * (i % 7 + 1));
    if (job.kind == Kind::broadcast && rank == 0) out[static_cast<std::size_t>(i)] = in[static_cast<std::size_t>(i)];
  }
  const chasqui::run::Sum sum;
  chasqui::run::Call call;
  call.kind = job.kind;
  call.in = in.data();
  call.out = out.data();
  call.count = job.kind == Kind::barrier ? 0 : job.count;
  call.element = sizeof(double);
  call.op = chasqui::run::operator_of<double>(sum, true);
  chasqui::run::Choice choice;
  if (comm != nullptr) {
    choice = choose(*comm, call, rank == 0);
    comm->force(choice);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  start = std::floor(start) + 60;
  sleep_until(start);
  if (comm != nullptr) comm->run(call);
  else native(job.kind, in, out, job.count);
  const double end = MPI_Wtime() - start;
  const int failed = right(job.kind, out, job.count, rank, size) ? 0 : 1;
  sleep_until(start + 60);
  double time = 0;
  int any = 0;
  MPI_Reduce(&end, &time, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) {
    std::printf("RESULT %.1f ns %s %s(%ld) predicted %.1f\n", time * 1e9, any != 0 ? "WRONG" : "right",
                comm != nullptr ? std::string(to_string(choice.method)).c_str() : "native",
                static_cast<long>(choice.parts), comm != nullptr ? choice.nanoseconds : 0.0);
  }
  return any == 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc < 8) return 2;
  bool good = true;
  {
    chasqui::mpi::Options options;
    options.slots = options.native = false;
    options.blocking_waits = true;
    options.profile =
        machine(std::atof(argv[4]), std::atof(argv[5]), std::atof(argv[6]), std::string(argv[7]) == "shared");
    const auto comm = std::string(argv[3]) == "ours" ? chasqui::mpi::make_comm(MPI_COMM_WORLD, options) : nullptr;
    for (const Case& job : cases_from(argv[1], argv[2])) good = measure(job, comm.get(), rank, size) && good;
  }
  MPI_Finalize();
  return good ? 0 : 1;
}
