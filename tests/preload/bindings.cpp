// SPDX-License-Identifier: MIT
// bindings: ranks reach the same collective by different bindings and names, from MPI_Init on. MPI allows it.
#include <numeric>

#include "check.hpp"

extern "C" {
void mpi_init_(MPI_Fint* code);
void pmpi_init_(MPI_Fint* code);
void mpi_allreduce_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*);
void pmpi_allreduce_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*);
void mpi_bcast_(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*);
void pmpi_bcast_(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*);
void mpi_barrier_(MPI_Fint*, MPI_Fint*);
void pmpi_barrier_(MPI_Fint*, MPI_Fint*);
void mpi_comm_free_(MPI_Fint*, MPI_Fint*);
void mpi_finalize_(MPI_Fint*);
}

namespace {

using namespace conformance;

/// One after another, with a result for each to check.
struct Round {
  int mine, sum = 0, value, least = -1;
  double total = 0;
  std::vector<int> all, exchanged, blocks;
};

/// With room in front of each block, where the form has displacements.
template <typename Number>
struct Blocks {
  std::vector<Number> ones, firsts;
  explicit Blocks(int ranks, int apart) : ones(static_cast<std::size_t>(ranks), 1), firsts(ones.size()) {
    for (std::size_t r = 0; r < firsts.size(); ++r) firsts[r] = static_cast<Number>(r) * apart;
  }
};

// clang-format off
#define FIRST_THREE(P, form)                                                                                                    \
  [](Round& x, MPI_Comm comm) {                                                                                                 \
    P##MPI_Allreduce##form(&x.mine, &x.sum, 1, MPI_INT, MPI_SUM, comm);                                                         \
    P##MPI_Bcast##form(&x.value, 1, MPI_INT, 0, comm);                                                                          \
    P##MPI_Barrier(comm);                                                                                                       \
  }
#define BY_NAME(P, form, Count, Where)                                                                                          \
  [](Round& x, const Place& me, MPI_Comm comm) {                                                                        \
    const Blocks<Count> counts(me.size, 1);                                                                                     \
    const Blocks<Where> places(me.size, 1);                                                                                     \
    const double half = 0.5;                                                                                                    \
    std::vector<int> given(static_cast<std::size_t>(me.size), x.mine), zeros(given.size());                                     \
    P##MPI_Allgatherv##form(&x.mine, 1, MPI_INT, x.all.data(), counts.ones.data(), places.firsts.data(), MPI_INT, comm);        \
    P##MPI_Alltoallv##form(given.data(), counts.ones.data(), places.firsts.data(), MPI_INT, x.exchanged.data(),                 \
                           counts.ones.data(), places.firsts.data(), MPI_INT, comm);                                            \
    P##MPI_Gatherv##form(&x.mine, 1, MPI_INT, x.blocks.data(), counts.ones.data(), places.firsts.data(), MPI_INT, 0, comm);     \
    P##MPI_Scatterv##form(x.blocks.data(), counts.ones.data(), places.firsts.data(), MPI_INT, &zeros[0], 1, MPI_INT, 0, comm);  \
    P##MPI_Reduce_scatter##form(given.data(), &x.least, counts.ones.data(), MPI_INT, MPI_MIN, comm);                            \
    P##MPI_Allreduce##form(&half, &x.total, 1, MPI_DOUBLE, MPI_SUM, comm);                                                      \
    equal("scattered", zeros[0], x.mine);                                                                                       \
  }
#define BY_FORTRAN(p)                                                                                                           \
  [](Round& x, MPI_Comm comm) {                                                                                                 \
    MPI_Fint handle = MPI_Comm_c2f(comm), type = MPI_Type_c2f(MPI_INT), op = MPI_Op_c2f(MPI_SUM), one = 1, root = 0, code = 0;  \
    p##mpi_allreduce_(&x.mine, &x.sum, &one, &type, &op, &handle, &code);                                                       \
    p##mpi_bcast_(&x.value, &one, &type, &root, &handle, &code);                                                                \
    p##mpi_barrier_(&handle, &code);                                                                                            \
    equal("code", code, MPI_SUCCESS);                                                                                           \
  }
// clang-format on
struct Way {
  void (*three)(Round&, MPI_Comm);
  void (*others)(Round&, const Place&, MPI_Comm);
};
const Way kWays[] = {
    {FIRST_THREE(, ), BY_NAME(, , int, int)},
    {FIRST_THREE(P, ), BY_NAME(P, , int, int)},
    {BY_FORTRAN(), BY_NAME(, , int, int)},
    {BY_FORTRAN(p), BY_NAME(P, , int, int)},
#if defined(MPICH) && MPI_VERSION >= 4
    {FIRST_THREE(, _c), BY_NAME(, _c, MPI_Count, MPI_Aint)},
    {FIRST_THREE(P, _c), BY_NAME(P, _c, MPI_Count, MPI_Aint)},
#endif
};

}  // namespace

int main(int argc, char** argv) {
  part = "bindings";
  // The rank is known before MPI is: as the launchers say it.
  const char* words[] = {std::getenv("OMPI_COMM_WORLD_RANK"), std::getenv("PMI_RANK")};
  const int first = std::atoi(words[0] != nullptr ? words[0] : words[1] != nullptr ? words[1] : "0");
  MPI_Fint code = 0;
  switch (first % 4) {
    case 0: mpi_init_(&code); break;
    case 1: MPI_Init(&argc, &argv); break;
    case 2: PMPI_Init(&argc, &argv); break;
    default: pmpi_init_(&code);
  }
  const Place me(MPI_COMM_WORLD);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const auto ranks = static_cast<std::size_t>(me.size);
  for (int i = 0; i < 60; ++i) {
    Round x{me.rank + i,
            0,
            me.rank == 0 ? i : -1,
            -1,
            0,
            std::vector<int>(ranks),
            std::vector<int>(ranks),
            std::vector<int>(ranks)};
    const Way& way = kWays[static_cast<std::size_t>(me.rank + i / 2) % std::size(kWays)];
    way.three(x, comm);
    way.others(x, me, comm);
    std::vector<int> expected(ranks);
    std::iota(expected.begin(), expected.end(), i);
    equal("sum", x.sum, me.size * (me.size - 1) / 2 + i * me.size);
    equal("value", x.value, i);
    equal("all", x.all == expected, true);
    equal("exchanged", x.exchanged == expected, true);
    equal("least", x.least, i);
    equal("total", x.total == 0.5 * me.size, true);
  }
  MPI_Fint handle = MPI_Comm_c2f(comm);
  if (me.rank % 2 == 0) mpi_comm_free_(&handle, &code);
  else PMPI_Comm_free(&comm);
  if (me.rank % 2 == 0) equal("handle", handle, MPI_Comm_c2f(MPI_COMM_NULL));
  if (me.rank == 0) std::printf("bindings on %d ranks: right\n", me.size);
  if (me.rank % 2 == 0) mpi_finalize_(&code);
  else PMPI_Finalize();
  return 0;
}
