// SPDX-License-Identifier: MIT
// Under CHASQUI_REPRODUCIBLE=1: sums whose bits are those of a fold from the left in rank order, alone, in the middle
// of a long vector, for every collective and however the ranks are put on nodes.
#include <cstring>

#include "check.hpp"

int main(int argc, char** argv) {
  using namespace conformance;
  MPI_Init(&argc, &argv);
  part = "bits";
  const Place me(MPI_COMM_WORLD);
  const auto value = [](int rank, int i) { return 1.0 / (3 + rank * 7 + i % 13) * (rank % 3 == 1 ? 1e12 : 1e-3); };
  for (const int count : {1, 7, 100, 300000}) {
    std::vector<double> in(index(count)), out(in), scan(in), all(in), upto(in);
    for (int i = 0; i < count; ++i) {
      double sum = value(0, i);
      upto[index(i)] = sum;
      for (int r = 1; r < me.size; ++r) {
        sum += value(r, i);
        if (r <= me.rank) upto[index(i)] = sum;
      }
      all[index(i)] = sum;
      in[index(i)] = value(me.rank, i);
    }
    MPI_Allreduce(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    equal("allreduce", std::memcmp(out.data(), all.data(), out.size() * sizeof(double)), 0);
    MPI_Scan(in.data(), scan.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    equal("scan", std::memcmp(scan.data(), upto.data(), out.size() * sizeof(double)), 0);
    out.assign(out.size(), 0);
    MPI_Reduce(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, me.size - 1, MPI_COMM_WORLD);
    if (me.rank == me.size - 1) equal("reduce", std::memcmp(out.data(), all.data(), out.size() * sizeof(double)), 0);
  }
  if (me.rank == 0) std::printf("the bits of a fold in rank order\n");
  MPI_Finalize();
  return 0;
}
