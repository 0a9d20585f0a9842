// SPDX-License-Identifier: MIT
// Preloaded after the library under test: once armed, the n-th call of MPI that the library makes fails in this process. Of
// the collectives by which ranks agree, the all-reduce of two numbers fails before anything is sent, the others when they are done.
#include <dlfcn.h>
#include <mpi.h>

#include <cstdlib>
#include <cstring>

namespace {

thread_local int countdown = 0;
int failures = 0;
const char* latest = "";

bool of_the_library(void* address) {
  Dl_info found{};
  return dladdr(address, &found) != 0 && std::strstr(found.dli_fname, "libchasqui-mpi-") != nullptr;
}

bool fails(const char* what, void* caller) {
  if (countdown == 0 || !of_the_library(caller) || --countdown != 0) return false;
  ++failures;
  latest = what;
  return true;
}

template <typename Function>
Function next(Function, const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

/// Is this the call of rank 1 whose number the variable says? For those that MPI_Init makes, before anything is armed.
bool fails_in_init(const char* variable, int& made) {
  const char* const n = std::getenv(variable);
  if (n == nullptr) return false;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 1 && ++made == std::atoi(n);
}

}  // namespace

#define CALLER __builtin_return_address(0)

extern "C" {

void failing_arm(int n) { countdown = n; }
int failing_failures() { return failures; }
const char* failing_latest() { return latest; }

int PMPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  static const auto real = next(&PMPI_Allreduce, "PMPI_Allreduce");
  static int agreements = 0;
  if (count == 2 && op == MPI_MIN && fails("MPI_Allreduce", CALLER)) return MPI_ERR_OTHER;
  if (count == 4 && op == MPI_MAX && fails_in_init("FAILING_AGREEMENT", agreements)) return MPI_ERR_OTHER;
  return real(send, receive, count, type, op, comm);
}
/// A launcher that keeps no names. FAILING_TAGS: an MPI that always looks at its arguments.
int PMPI_Publish_name(const char* name, MPI_Info info, const char* port) {
  static const auto real = next(&PMPI_Publish_name, "PMPI_Publish_name");
  return std::getenv("FAILING_NAMES") != nullptr ? MPI_ERR_SERVICE : real(name, info, port);
}
int PMPI_Allgather(const void* send, int sendcount, MPI_Datatype sendtype, void* receive, int count, MPI_Datatype type,
                   MPI_Comm comm) {
  static const auto real = next(&PMPI_Allgather, "PMPI_Allgather");
  const int code = real(send, sendcount, sendtype, receive, count, type, comm);
  return type == MPI_BYTE && fails("MPI_Allgather", CALLER) ? MPI_ERR_OTHER : code;
}
int PMPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  static const auto real = next(&PMPI_Bcast, "PMPI_Bcast");
  static int made = 0;
  const int code = real(data, count, type, root, comm);
  return count == 1 && type == MPI_DOUBLE && fails_in_init("FAILING_BCAST", made) ? MPI_ERR_OTHER : code;
}
int PMPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  static const auto real = next(&PMPI_Isend, "PMPI_Isend");
  if (tag < 0 && std::getenv("FAILING_TAGS") != nullptr) return MPI_ERR_TAG;
  return fails("MPI_Isend", CALLER) ? MPI_ERR_OTHER : real(data, count, type, to, tag, comm, request);
}
int PMPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  static const auto real = next(&PMPI_Irecv, "PMPI_Irecv");
  if (tag < 0 && std::getenv("FAILING_TAGS") != nullptr) return MPI_ERR_TAG;
  return fails("MPI_Irecv", CALLER) ? MPI_ERR_OTHER : real(data, count, type, from, tag, comm, request);
}
int PMPI_Iprobe(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  static const auto real = next(&PMPI_Iprobe, "PMPI_Iprobe");
  return fails("MPI_Iprobe", CALLER) ? MPI_ERR_OTHER : real(from, tag, comm, flag, status);
}
int PMPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  static const auto real = next(&PMPI_Request_get_status, "PMPI_Request_get_status");
  const int code = real(request, flag, status);
  return *flag != 0 && fails("MPI_Request_get_status", CALLER) ? MPI_ERR_OTHER : code;
}
/// What ranks tell of failures: every second time at first.
int PMPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  static const auto real = next(&PMPI_Recv, "PMPI_Recv");
  static int made = 0;
  if (of_the_library(CALLER) && ++made % 2 == 1) return MPI_ERR_OTHER;
  return real(data, count, type, from, tag, comm, status);
}
}
