// SPDX-License-Identifier: MIT
// The same reduction gives the same bits throughout a run, whoever serves it: sums whose bits depend on the order of folding,
// on the world and on another communicator. same_bits [TIMES]: so many times as many calls.
#include <complex>
#include <cstring>
#include <map>
#include <string>

#include "check.hpp"

namespace {

using namespace conformance;

/// Numbers of all sizes: any two orders of adding them up differ in some element.
double operand(int rank, int i) {
  std::uint64_t x = (static_cast<std::uint64_t>(rank) * 1000003 + static_cast<std::uint64_t>(i)) * 0x9e3779b97f4a7c15u;
  x ^= x >> 29;
  const double value = static_cast<double>(x % 1000003) / 7 - 70000;
  return value * static_cast<double>(1ull << (x >> 40) % 40);
}

struct Results {
  std::map<std::string, std::vector<char>> first;
  int patterns = 0;  ///< beyond the first of each call

  template <typename T>
  void look(const std::string& call, const std::vector<T>& out) {
    std::vector<char> bytes(out.size() * sizeof(T));
    std::memcpy(bytes.data(), out.data(), bytes.size());
    const auto found = first.emplace(call, bytes);
    if (!found.second && found.first->second != bytes) ++patterns;
  }
};

void add(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) static_cast<double*>(inout)[i] += static_cast<double*>(in)[i];
}

template <typename T>
void fold_all(Results& results, const std::string& name, MPI_Comm comm, MPI_Datatype type, MPI_Op op, int count,
              int calls) {
  const Place me(comm);
  std::vector<T> in;
  for (int i = 0; i < count; ++i) in.push_back(static_cast<T>(operand(me.rank, i)));
  const std::string size = name + " " + std::to_string(count);
  for (int i = 0; i < calls; ++i) {
    std::vector<T> out(in.size());
    MPI_Allreduce(in.data(), out.data(), count, type, op, comm);
    results.look("allreduce " + size, out);
    MPI_Scan(in.data(), out.data(), count, type, op, comm);
    results.look("scan " + size, out);
    std::vector<T> kept(in.size());
    MPI_Reduce(in.data(), kept.data(), count, type, op, me.size - 1, comm);
    results.look("reduce " + size, kept);
    std::vector<T> place = in;
    MPI_Allreduce(MPI_IN_PLACE, place.data(), count, type, op, comm);
    results.look("in place " + size, place);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  part = "same bits";
  Results results;
  MPI_Op own;
  MPI_Op_create(add, 1, &own);
  const int times = argc > 1 ? std::atoi(argv[1]) : 1;
  const auto sums = [&](int count, int calls) {
    fold_all<double>(results, "sum", MPI_COMM_WORLD, MPI_DOUBLE, MPI_SUM, count, calls);
  };
  sums(1, 300 * times);
  sums(12, 100 * times);
  sums(200, 100 * times);
  sums(3000, 30 * times);
  sums(60'000, 4);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  fold_all<double>(results, "own operation", comm, MPI_DOUBLE, own, 3, 30 * times);
  fold_all<float>(results, "float", comm, MPI_FLOAT, MPI_SUM, 5, 30 * times);
  fold_all<std::complex<double>>(results, "complex", comm, MPI_C_DOUBLE_COMPLEX, MPI_SUM, 40, 30 * times);
  MPI_Comm_free(&comm);
  MPI_Op_free(&own);
  int all = 0;
  MPI_Allreduce(&results.patterns, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  equal("results that differ from the first of their call", all, 0);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("one bit pattern for each of %zu calls\n", results.first.size());
  MPI_Finalize();
  return 0;
}
