// SPDX-License-Identifier: MIT
// spares [ROUNDS]: communicators that are made, used and freed again and again, of the same ranks in several orders, one or several at a time;
// ranks free them early and late. Every result is compared with what it must be.
#include <unistd.h>

#include <random>

#include "check.hpp"

namespace {

using namespace conformance;

int number_of(int round, int call, int rank) { return (round * 131 + call * 17 + rank * 7) % 1009; }

/// Every kind of board method in small: what only the root has, what all have, a scan, blocks, data of a stage, and a barrier.
void use(MPI_Comm comm, int round, int calls) {
  const Place me(comm);
  std::vector<double> longer(3000);
  for (int call = 0; call < calls; ++call) {
    int sum = 0, before = 0, expected = 0;
    for (int r = 0; r < me.size; ++r) expected += number_of(round, call, r);
    for (int r = 0; r <= me.rank; ++r) before += number_of(round, call, r);
    const double mine = number_of(round, call, me.rank);
    double folded = 0, prefix = 0;
    MPI_Allreduce(&mine, &folded, 1, MPI_DOUBLE, MPI_SUM, comm);
    equal("all-reduce", static_cast<long long>(folded), expected);
    MPI_Scan(&mine, &prefix, 1, MPI_DOUBLE, MPI_SUM, comm);
    equal("scan", static_cast<long long>(prefix), before);
    const int root = call % me.size;
    sum = me.rank == root ? expected : -1;
    MPI_Bcast(&sum, 1, MPI_INT, root, comm);
    equal("broadcast", sum, expected);
    if (call % 5 != 0) continue;
    for (std::size_t i = 0; i < longer.size(); ++i)
      longer[i] = me.rank == root ? number_of(round, call, static_cast<int>(i)) : 0;
    MPI_Bcast(longer.data(), static_cast<int>(longer.size()), MPI_DOUBLE, root, comm);
    for (std::size_t i = 0; i < longer.size(); ++i)
      equal("long broadcast", static_cast<long long>(longer[i]), number_of(round, call, static_cast<int>(i)));
    std::vector<int> all(index(me.size));
    const int own = number_of(round, call, me.rank);
    MPI_Allgather(&own, 1, MPI_INT, all.data(), 1, MPI_INT, comm);
    for (int r = 0; r < me.size; ++r) equal("all-gather", all[index(r)], number_of(round, call, r));
    MPI_Barrier(comm);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 30;
  const Place me(MPI_COMM_WORLD);
  std::mt19937 own(static_cast<unsigned>(me.rank));  // how late this rank is
  std::mt19937 common(7);                            // what is made, alike on all ranks
  const auto lag = [&own] {
    if (own() % 4 == 0) usleep(own() % 2000);
  };
  std::vector<MPI_Comm> kept, late;  // late: odd ranks free these after the next one has been used
  for (int round = 0; round < rounds; ++round) {
    part = "round";
    MPI_Comm one = MPI_COMM_NULL;
    switch (common() % 3) {
      case 0: MPI_Comm_dup(MPI_COMM_WORLD, &one); break;
      case 1: MPI_Comm_split(MPI_COMM_WORLD, 0, -me.rank, &one); break;
      default: MPI_Comm_split(MPI_COMM_WORLD, me.rank % 2, me.rank, &one);
    }
    use(one, round, 25);
    for (MPI_Comm& each : late) MPI_Comm_free(&each);
    late.clear();
    kept.push_back(one);
    while (kept.size() > common() % 4) {
      const std::size_t which = common() % kept.size();
      use(kept[which], round, 3);
      lag();
      if (me.rank % 2 == 1) late.push_back(kept[which]);
      else MPI_Comm_free(&kept[which]);
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(which));
    }
    lag();
  }
  for (auto* const list : {&late, &kept}) {
    for (MPI_Comm& one : *list) MPI_Comm_free(&one);
  }
  if (me.rank == 0) std::printf("%d communicators one after the other: right\n", rounds);
  MPI_Finalize();
}
