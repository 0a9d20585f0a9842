// SPDX-License-Identifier: MIT
// Included before the sources of this room that the drop-in library is made of (compiler flag -include): what they call
// MPI_X is PMPI_X there, so that the library never meets its own interposed functions (test preload_…_through_pmpi).
#pragma once

#include <mpi.h>

#define MPI_Allgather PMPI_Allgather
#define MPI_Allreduce PMPI_Allreduce
#define MPI_Bcast PMPI_Bcast
#define MPI_Cancel PMPI_Cancel
#define MPI_Comm_free PMPI_Comm_free
#define MPI_Comm_get_attr PMPI_Comm_get_attr
#define MPI_Comm_rank PMPI_Comm_rank
#define MPI_Comm_size PMPI_Comm_size
#define MPI_Comm_split_type PMPI_Comm_split_type
#define MPI_Error_string PMPI_Error_string
#define MPI_Finalized PMPI_Finalized
#define MPI_Get_count PMPI_Get_count
#define MPI_Iprobe PMPI_Iprobe
#define MPI_Irecv PMPI_Irecv
#define MPI_Isend PMPI_Isend
#define MPI_Op_commutative PMPI_Op_commutative
#define MPI_Recv PMPI_Recv
#define MPI_Reduce_local PMPI_Reduce_local
#define MPI_Request_free PMPI_Request_free
#define MPI_Request_get_status PMPI_Request_get_status
#define MPI_Test PMPI_Test
#define MPI_Testsome PMPI_Testsome
#define MPI_Wait PMPI_Wait
#define MPI_Wtime PMPI_Wtime
