// SPDX-License-Identifier: MIT
// again [--any]: datatypes and operations whose handles come again for others of another length, between calls like those before. On odd ranks the
// handles are new ones, so a rank that takes the new type for the old one does something else than its neighbours. --any: also where the memory of what is
// freed is not given out again (under AddressSanitizer), and no handle comes again.
#include <cstring>
#include <utility>

#include "check.hpp"

namespace {

using namespace conformance;

int came_again = 0;

/// Numbers with a gap after each.
MPI_Datatype spaced(int numbers) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(numbers, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

/// Frees `old` for the next one, which on even ranks gets its handle, if the MPI library gives it out.
template <typename Handle, typename Make, typename Free>
Handle instead_of(Handle old, int rank, const Make& make, const Free& free) {
  const Handle before = old;
  if (rank % 2 != 0) {
    const Handle next = make();
    free(&old);
    return next;
  }
  free(&old);
  const Handle next = make();
  came_again += next == before ? 1 : 0;
  return next;
}

void check_spaced(const char* what, const std::vector<int>& got, int first, int numbers, int value, int gap) {
  for (int k = 0; k < 2 * numbers; ++k) equal(what, got[index(first + k)], k % 2 == 0 ? value + k : gap);
}

void moved(MPI_Comm comm, MPI_Datatype type, int numbers, int call) {
  const Place me(comm);
  const int length = 2 * numbers, value = 1000 * call;
  std::vector<int> one(index(length + 2), -1), all(index(length * me.size + 2), -1);
  if (me.rank == 0) {
    for (int k = 0; k < length; ++k) one[index(k)] = k % 2 == 0 ? value + k : -1;
  }
  MPI_Bcast(one.data(), 1, type, 0, comm);
  check_spaced("broadcast", one, 0, numbers, value, -1);
  equal("behind the broadcast", one[index(length)], -1);
  MPI_Datatype block;  // from the begin of one block to that of the next
  MPI_Type_create_resized(type, 0, static_cast<MPI_Aint>(sizeof(int)) * length, &block);
  MPI_Type_commit(&block);
  MPI_Allgather(one.data(), 1, type, all.data(), 1, block, comm);
  MPI_Type_free(&block);
  for (int r = 0; r < me.size; ++r) check_spaced("all-gather", all, r * length, numbers, value, -1);
  equal("behind the all-gather", all[index(length * me.size)], -1);
}

void types(MPI_Comm comm) {
  part = "types";
  const Place me(comm);
  constexpr int kNumbers[] = {3000, 2, 700, 1};
  MPI_Datatype type = spaced(kNumbers[0]);
  for (int i = 0; i < 24; ++i) {
    for (int call = 0; call < 5; ++call) moved(comm, type, kNumbers[i % 4], call);
    type = instead_of(
        type, me.rank, [&] { return spaced(kNumbers[(i + 1) % 4]); }, [](MPI_Datatype* each) { MPI_Type_free(each); });
  }
  MPI_Type_free(&type);
}

void fold_sum(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] += static_cast<const int*>(in)[i];
}
void fold_product(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] *= static_cast<const int*>(in)[i];
}
MPI_Op operation(bool sum) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(sum ? fold_sum : fold_product, 1, &op);
  return op;
}

void operations(MPI_Comm comm) {
  part = "operations";
  const Place me(comm);
  MPI_Op op = operation(true);
  for (int i = 0; i < 24; ++i) {
    for (const int count : {1, 3000, 1, 3000}) {
      const std::vector<int> in(index(count), 3);
      std::vector<int> out(in.size(), -1);
      int expected = i % 2 == 0 ? 3 * me.size : 1;
      for (int r = 0; i % 2 != 0 && r < me.size; ++r) expected *= 3;
      MPI_Allreduce(in.data(), out.data(), count, MPI_INT, op, comm);
      equal("fold", out, std::vector<int>(in.size(), expected));
    }
    op = instead_of(
        op, me.rank, [&] { return operation(i % 2 != 0); }, [](MPI_Op* each) { MPI_Op_free(each); });
  }
  MPI_Op_free(&op);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool any = argc > 1 && std::strcmp(argv[1], "--any") == 0;
  const Place me(MPI_COMM_WORLD);
  types(MPI_COMM_WORLD);
  const int types_again = std::exchange(came_again, 0);
  operations(MPI_COMM_WORLD);
  part = "handles that come again";
  if (me.rank == 0 && !any && (types_again < 4 || came_again < 4)) fail("few", types_again, came_again);
  if (me.rank == 0) std::printf("again on %d ranks: right\n", me.size);
  MPI_Finalize();
  return 0;
}
