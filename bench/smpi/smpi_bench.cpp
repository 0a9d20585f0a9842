// SPDX-License-Identifier: MIT
// One collective in SimGrid's simulated time, checked: the same sources as everywhere, compiled with smpicxx.
//   smpi_bench KIND[,KIND…] BYTES[,BYTES…] ours|native L_ns o_ns G_ns_per_byte shared|strict
// shared: messages under way share the link. CHASQUI_METHOD=items:40 forces a method, CHASQUI_LIST lists them all.
// Common start (all sleep until an agreed simulated time), latest finish. Prints the nanoseconds, and for ours the
// chosen method and its prediction; several cases are run one after another (some native algorithms leave stray
// messages behind: give those a process each).
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/mpi/comm.hpp"
#include "chasqui/run/choose.hpp"
#include "measure/common_start.hpp"
#include "measure/sample_call.hpp"
#include "mpi/native.hpp"

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

/// Ours, or the native collective. Collective; true where the result was right everywhere.
bool measure(const Case& job, chasqui::run::Comm& comm, bool ours) {
  chasqui::measure::SampleCall sample(job.kind, static_cast<std::size_t>(job.count) * sizeof(double), comm.size());
  std::fill(sample.out().begin(), sample.out().end(), -1.0);
  for (int i = 0; i < job.count; ++i) {
    const double value = (comm.rank() + 1) * (i % 7 + 1);
    sample.in()[static_cast<std::size_t>(i)] = value;
    if (job.kind == Kind::broadcast && comm.rank() == 0) sample.out()[static_cast<std::size_t>(i)] = value;
  }
  chasqui::run::Choice choice;
  if (ours) choice = choose(comm, sample.call(), comm.rank() == 0);
  chasqui::measure::CommonStart start(comm);
  const double time = start.once([&] {
    if (!ours) {
      chasqui::mpi::run_native_doubles(MPI_COMM_WORLD, sample.call());
      return;
    }
    comm.force(choice);
    comm.run(sample.call());
    comm.unforce();
  });
  const bool here = right(job.kind, sample.out(), job.count, comm.rank(), comm.size());
  const bool everywhere = comm.allreduce(here ? 0 : 1, chasqui::run::Maximum{}) == 0;
  if (comm.rank() == 0) {
    std::printf("RESULT %.1f ns %s %s(%ld) predicted %.1f\n", time, everywhere ? "right" : "WRONG",
                ours ? std::string(to_string(choice.method)).c_str() : "native", static_cast<long>(choice.parts),
                ours ? choice.nanoseconds : 0.0);
  }
  return everywhere;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 8) return 2;
  bool good = true;
  {
    chasqui::mpi::Options options;
    options.slots = options.native = false;
    options.blocking_waits = true;
    options.profile =
        machine(std::atof(argv[4]), std::atof(argv[5]), std::atof(argv[6]), std::string(argv[7]) == "shared");
    const auto comm = chasqui::mpi::make_comm(MPI_COMM_WORLD, options);
    const bool ours = std::string(argv[3]) == "ours";
    for (const Case& job : cases_from(argv[1], argv[2])) good = measure(job, *comm, ours) && good;
  }
  MPI_Finalize();
  return good ? 0 : 1;
}
