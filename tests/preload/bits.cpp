// SPDX-License-Identifier: MIT
// Under CHASQUI_REPRODUCIBLE=1: sums whose bits are those of a fold from the left in rank order, alone, in the middle
// of a long vector, for every collective and however the ranks are put on nodes.
#include <algorithm>
#include <cstring>

#include "check.hpp"

void add(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) static_cast<double*>(inout)[2 * i] += static_cast<double*>(in)[2 * i];
}

int main(int argc, char** argv) {
  using namespace conformance;
  MPI_Init(&argc, &argv);
  part = "bits";
  const Place me(MPI_COMM_WORLD);
  const auto value = [](int rank, int i) { return 1.0 / (3 + rank * 7 + i % 13) * (rank % 3 == 1 ? 1e12 : 1e-3); };
  MPI_Datatype second;
  MPI_Type_create_resized(MPI_DOUBLE, 0, 16, &second);
  MPI_Type_commit(&second);
  MPI_Op plus;
  MPI_Op_create(add, 1, &plus);
  for (const int count : {1, 7, 100, 2000, 300000}) {
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
    // Rank r gets elements r, r+1, ... of the first ones, as many as there are ranks before it.
    std::vector<int> counts(index(me.size));
    int total = 0, first = 0;
    for (int r = 0; r < me.size; ++r) {
      if (r == me.rank) first = total;
      total += counts[index(r)] = std::min(count - total, count / me.size + r);
    }
    const int own = counts[index(me.rank)];
    std::vector<double> share(index(own) + 1);
    counts.back() += count - total;  // all of them
    share.resize(index(counts[index(me.rank)]) + 1);
    MPI_Reduce_scatter(in.data(), share.data(), counts.data(), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    equal("reduce_scatter", std::memcmp(share.data(), all.data() + first, index(own) * sizeof(double)), 0);
    const int block = count / me.size;
    share.resize(index(block) + 1);
    MPI_Reduce_scatter_block(in.data(), share.data(), block, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    equal("reduce_scatter_block",
          std::memcmp(share.data(), all.data() + me.rank * block, index(block) * sizeof(double)), 0);
    // Every second double by a derived type and an operation of the program.
    std::vector<double> spread(2 * in.size(), -1), sums(spread);
    for (int i = 0; i < count; ++i) spread[index(2 * i)] = in[index(i)];
    MPI_Allreduce(spread.data(), sums.data(), count, second, plus, MPI_COMM_WORLD);
    for (int i = 0; i < count; ++i)
      equal("derived", std::memcmp(&sums[index(2 * i)], &all[index(i)], sizeof(double)), 0);
    MPI_Exscan(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; me.rank > 0 && i < count; ++i) {
      double sum = value(0, i);
      for (int r = 1; r < me.rank; ++r) sum += value(r, i);
      equal("exscan", std::memcmp(&out[index(i)], &sum, sizeof(double)), 0);
    }
  }
  MPI_Op_free(&plus);
  MPI_Type_free(&second);
  if (me.rank == 0) std::printf("the bits of a fold in rank order\n");
  MPI_Finalize();
  return 0;
}
