// SPDX-License-Identifier: MIT
// Calls that always go to the MPI library, counted with the reason: the non-blocking collectives. MPI promises that they
// go on whatever the program does next, a receive or a file operation included; only the MPI library can keep that.
#include <mpi.h>

#include "preload/serve.hpp"

using chasqui::preload::Collective;
using chasqui::preload::pass_on;

#define CHASQUI_PASS(name, parameters, arguments) \
  int MPI_##name parameters {                     \
    pass_on(Collective::name);                    \
    return PMPI_##name arguments;                 \
  }

extern "C" {

CHASQUI_PASS(Ibarrier, (MPI_Comm comm, MPI_Request* q), (comm, q))
CHASQUI_PASS(Ibcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm comm, MPI_Request* q),
             (b, n, t, root, comm, q))
CHASQUI_PASS(Ireduce,
             (const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm comm, MPI_Request* q),
             (s, r, n, t, o, root, comm, q))
CHASQUI_PASS(Iallreduce, (const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm comm, MPI_Request* q),
             (s, r, n, t, o, comm, q))
CHASQUI_PASS(Iscan, (const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm comm, MPI_Request* q),
             (s, r, n, t, o, comm, q))
CHASQUI_PASS(Iexscan, (const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm comm, MPI_Request* q),
             (s, r, n, t, o, comm, q))
CHASQUI_PASS(Ireduce_scatter,
             (const void* s, void* r, const int* c, MPI_Datatype t, MPI_Op o, MPI_Comm comm, MPI_Request* q),
             (s, r, c, t, o, comm, q))
CHASQUI_PASS(Ireduce_scatter_block,
             (const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm comm, MPI_Request* q),
             (s, r, n, t, o, comm, q))
CHASQUI_PASS(Igather,
             (const void* s, int n, MPI_Datatype st, void* r, int m, MPI_Datatype rt, int root, MPI_Comm comm,
              MPI_Request* q),
             (s, n, st, r, m, rt, root, comm, q))
CHASQUI_PASS(Igatherv,
             (const void* s, int n, MPI_Datatype st, void* r, const int* c, const int* d, MPI_Datatype rt, int root,
              MPI_Comm comm, MPI_Request* q),
             (s, n, st, r, c, d, rt, root, comm, q))
CHASQUI_PASS(Iscatter,
             (const void* s, int n, MPI_Datatype st, void* r, int m, MPI_Datatype rt, int root, MPI_Comm comm,
              MPI_Request* q),
             (s, n, st, r, m, rt, root, comm, q))
CHASQUI_PASS(Iscatterv,
             (const void* s, const int* c, const int* d, MPI_Datatype st, void* r, int n, MPI_Datatype rt, int root,
              MPI_Comm comm, MPI_Request* q),
             (s, c, d, st, r, n, rt, root, comm, q))
CHASQUI_PASS(Iallgather,
             (const void* s, int n, MPI_Datatype st, void* r, int m, MPI_Datatype rt, MPI_Comm comm, MPI_Request* q),
             (s, n, st, r, m, rt, comm, q))
CHASQUI_PASS(Iallgatherv,
             (const void* s, int n, MPI_Datatype st, void* r, const int* c, const int* d, MPI_Datatype rt,
              MPI_Comm comm, MPI_Request* q),
             (s, n, st, r, c, d, rt, comm, q))

CHASQUI_PASS(Ialltoall,
             (const void* s, int n, MPI_Datatype st, void* r, int m, MPI_Datatype rt, MPI_Comm comm, MPI_Request* q),
             (s, n, st, r, m, rt, comm, q))
CHASQUI_PASS(Ialltoallv,
             (const void* s, const int* n, const int* sd, MPI_Datatype st, void* r, const int* m, const int* rd,
              MPI_Datatype rt, MPI_Comm comm, MPI_Request* q),
             (s, n, sd, st, r, m, rd, rt, comm, q))
CHASQUI_PASS(Ialltoallw,
             (const void* s, const int* n, const int* sd, const MPI_Datatype* st, void* r, const int* m, const int* rd,
              const MPI_Datatype* rt, MPI_Comm comm, MPI_Request* q),
             (s, n, sd, st, r, m, rd, rt, comm, q))

}  // extern "C"
