// SPDX-License-Identifier: MIT
#include "bsp/mpi/fate.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "mpi/check.hpp"

namespace chasqui::bsp::detail {

void MpiFate::fail(Fault fault, std::string text) {
  if (failed_) return;
  fault_ = fault;
  text_ = std::move(text);
  failed_ = true;
}

void MpiFate::refuse(int code, const char* what) {
  std::string text;
  try {
    mpi::check(code, what);
  } catch (const Error& error) {
    text = fmt::format("rank {}: {}", rank_, error.what());
  }
  if (!ending_) fail(Fault::resources, text);
  throw MachineError(Fault::resources, text);
}

void MpiFate::end_job(const char* why) const {
  std::fprintf(stderr, "chasqui: bsp: rank %d: %s: the others cannot learn how the program ended: the job ends\n",
               rank_, why);
  MPI_Abort(job_, 1);
  std::abort();
}

}  // namespace chasqui::bsp::detail
