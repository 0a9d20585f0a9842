// SPDX-License-Identifier: MIT
// many COUNT CALLS: makes and frees COUNT communicators with CALLS collectives each; memory, file descriptors and
// mappings must not grow. mpirun -n 2 many 100000 1
#include <sys/resource.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "check.hpp"

namespace {

long resident_kib() {
  std::ifstream file("/proc/self/statm");
  long pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * 4;
}
long lines_of(const char* path) {
  std::ifstream file(path);
  long count = 0;
  for (std::string line; std::getline(file, line);) ++count;
  return count;
}
long descriptors() {
  long count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) count += entry.exists() || true;
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace conformance;
  MPI_Init(&argc, &argv);
  const long count = argc > 1 ? std::atol(argv[1]) : 1000;
  const int calls = argc > 2 ? std::atoi(argv[2]) : 3;
  const Place me(MPI_COMM_WORLD);
  part = "many communicators";
  long memory = 0, files = 0;
  [[maybe_unused]] long maps = 0;
  for (long i = 0; i < count; ++i) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, me.rank, &comm);
    for (int k = 0; k < calls; ++k) {
      int one = 1, sum = 0;
      MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
      equal("sum", sum, me.size);
    }
    MPI_Comm_free(&comm);
    if (i == count / 4) memory = resident_kib(), maps = lines_of("/proc/self/maps"), files = descriptors();
  }
  const long grown = resident_kib() - memory;
#ifndef __SANITIZE_ADDRESS__  // which keeps what was given back for a while
  if (grown > 6000) fail("KiB of memory grown", grown, 0);
  if (lines_of("/proc/self/maps") > maps + 20) fail("mappings", lines_of("/proc/self/maps"), maps);
#endif
  if (descriptors() > files) fail("descriptors", descriptors(), files);
  if (me.rank == 0) std::printf("%ld communicators: %ld KiB grown in the last three quarters\n", count, grown);
  MPI_Finalize();
  return 0;
}
