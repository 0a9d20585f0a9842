// SPDX-License-Identifier: MIT
// In place of src/mpi/fabric.cpp: communicators over MPI begin with call CALLS_BEFORE + 1, as if so many had been made.
#include <cstdlib>

#define make_fabric make_fresh_fabric
#include "mpi/fabric.cpp"
#undef make_fabric

namespace chasqui::mpi {

run::Fabric make_fabric(Together& all, Channel channel, std::vector<int> nodes, const Options& options) {
  run::Fabric fabric = make_fresh_fabric(all, std::move(channel), std::move(nodes), options);
  const char* calls = std::getenv("CALLS_BEFORE");
  fabric.calls_before = calls != nullptr ? std::strtoull(calls, nullptr, 10) : 0;
  return fabric;
}

}  // namespace chasqui::mpi
