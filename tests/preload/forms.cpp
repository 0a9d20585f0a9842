// SPDX-License-Identifier: MIT
// forms: every collective in every form, a known number of times. Rank 0 prints how often it made each; forms.cmake asks the report.
#include <map>
#include <string>

#include "check.hpp"
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#ifdef FORMS_FORTRAN
extern "C" {
void mpi_allreduce_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*);
void mpi_ibcast_(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*);
}
#endif

namespace {

using namespace conformance;

constexpr int kRanks = 3, kMost = 4;  ///< elements of a block

std::map<std::string, int> made;

void count(const char* name, int code) {
  equal(name, code, MPI_SUCCESS);
  ++made[name];
}
void count(const char* name, int code, MPI_Request& request) {
  count(name, code);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
/// Of a persistent one that it was made counts where the MPI library makes it, and each start where Chasqui does (under MPICH): one of each.
void count_made(const char* name, int code, MPI_Request& request) {
  count(name, code);
#ifdef OPEN_MPI
  constexpr int kStarts = 2;
#else
  constexpr int kStarts = 1;
#endif
  for (int i = 0; i < kStarts; ++i) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
}

/// Of all calls: `n` elements in a block.
template <typename Count, typename Where>
struct Arguments {
  double in[kRanks * kMost] = {}, out[kRanks * kMost] = {};
  Count n, each[kRanks], uneven[kRanks], none[kRanks] = {};
  Where places[kRanks], byte_places[kRanks];
  MPI_Datatype types[kRanks];
  MPI_Comm comm;
  int rank = 0;

  Arguments(int elements, MPI_Comm comm_) : n(elements), comm(comm_) {
    for (int r = 0; r < kRanks; ++r) {
      each[r] = n;
      uneven[r] = n > 0 ? r : 0;
      places[r] = static_cast<Where>(r * kMost);
      byte_places[r] = places[r] * static_cast<Where>(sizeof(double));
      types[r] = MPI_DOUBLE;
    }
    MPI_Comm_rank(comm, &rank);
  }
  void* in_place_at_root() { return rank == 0 ? MPI_IN_PLACE : in; }
  /// Of no data it may be anything.
  void* in_at_root() { return rank == 0 ? in : nullptr; }
};

// clang-format off
#define OPEN(...) __VA_ARGS__
#define CALLS(X)                                                                                                      \
  X(Bcast, bcast, (a.out, a.n, MPI_DOUBLE, 0, a.comm))                                                                \
  X(Reduce, reduce, (a.in, a.out, a.n, MPI_DOUBLE, MPI_SUM, 0, a.comm))                                               \
  X(Reduce, reduce, (a.in_place_at_root(), a.out, a.n, MPI_DOUBLE, MPI_SUM, 0, a.comm))                               \
  X(Allreduce, allreduce, (a.in, a.out, a.n, MPI_DOUBLE, MPI_SUM, a.comm))                                            \
  X(Allreduce, allreduce, (MPI_IN_PLACE, a.out, a.n, MPI_INT, MPI_MAX, a.comm))                                       \
  X(Scan, scan, (a.in, a.out, a.n, MPI_DOUBLE, MPI_SUM, a.comm))                                                      \
  X(Scan, scan, (MPI_IN_PLACE, a.out, a.n, MPI_DOUBLE, MPI_SUM, a.comm))                                              \
  X(Exscan, exscan, (a.in, a.out, a.n, MPI_DOUBLE, MPI_SUM, a.comm))                                                  \
  X(Reduce_scatter, reduce_scatter, (a.in, a.out, a.uneven, MPI_DOUBLE, MPI_SUM, a.comm))                             \
  X(Reduce_scatter, reduce_scatter, (MPI_IN_PLACE, a.out, a.each, MPI_INT, MPI_SUM, a.comm))                          \
  X(Reduce_scatter, reduce_scatter, (a.in, a.out, a.none, MPI_INT, MPI_SUM, a.comm))                                  \
  X(Reduce_scatter_block, reduce_scatter_block, (a.in, a.out, a.n, MPI_DOUBLE, MPI_SUM, a.comm))                      \
  X(Gather, gather, (a.in, a.n, MPI_DOUBLE, a.out, a.n, MPI_DOUBLE, 0, a.comm))                                       \
  X(Scatter, scatter, (a.in, a.n, MPI_DOUBLE, a.out, a.n, MPI_DOUBLE, 0, a.comm))                                     \
  X(Allgather, allgather, (a.in, a.n, MPI_DOUBLE, a.out, a.n, MPI_DOUBLE, a.comm))                                    \
  X(Allgather, allgather, (MPI_IN_PLACE, 0, MPI_DOUBLE, a.out, a.n, MPI_DOUBLE, a.comm))                              \
  X(Allgatherv, allgatherv, (a.in, a.n, MPI_CHAR, a.out, a.each, a.places, MPI_CHAR, a.comm))                         \
  X(Allgatherv, allgatherv, (a.in, a.uneven[a.rank], MPI_DOUBLE, a.out, a.uneven, a.places, MPI_DOUBLE, a.comm))      \
  X(Allgatherv, allgatherv, (a.in_at_root(), 0, MPI_CHAR, a.out, a.none, a.places, MPI_CHAR, a.comm))                 \
  X(Gatherv, gatherv, (a.in, a.uneven[a.rank], MPI_DOUBLE, a.out, a.uneven, a.places, MPI_DOUBLE, 0, a.comm))         \
  X(Scatterv, scatterv, (a.in, a.uneven, a.places, MPI_DOUBLE, a.out, a.uneven[a.rank], MPI_DOUBLE, 0, a.comm))       \
  X(Alltoall, alltoall, (a.in, a.n, MPI_DOUBLE, a.out, a.n, MPI_DOUBLE, a.comm))                                      \
  X(Alltoallv, alltoallv, (a.in, a.each, a.places, MPI_DOUBLE, a.out, a.each, a.places, MPI_DOUBLE, a.comm))          \
  X(Alltoallw, alltoallw, (a.in, a.each, a.byte_places, a.types, a.out, a.each, a.byte_places, a.types, a.comm))
// clang-format on
#if defined(OPEN_MPI) && MPI_VERSION < 4
#define MAKER(P, Name) P##X_##Name##_init
#else
#define MAKER(P, Name) P##_##Name##_init
#endif

using Small = Arguments<int, int>;

void make_blocking(Small a) {
#define BLOCKING(Name, name, arguments) count(#Name, MPI_##Name arguments), count(#Name, PMPI_##Name arguments);
  CALLS(BLOCKING)
  count("Barrier", MPI_Barrier(a.comm));
  count("Barrier", PMPI_Barrier(a.comm));
}

void make_others(Small a) {
  MPI_Request request = MPI_REQUEST_NULL;
#define OTHERS(Name, name, arguments)                                                            \
  count("I" #name, MPI_I##name(OPEN arguments, &request), request);                              \
  count("I" #name, PMPI_I##name(OPEN arguments, &request), request);                             \
  count_made(#Name "_init", MAKER(MPI, Name)(OPEN arguments, MPI_INFO_NULL, &request), request); \
  count_made(#Name "_init", MAKER(PMPI, Name)(OPEN arguments, MPI_INFO_NULL, &request), request);
  CALLS(OTHERS)
  OTHERS(Barrier, barrier, (a.comm))
}

#if defined(MPICH) && MPI_VERSION >= 4
void make_large(Arguments<MPI_Count, MPI_Aint> a) {
  MPI_Request request = MPI_REQUEST_NULL;
#define LARGE(Name, name, arguments)                                                                \
  count(#Name, MPI_##Name##_c arguments);                                                           \
  count(#Name, PMPI_##Name##_c arguments);                                                          \
  count("I" #name, MPI_I##name##_c(OPEN arguments, &request), request);                             \
  count("I" #name, PMPI_I##name##_c(OPEN arguments, &request), request);                            \
  count_made(#Name "_init", MPI_##Name##_init_c(OPEN arguments, MPI_INFO_NULL, &request), request); \
  count_made(#Name "_init", PMPI_##Name##_init_c(OPEN arguments, MPI_INFO_NULL, &request), request);
  CALLS(LARGE)
}
#endif

void make_fortran([[maybe_unused]] MPI_Comm comm) {
#ifdef FORMS_FORTRAN
  MPI_Fint one = 1, sum = 0, root = 0, code = 0, request = 0, on = MPI_Comm_c2f(comm), add = MPI_Op_c2f(MPI_SUM);
  MPI_Fint type = MPI_Type_c2f(MPI_INT);
  mpi_allreduce_(&one, &sum, &one, &type, &add, &on, &code);
  count("Allreduce", code);
  mpi_ibcast_(&sum, &one, &type, &root, &on, &request, &code);
  MPI_Request in_c = MPI_Request_f2c(request);
  count("Ibcast", code, in_c);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Place me(MPI_COMM_WORLD);
  equal("ranks", me.size, kRanks);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < 12; ++i) {
    for (const int n : {1, kMost, 0}) make_blocking({n, comm});
  }
  for (const int n : {1, 0}) {
    make_others({n, comm});
#if defined(MPICH) && MPI_VERSION >= 4
    make_large({n, comm});
#endif
  }
  for (int i = 0; i < 3; ++i) make_fortran(comm);
  MPI_Comm_free(&comm);
  if (me.rank == 0) {
    for (const auto& [name, times] : made) std::printf("%s=%d;", name.c_str(), times);
  }
  MPI_Finalize();
}
