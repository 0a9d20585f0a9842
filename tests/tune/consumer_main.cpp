// SPDX-License-Identifier: MIT
// Calls collectives of an MPI library that has read a tuning file, and prints how the library did each:
//   consumer_openmpi bcast:64 bcast:72 …      rank 0 prints  "bcast:64 NAME A B": the function of coll/base that was called first,
//                                             and its arguments after the module (segment size, number of chains)
//   consumer_mpich bcast:64 …                 every rank prints "bcast:64 RANK BYTES BYTES …": the messages that it sent
// Both by standing between the library and what it calls: this program's symbols come first.
#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

bool listens = false;
std::string heard;

void* behind(const char* name) {
  void* symbol = dlsym(RTLD_NEXT, name);
  if (symbol == nullptr) std::abort();
  return symbol;
}

}  // namespace

extern "C" {

#ifdef OPEN_MPI
// Whatever the arguments are, whole numbers and pointers: they are handed on as they came.
using Arguments = int (*)(long, long, long, long, long, long, long, long, long, long, long, long);
#define CHASQUI_BETWEEN(name)                                                                                         \
  int ompi_coll_base_##name(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k,   \
                            long l);                                                                                  \
  int ompi_coll_base_##name(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k,   \
                            long l) {                                                                                 \
    if (listens && heard.empty()) {                                                                                   \
      const long values[] = {a, b, c, d, e, f, g, h, i, j, k, l};                                                     \
      const bool bcast = std::strncmp(#name, "bcast", 5) == 0, reduce = std::strncmp(#name, "reduce_intra", 12) == 0; \
      heard = #name;                                                                                                  \
      if (bcast || reduce) heard += " " + std::to_string(static_cast<int>(values[bcast ? 6 : 8]));                    \
      if (std::strcmp(#name, "bcast_intra_chain") == 0 || std::strcmp(#name, "reduce_intra_chain") == 0)              \
        heard += " " + std::to_string(static_cast<int>(values[bcast ? 7 : 9]));                                       \
    }                                                                                                                 \
    static const auto real = reinterpret_cast<Arguments>(behind("ompi_coll_base_" #name));                            \
    return real(a, b, c, d, e, f, g, h, i, j, k, l);                                                                  \
  }
CHASQUI_BETWEEN(allgather_intra_basic_linear)
CHASQUI_BETWEEN(allgather_intra_bruck)
CHASQUI_BETWEEN(allgather_intra_neighborexchange)
CHASQUI_BETWEEN(allgather_intra_recursivedoubling)
CHASQUI_BETWEEN(allgather_intra_ring)
CHASQUI_BETWEEN(allreduce_intra_basic_linear)
CHASQUI_BETWEEN(allreduce_intra_nonoverlapping)
CHASQUI_BETWEEN(allreduce_intra_recursivedoubling)
CHASQUI_BETWEEN(allreduce_intra_redscat_allgather)
CHASQUI_BETWEEN(allreduce_intra_ring)
CHASQUI_BETWEEN(allreduce_intra_ring_segmented)
CHASQUI_BETWEEN(alltoall_intra_basic_linear)
CHASQUI_BETWEEN(alltoall_intra_bruck)
CHASQUI_BETWEEN(alltoall_intra_linear_sync)
CHASQUI_BETWEEN(alltoall_intra_pairwise)
CHASQUI_BETWEEN(barrier_intra_basic_linear)
CHASQUI_BETWEEN(barrier_intra_bruck)
CHASQUI_BETWEEN(barrier_intra_doublering)
CHASQUI_BETWEEN(barrier_intra_recursivedoubling)
CHASQUI_BETWEEN(barrier_intra_tree)
CHASQUI_BETWEEN(bcast_intra_basic_linear)
CHASQUI_BETWEEN(bcast_intra_binomial)
CHASQUI_BETWEEN(bcast_intra_bintree)
CHASQUI_BETWEEN(bcast_intra_chain)
CHASQUI_BETWEEN(bcast_intra_knomial)
CHASQUI_BETWEEN(bcast_intra_pipeline)
CHASQUI_BETWEEN(bcast_intra_scatter_allgather)
CHASQUI_BETWEEN(bcast_intra_scatter_allgather_ring)
CHASQUI_BETWEEN(bcast_intra_split_bintree)
CHASQUI_BETWEEN(exscan_intra_linear)
CHASQUI_BETWEEN(exscan_intra_recursivedoubling)
CHASQUI_BETWEEN(gather_intra_basic_linear)
CHASQUI_BETWEEN(gather_intra_binomial)
CHASQUI_BETWEEN(gather_intra_linear_sync)
CHASQUI_BETWEEN(reduce_intra_basic_linear)
CHASQUI_BETWEEN(reduce_intra_binary)
CHASQUI_BETWEEN(reduce_intra_binomial)
CHASQUI_BETWEEN(reduce_intra_chain)
CHASQUI_BETWEEN(reduce_intra_in_order_binary)
CHASQUI_BETWEEN(reduce_intra_pipeline)
CHASQUI_BETWEEN(reduce_intra_redscat_gather)
CHASQUI_BETWEEN(reduce_scatter_block_basic_linear)
CHASQUI_BETWEEN(reduce_scatter_block_intra_butterfly)
CHASQUI_BETWEEN(reduce_scatter_block_intra_recursivedoubling)
CHASQUI_BETWEEN(reduce_scatter_block_intra_recursivehalving)
CHASQUI_BETWEEN(scan_intra_linear)
CHASQUI_BETWEEN(scan_intra_recursivedoubling)
CHASQUI_BETWEEN(scatter_intra_basic_linear)
CHASQUI_BETWEEN(scatter_intra_binomial)
CHASQUI_BETWEEN(scatter_intra_linear_nb)
#else
void* ucp_tag_send_nbx(void* endpoint, const void* buffer, std::size_t count, unsigned long tag, const void* how);
void* ucp_tag_send_nbx(void* endpoint, const void* buffer, std::size_t count, unsigned long tag, const void* how) {
  if (listens) heard += " " + std::to_string(count);
  static const auto real = reinterpret_cast<decltype(&ucp_tag_send_nbx)>(behind("ucp_tag_send_nbx"));
  return real(endpoint, buffer, count, tag, how);
}
#endif
}

namespace {

void call(const std::string& what, int bytes, int ranks, std::vector<double>& in, std::vector<double>& out) {
  const int count = bytes / 8;
  in.assign(static_cast<std::size_t>(count * ranks + 1), 1);
  out.assign(in.size(), 0);
  MPI_Comm world = MPI_COMM_WORLD;
  double *a = in.data(), *b = out.data();
  if (what == "bcast") MPI_Bcast(b, count, MPI_DOUBLE, 0, world);
  else if (what == "reduce") MPI_Reduce(a, b, count, MPI_DOUBLE, MPI_SUM, 0, world);
  else if (what == "allreduce") MPI_Allreduce(a, b, count, MPI_DOUBLE, MPI_SUM, world);
  else if (what == "allgather") MPI_Allgather(a, count, MPI_DOUBLE, b, count, MPI_DOUBLE, world);
  else if (what == "alltoall") MPI_Alltoall(a, count, MPI_DOUBLE, b, count, MPI_DOUBLE, world);
  else if (what == "gather") MPI_Gather(a, count, MPI_DOUBLE, b, count, MPI_DOUBLE, 0, world);
  else if (what == "scatter") MPI_Scatter(a, count, MPI_DOUBLE, b, count, MPI_DOUBLE, 0, world);
  else if (what == "reduce_scatter_block") MPI_Reduce_scatter_block(a, b, count, MPI_DOUBLE, MPI_SUM, world);
  else if (what == "scan") MPI_Scan(a, b, count, MPI_DOUBLE, MPI_SUM, world);
  else if (what == "exscan") MPI_Exscan(a, b, count, MPI_DOUBLE, MPI_SUM, world);
  else MPI_Barrier(world);
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<double> in, out;
  std::string text;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const std::size_t colon = word.find(':');
    MPI_Barrier(MPI_COMM_WORLD);
    heard.clear();
    listens = true;
    call(word.substr(0, colon), std::atoi(word.c_str() + colon + 1), ranks, in, out);
    listens = false;
    text += word + " " + std::to_string(rank) + (heard.empty() || heard[0] == ' ' ? "" : " ") + heard + "\n";
  }
  // Rank 0 speaks for all: lines of several ranks would mix.
  for (int from = 1; from < ranks; ++from) {
    if (rank == from) MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    if (rank != 0) continue;
    MPI_Status status;
    int length = 0;
    MPI_Probe(from, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_CHAR, &length);
    std::string other(static_cast<std::size_t>(length), ' ');
    MPI_Recv(other.data(), length, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    text += other;
  }
  if (rank == 0) std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
  MPI_Finalize();
  return 0;
}
