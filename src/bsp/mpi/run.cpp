// SPDX-License-Identifier: MIT
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

#include "bsp/engines.hpp"
#include "bsp/mpi/endpoint.hpp"
#include "chasqui/bsp/mpi.hpp"
#include "mpi/check.hpp"

namespace chasqui::bsp {

namespace {

/// A program that runs on several ranks. Who calls exit() in it would wait in MPI_Finalize for the others, and they for it.
class Running {
 public:
  Running() {
    static const int watched = std::atexit(end_job_in_a_program);
    static_cast<void>(watched);
    ++programs_;
  }
  ~Running() { --programs_; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  static void end_job_in_a_program() {
    int ended = 0, rank = 0;
    MPI_Finalized(&ended);
    if (programs_ == 0 || ended != 0) return;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::fprintf(stderr, "chasqui: bsp: rank %d ends its process in the middle of a program: the job ends\n", rank);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

  static inline int programs_ = 0;
};

void start_mpi() {
  int started = 0;
  MPI_Initialized(&started);
  if (started != 0) return;
  int provided = 0;
  mpi::check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  std::atexit([] {
    int ended = 0;
    MPI_Finalized(&ended);
    if (ended == 0) MPI_Finalize();
  });
}

Ledger run_on(MPI_Comm communicator, const Program& program, const Options& options) {
  const auto made = detail::MpiEndpoint::make(communicator, options);
  detail::MpiEndpoint& endpoint = *made;
  std::optional<Running> running;
  if (endpoint.size() > 1) running.emplace();  // a rank alone keeps nobody waiting
  const std::int64_t begin = clock_nanoseconds();
  const auto abandon = [&](Fault fault, const std::function<std::string()>& why) {
    endpoint.abandon(fault, why);
    detail::MpiNodes::forget(communicator);
  };
  try {
    {
      detail::Processor processor(endpoint);
      detail::run_program(processor, program);
    }
    return endpoint.finish(static_cast<double>(clock_nanoseconds() - begin) * 1e-9);
  } catch (const MachineError& error) {
    abandon(error.fault(), [&] { return error.text(); });
    throw;
  } catch (const std::exception& error) {
    abandon(Fault::program, [&] { return fmt::format("rank {} threw: {}", endpoint.rank(), error.what()); });
    throw;
  } catch (...) {
    abandon(Fault::program,
            [&] { return fmt::format("rank {} threw something that is no std::exception", endpoint.rank()); });
    throw;
  }
}

}  // namespace

Ledger run_mpi(const Program& program, const Options& options) {
  start_mpi();
  return run_on(MPI_COMM_WORLD, program, options);
}

Ledger run_mpi(int communicator, const Program& program, const Options& options) {
  start_mpi();
  return run_on(MPI_Comm_f2c(communicator), program, options);
}

int mpi_rank() {
  start_mpi();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int mpi_size() {
  start_mpi();
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

}  // namespace chasqui::bsp
