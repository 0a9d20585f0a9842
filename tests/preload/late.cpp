// SPDX-License-Identifier: MIT
// late: MPI is used, and ended, by the destructor of a static object, when the objects of the main thread are gone.
#include "check.hpp"

namespace {

using namespace conformance;

struct Session {
  bool open = false;
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    if (!open) return;
    part = "after main()";
    const Place me(MPI_COMM_WORLD);
    const int rank = me.rank, ranks = me.size;
    MPI_Datatype gaps;
    MPI_Type_vector(3, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    for (int i = 0; i < 20; ++i) {
      int one = 1, sum = 0, data[6] = {me.rank, 0, me.rank, 0, me.rank, 0};
      double half = 0.5, halves = 0;
      std::vector<long> ones(3000, 1), sums(3000);
      MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      equal("sum", sum, me.size);
      MPI_Bcast(data, 1, gaps, i % me.size, MPI_COMM_WORLD);
      equal("broadcast", data[4], i % me.size);
      MPI_Allreduce(&half, &halves, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      equal("halves", static_cast<int>(2 * halves), me.size);
      MPI_Reduce(ones.data(), sums.data(), 3000, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
      if (me.rank == 0) equal("sums", sums.back(), me.size);
      MPI_Request request;
      MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      equal("maximum", sum, 1);
    }
    MPI_Type_free(&gaps);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 5; ++i) MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    if (rank == 0) std::printf("late calls on %d ranks: right\n", ranks);
    std::fflush(stdout);
    MPI_Finalize();
  }
};
Session session;

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  session.open = true;
  int one = 1, sum = 0;
  for (int i = 0; i < 20; ++i) {
    MPI_Request request;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return 0;
}
