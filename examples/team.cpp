// SPDX-License-Identifier: MIT
// Collectives between threads: values, ranges, a column of a matrix, a collective in flight, parts of a team, a rank that fails.
#include "chasqui/threads/team.hpp"

#include <cstdio>
#include <vector>

#include "chasqui/base/error.hpp"

int main() {
  using namespace chasqui;
  threads::Team team(4);
  team.run([](run::Comm& comm) {
    const long own = 10 * (comm.rank() + 1);      // every rank has some work items
    const long first = comm.exclusive_scan(own);  // where mine begin among all
    const long all = comm.allreduce(own);
    if (comm.rank() == 3) std::printf("items %ld .. %ld of %ld\n", first, first + own - 1, all);

    std::vector<double> row(8, comm.rank()), sums(8);
    run::Request request = comm.iallreduce(row, sums);  // goes on while this rank does something else
    const auto pair = comm.split(comm.rank() / 2, comm.rank());
    const long here = pair->allreduce(1L);
    request.wait();

    std::vector<double> matrix(4 * 8), values(4, comm.rank());
    comm.reduce(values, run::Strided<double>{matrix.data() + 5, 4, 8}, 0,
                run::Maximum{});  // into column 5 of rank 0's matrix
    if (comm.rank() == 0) std::printf("sum %g, %ld in a part, column of %g\n", sums[7], here, matrix[8 + 5]);
  });
  try {
    team.run([](run::Comm& comm) {
      if (comm.rank() == 2) throw Error("rank 2 had enough");
      comm.barrier();  // does not wait for ever
    });
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
  }
}
