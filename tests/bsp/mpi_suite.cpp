// SPDX-License-Identifier: MIT
// The suite on MPI ranks. Every rank must see every misuse's fault.
//   test_bsp_… [NODE_SIZE]: with nodes as Options::pretend_node_size has them
#include <cstdio>
#include <cstdlib>
#include <string>

#include "chasqui/bsp/mpi.hpp"
#include "suite.hpp"

int main(int argc, char** argv) {
  using namespace chasqui::bsp;
  const Options options{.pretend_node_size = argc > 1 ? std::atoi(argv[1]) : 0};
  int failures = 0;
  const int rank = mpi_rank(), size = mpi_size();
  const auto failed = [&](const char* name, const std::string& why) {
    ++failures;
    std::fprintf(stderr, "FAILED %s on rank %d of %d: %s\n", name, rank, size, why.c_str());
  };
  for (const suite::Case& one : suite::cases()) {
    try {
      const Ledger ledger = run_mpi(one.program, options);
      if (ledger.processors != size || ledger.machines.empty()) failed(one.name, "no ledger");
    } catch (const std::exception& error) {
      failed(one.name, error.what());
    }
  }
  for (const suite::Misuse& one : suite::misuses()) {
    if (size < one.at_least) continue;
    try {
      run_mpi(one.program, options);
      failed(one.name, "no fault");
    } catch (const MachineError& error) {
      if (error.fault() != one.fault || std::string(error.what()).find(one.says) == std::string::npos) {
        failed(one.name, error.what());
      }
    }
  }
  try {
    run_mpi(
        [](World& w) {
          w.sync();
          if (w.rank() == w.size() - 1) throw std::out_of_range("mine");
          for (;;) w.sync();
        },
        options);
    failed("exception", "nothing thrown");
  } catch (const MachineError& error) {
    if (rank == size - 1 || error.fault() != Fault::program) failed("exception", error.what());
  } catch (const std::out_of_range&) {
    if (rank != size - 1) failed("exception", "on the wrong rank");
  }
  if (rank == 0 && failures == 0) std::printf("suite passed on %d ranks\n", size);
  return failures == 0 ? 0 : 1;
}
