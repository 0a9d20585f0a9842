// SPDX-License-Identifier: MIT
// Persistent collectives by the names of Open MPI 4.1, which has them as an extension; MPI 4 has them under its own.
#pragma once

#include <mpi.h>

#if defined(OPEN_MPI) && MPI_VERSION < 4
#include <mpi-ext.h>
#else
#define MPIX_Barrier_init MPI_Barrier_init
#define MPIX_Bcast_init MPI_Bcast_init
#define MPIX_Reduce_init MPI_Reduce_init
#define MPIX_Allreduce_init MPI_Allreduce_init
#define MPIX_Scan_init MPI_Scan_init
#define MPIX_Exscan_init MPI_Exscan_init
#define MPIX_Reduce_scatter_init MPI_Reduce_scatter_init
#define MPIX_Reduce_scatter_block_init MPI_Reduce_scatter_block_init
#define MPIX_Gather_init MPI_Gather_init
#define MPIX_Scatter_init MPI_Scatter_init
#define MPIX_Allgather_init MPI_Allgather_init
#define MPIX_Allgatherv_init MPI_Allgatherv_init
#define MPIX_Gatherv_init MPI_Gatherv_init
#define MPIX_Scatterv_init MPI_Scatterv_init
#define MPIX_Alltoall_init MPI_Alltoall_init
#define MPIX_Alltoallv_init MPI_Alltoallv_init
#define MPIX_Alltoallw_init MPI_Alltoallw_init
#endif
