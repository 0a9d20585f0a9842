// SPDX-License-Identifier: MIT
// What a communicator over MPI owes to the program around it: mpirun -np P mpi_cases name. A case throws what is wrong.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "chasqui/mpi/comm.hpp"

namespace chasqui::mpi {
namespace {

int my_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

void expect(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

/// A long message of the program's own is under way while its sender waits in a barrier: it must arrive.
void progress() {
  const auto comm = make_comm(MPI_COMM_WORLD);
  const int rank = comm->rank();
  std::vector<char> data(std::size_t{8} << 20, static_cast<char>('a' + rank));
  MPI_Request request = MPI_REQUEST_NULL;
  const int count = static_cast<int>(data.size());
  if (rank == 0) MPI_Isend(data.data(), count, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &request);
  if (rank == 1) {
    usleep(100'000);  // the sender waits already
    MPI_Recv(data.data(), count, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(data.front() == 'a' && data.back() == 'a', "other data");
  }
  comm->barrier();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

}  // namespace
}  // namespace chasqui::mpi

int main(int argc, char** argv) {
  using namespace chasqui::mpi;
  const std::map<std::string, std::function<void()>> cases = {{"progress", progress}};
  MPI_Init(&argc, &argv);
  alarm(30);  // a hang is a failure
  const auto found = argc > 1 ? cases.find(argv[1]) : cases.end();
  if (found == cases.end()) {
    for (const auto& each : cases) std::fprintf(stderr, "a case: %s\n", each.first.c_str());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  try {
    found->second();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", my_rank(), error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
