// SPDX-License-Identifier: MIT
// The collectives of MPI that are interposed, for C and C++: X(name, name in small letters, parameters, arguments). Each has three
// forms: blocking, non-blocking (MPI_Ibcast) and persistent (MPI_Bcast_init), which differ in what follows these parameters. Count and
// Place: the types of numbers of elements and of displacements.
#pragma once

#define CHASQUI_WITH_COUNTS_OF(X, Count, Place)                                                                        \
  X(Bcast, bcast, (void* b, Count n, MPI_Datatype t, int root, MPI_Comm comm), (b, n, t, root, comm))                  \
  X(Reduce, reduce, (const void* s, void* r, Count n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm comm),              \
    (s, r, n, t, o, root, comm))                                                                                       \
  X(Allreduce, allreduce, (const void* s, void* r, Count n, MPI_Datatype t, MPI_Op o, MPI_Comm comm),                  \
    (s, r, n, t, o, comm))                                                                                             \
  X(Scan, scan, (const void* s, void* r, Count n, MPI_Datatype t, MPI_Op o, MPI_Comm comm), (s, r, n, t, o, comm))     \
  X(Exscan, exscan, (const void* s, void* r, Count n, MPI_Datatype t, MPI_Op o, MPI_Comm comm), (s, r, n, t, o, comm)) \
  X(Reduce_scatter, reduce_scatter, (const void* s, void* r, const Count* c, MPI_Datatype t, MPI_Op o, MPI_Comm comm), \
    (s, r, c, t, o, comm))                                                                                             \
  X(Reduce_scatter_block, reduce_scatter_block,                                                                        \
    (const void* s, void* r, Count n, MPI_Datatype t, MPI_Op o, MPI_Comm comm), (s, r, n, t, o, comm))                 \
  X(Gather, gather,                                                                                                    \
    (const void* s, Count n, MPI_Datatype st, void* r, Count m, MPI_Datatype rt, int root, MPI_Comm comm),             \
    (s, n, st, r, m, rt, root, comm))                                                                                  \
  X(Scatter, scatter,                                                                                                  \
    (const void* s, Count n, MPI_Datatype st, void* r, Count m, MPI_Datatype rt, int root, MPI_Comm comm),             \
    (s, n, st, r, m, rt, root, comm))                                                                                  \
  X(Allgather, allgather, (const void* s, Count n, MPI_Datatype st, void* r, Count m, MPI_Datatype rt, MPI_Comm comm), \
    (s, n, st, r, m, rt, comm))                                                                                        \
  X(Allgatherv, allgatherv,                                                                                            \
    (const void* s, Count n, MPI_Datatype st, void* r, const Count* c, const Place* d, MPI_Datatype rt,                \
     MPI_Comm comm),                                                                                                   \
    (s, n, st, r, c, d, rt, comm))                                                                                     \
  X(Gatherv, gatherv,                                                                                                  \
    (const void* s, Count n, MPI_Datatype st, void* r, const Count* c, const Place* d, MPI_Datatype rt, int root,      \
     MPI_Comm comm),                                                                                                   \
    (s, n, st, r, c, d, rt, root, comm))                                                                               \
  X(Scatterv, scatterv,                                                                                                \
    (const void* s, const Count* c, const Place* d, MPI_Datatype st, void* r, Count n, MPI_Datatype rt, int root,      \
     MPI_Comm comm),                                                                                                   \
    (s, c, d, st, r, n, rt, root, comm))                                                                               \
  X(Alltoall, alltoall, (const void* s, Count n, MPI_Datatype st, void* r, Count m, MPI_Datatype rt, MPI_Comm comm),   \
    (s, n, st, r, m, rt, comm))                                                                                        \
  X(Alltoallv, alltoallv,                                                                                              \
    (const void* s, const Count* n, const Place* sd, MPI_Datatype st, void* r, const Count* m, const Place* rd,        \
     MPI_Datatype rt, MPI_Comm comm),                                                                                  \
    (s, n, sd, st, r, m, rd, rt, comm))                                                                                \
  X(Alltoallw, alltoallw,                                                                                              \
    (const void* s, const Count* n, const Place* sd, MPI_Datatype const* st, void* r, const Count* m, const Place* rd, \
     MPI_Datatype const* rt, MPI_Comm comm),                                                                           \
    (s, n, sd, st, r, m, rd, rt, comm))
#define CHASQUI_WITH_COUNTS(X) CHASQUI_WITH_COUNTS_OF(X, int, int)
#define CHASQUI_COLLECTIVES(X) X(Barrier, barrier, (MPI_Comm comm), (comm)) CHASQUI_WITH_COUNTS(X)
/// The neighbourhood collectives. They are never served.
#define CHASQUI_NEIGHBOURHOOD_COLLECTIVES(X)                                                                           \
  X(Neighbor_allgather, neighbor_allgather,                                                                            \
    (const void* s, int n, MPI_Datatype st, void* r, int m, MPI_Datatype rt, MPI_Comm comm),                           \
    (s, n, st, r, m, rt, comm))                                                                                        \
  X(Neighbor_allgatherv, neighbor_allgatherv,                                                                          \
    (const void* s, int n, MPI_Datatype st, void* r, const int* c, const int* d, MPI_Datatype rt, MPI_Comm comm),      \
    (s, n, st, r, c, d, rt, comm))                                                                                     \
  X(Neighbor_alltoall, neighbor_alltoall,                                                                              \
    (const void* s, int n, MPI_Datatype st, void* r, int m, MPI_Datatype rt, MPI_Comm comm),                           \
    (s, n, st, r, m, rt, comm))                                                                                        \
  X(Neighbor_alltoallv, neighbor_alltoallv,                                                                            \
    (const void* s, const int* n, const int* sd, MPI_Datatype st, void* r, const int* m, const int* rd,                \
     MPI_Datatype rt, MPI_Comm comm),                                                                                  \
    (s, n, sd, st, r, m, rd, rt, comm))                                                                                \
  X(Neighbor_alltoallw, neighbor_alltoallw,                                                                            \
    (const void* s, const int* n, const MPI_Aint* sd, MPI_Datatype const* st, void* r, const int* m,                   \
     const MPI_Aint* rd, MPI_Datatype const* rt, MPI_Comm comm),                                                       \
    (s, n, sd, st, r, m, rd, rt, comm))
/// What stands in parentheses.
#define CHASQUI_OPEN(...) __VA_ARGS__
