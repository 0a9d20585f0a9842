// SPDX-License-Identifier: MIT
// The life of communicators over MPI, from their making to their end, several at once: mpirun -np P mpi_lives name. A case throws
// what is wrong.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/mpi/comm.hpp"

namespace chasqui::mpi {
namespace {

void expect(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

/// Slots, messages, and both.
std::vector<Options> ways() {
  Options messages, both;
  messages.slots = false;
  both.pretend_node_size = 2;
  return {{}, messages, both};
}

/// Requests of several communicators are waited for in an order of each rank's own.
void any_order() {
  for (const Options& options : ways()) {
    const auto comm = make_comm(MPI_COMM_WORLD, options);
    const auto other = comm->split(0, -comm->rank());
    const auto half = comm->split(comm->rank() % 2, 0);
    for (const std::size_t count : {1, 3000, 100'000}) {
      const std::vector<long> ones(count, 1);
      std::vector<long> a(count), b(count), c(count);
      std::vector<run::Request> requests;
      requests.push_back(comm->iallreduce(ones, a));
      requests.push_back(other->iallreduce(ones, b));
      requests.push_back(half->iallreduce(ones, c));
      for (std::size_t i = 0; i < 3; ++i) requests[(i + static_cast<std::size_t>(comm->rank())) % 3].wait();
      expect(a.back() == comm->size() && b.back() == comm->size() && c.back() == half->size(), "a sum is wrong");
    }
  }
}

}  // namespace
}  // namespace chasqui::mpi

int main(int argc, char** argv) {
  using namespace chasqui::mpi;
  const std::map<std::string, std::function<void()>> cases = {
      {"any_order", any_order},
  };
  MPI_Init(&argc, &argv);
  alarm(40);  // a hang is a failure
  const auto found = argc > 1 ? cases.find(argv[1]) : cases.end();
  if (found == cases.end()) {
    for (const auto& each : cases) std::fprintf(stderr, "a case: %s\n", each.first.c_str());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  try {
    found->second();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
