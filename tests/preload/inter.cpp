// SPDX-License-Identifier: MIT
// Inter-communicators: every kind of collective, with MPI_ROOT and MPI_PROC_NULL on the root's side.
#include "check.hpp"

namespace conformance {
namespace {

/// Side 0 has the root, its rank 0; the data goes to or comes from side 1.
void rooted(MPI_Comm between, const Place& me, int side, int others, int round) {
  const bool at_root = side == 0 && me.rank == 0;
  const int root = side == 1 ? 0 : at_root ? MPI_ROOT : MPI_PROC_NULL;
  int value = at_root ? 31 + round : -1;
  MPI_Bcast(&value, 1, MPI_INT, root, between);
  if (side == 1) equal("bcast", value, 31 + round);
  int one = me.rank + 1, sum = -1;
  MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, root, between);
  if (at_root) equal("reduce", sum, others * (others + 1) / 2);
  std::vector<int> all(index(2 * others), -1);
  const int mine[] = {me.rank, me.rank + 100};
  MPI_Gather(mine, 2, MPI_INT, all.data(), 2, MPI_INT, root, between);
  if (at_root) equal("gather", all.back(), others + 99);
  int got[] = {-1, -1};
  for (int i = 0; i < 2 * others; ++i) all[index(i)] = 7 * i;
  MPI_Scatter(all.data(), 2, MPI_INT, got, 2, MPI_INT, root, between);
  if (side == 1) equal("scatter", got[1], 7 * (2 * me.rank + 1));
  std::vector<int> counts(index(others), 1), places(index(others));
  for (int r = 0; r < others; ++r) places[index(r)] = others - 1 - r;
  MPI_Gatherv(mine, 1, MPI_INT, all.data(), counts.data(), places.data(), MPI_INT, root, between);
  if (at_root) equal("gatherv", all[0], others - 1);
  MPI_Scatterv(all.data(), counts.data(), places.data(), MPI_INT, got, 1, MPI_INT, root, between);
  if (side == 1) equal("scatterv", got[0], me.rank);
}

}  // namespace

void inter_communicators() {
  part = "inter-communicators";
  const Place world(MPI_COMM_WORLD);
  if (world.size < 2) return;
  const int side = world.rank % 2;
  MPI_Comm half, between;
  MPI_Comm_split(MPI_COMM_WORLD, side, world.rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 12, &between);
  const Place me(half);
  int others = 0;
  MPI_Comm_remote_size(between, &others);
  for (int i = 0; i < 3; ++i) {
    rooted(between, me, side, others, i);
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, between);
    equal("sum of the other side", sum, others);
    std::vector<int> all(index(others), -1);
    MPI_Allgather(&me.rank, 1, MPI_INT, all.data(), 1, MPI_INT, between);
    equal("allgather", all.back(), others - 1);
    MPI_Barrier(between);
  }
  MPI_Comm merged;
  MPI_Intercomm_merge(between, side, &merged);
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, merged);
  equal("merged", sum, world.size);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

}  // namespace conformance
