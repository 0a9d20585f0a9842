// SPDX-License-Identifier: MIT
// The suite over MPI: mpirun -np P engine_mpi [--messages | --two-level n] [--soak count seed] [--thorough]
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "chasqui/base/error.hpp"
#include "chasqui/mpi/comm.hpp"
#include "suite.hpp"

namespace chasqui::engines {
namespace {

/// The operators of MPI on its own types, through FoldContext, against MPI_Allreduce.
void mpi_operators(run::Comm& comm) {
  for (const MPI_Op op : {MPI_SUM, MPI_MAX, MPI_BXOR}) {
    mpi::FoldContext context{op, MPI_INT, sizeof(int)};
    for (const int count : {1, 17, 5000}) {
      std::vector<int> in(static_cast<std::size_t>(count)), out(in.size()), expected(in.size());
      for (int i = 0; i < count; ++i) in[static_cast<std::size_t>(i)] = (comm.rank() + 3) * (i + 7) % 1009;
      run::Call call{.kind = Kind::allreduce, .in = in.data(), .out = out.data(), .count = count,
                     .layout = {.element = sizeof(int)}, .op = mpi::operator_of(context)};
      comm.run(call);
      MPI_Allreduce(in.data(), expected.data(), count, MPI_INT, op, MPI_COMM_WORLD);
      if (out != expected) throw std::runtime_error("an MPI operator gives another result");
    }
  }
}

/// One rank passes a wrong root or size: every rank must get an Error, nobody may hang.
void failures(const mpi::Options& options) {
  for (const bool wrong_size : {false, true}) {
    const auto comm = mpi::make_comm(MPI_COMM_WORLD, options);
    if (comm->size() < 2) return;
    bool failed = false;
    try {
      std::vector<int> data(comm->rank() == 1 && wrong_size ? 3u : 2u);
      comm->broadcast(std::span<int>(data), comm->rank() == 1 && !wrong_size ? comm->size() : 0);
      for (int i = 0; i < 3; ++i) comm->barrier();
    } catch (const Error&) {
      failed = true;
    }
    int mine = failed ? 1 : 0;
    int all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (all != comm->size()) throw std::runtime_error(fmt::format("{} of {} ranks heard of the failure", all, comm->size()));
  }
}

int programme(int argc, char** argv) {
  mpi::Options options;
  bool thorough = false;
  std::int64_t count = 0;
  std::uint64_t seed = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--messages") == 0) options.slots = false;
    if (std::strcmp(argv[i], "--thorough") == 0) thorough = true;
    if (std::strcmp(argv[i], "--two-level") == 0) options.pretend_node_size = std::atoi(argv[++i]);
    if (std::strcmp(argv[i], "--soak") == 0) {
      count = std::atoll(argv[++i]);
      seed = std::strtoull(argv[++i], nullptr, 10);
    }
  }
  const auto comm = mpi::make_comm(MPI_COMM_WORLD, options);
  if (count > 0) {
    soak(*comm, count, seed);
  } else {
    run_everything(*comm, thorough);
    mpi_operators(*comm);
    failures(options);
  }
  if (comm->rank() == 0) std::printf("%s: %d ranks on %d nodes: right\n", CHASQUI_MPI_FLAVOUR, comm->size(), comm->terrain().nodes);
  return 0;
}

}  // namespace
}  // namespace chasqui::engines

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  alarm(240);  // a hang is a failure
  int code = 1;
  try {
    code = chasqui::engines::programme(argc, argv);
  } catch (const std::exception& error) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return code;
}
