// SPDX-License-Identifier: MIT
// gaps: reductions that a library may try several times before it decides, or makes twice to compare. What lies between the elements is the program's:
// messages arrive there meanwhile. Elements at absolute addresses, in place. What a root broadcasts is only read. All-to-alls whose types are missing
// where there is no data.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <numeric>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

using namespace conformance;
using std::chrono::microseconds;

/// Every second int, and slowly: messages come in between.
void add_even(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[2 * i] += static_cast<int*>(in)[2 * i];
  std::this_thread::sleep_for(microseconds(200));
}

constexpr int kElements = 300;

/// The last rank sends to all others, one int for each gap.
void send_slowly(int others, int round) {
  for (int i = 0; i < kElements; ++i) {
    const int value = round * 1000 + i;
    for (int r = 0; r < others; ++r) MPI_Send(&value, 1, MPI_INT, r, 1, MPI_COMM_WORLD);
    if (i % 4 == 0) std::this_thread::sleep_for(microseconds(100));
  }
}

void fold_while_messages_come(MPI_Comm comm, int sender, int round, bool in_place, MPI_Datatype type, MPI_Op op) {
  std::vector<int> given(index(2 * kElements), 1), data(given.size(), -5);
  std::vector<MPI_Request> requests(index(kElements));
  for (int i = 0; i < kElements; ++i) {
    data[index(2 * i)] = 1;
    MPI_Irecv(&data[index(2 * i + 1)], 1, MPI_INT, sender, 1, MPI_COMM_WORLD, &requests[index(i)]);
  }
  MPI_Allreduce(in_place ? MPI_IN_PLACE : given.data(), data.data(), kElements, type, op, comm);
  MPI_Waitall(kElements, requests.data(), MPI_STATUSES_IGNORE);
  for (int i = 0; i < kElements; ++i) {
    equal("a sum", data[index(2 * i)], sender);
    equal("a message", data[index(2 * i + 1)], round * 1000 + i);
  }
}

void messages_in_gaps(const Place& me, MPI_Op op) {
  part = "messages in gaps";
  MPI_Datatype type;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type);
  MPI_Type_commit(&type);
  MPI_Comm folding;
  const int sender = me.size - 1;
  MPI_Comm_split(MPI_COMM_WORLD, me.rank == sender ? 1 : 0, me.rank, &folding);
  for (int round = 0; round < 20; ++round) {
    MPI_Comm fresh;  // nothing is decided on it
    MPI_Comm_dup(folding, &fresh);
    if (me.rank == sender) send_slowly(sender, round);
    else fold_while_messages_come(fresh, sender, round, round % 3 != 0, type, op);
    MPI_Comm_free(&fresh);
  }
  MPI_Comm_free(&folding);
  MPI_Type_free(&type);
}

/// The first int of each pair of the four at MPI_BOTTOM.
void add_somewhere(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Aint low, extent;
  MPI_Type_get_true_extent(*type, &low, &extent);
  equal("elements", *count, 1);
  const int* const from = reinterpret_cast<const int*>(static_cast<const char*>(in) + low);
  int* const to = reinterpret_cast<int*>(static_cast<char*>(inout) + low);
  for (int i = 0; i < 8; i += 2) to[i] += from[i];
}

void in_place_at_addresses(const Place& me) {
  part = "in place at absolute addresses";
  MPI_Op op;
  MPI_Op_create(add_somewhere, 1, &op);
  for (int round = 0; round < 4; ++round) {
    MPI_Comm fresh;
    MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
    std::vector<int> data(8);
    std::iota(data.begin(), data.end(), 1);
    const int lengths[] = {1, 1, 1, 1};
    MPI_Aint places[4];
    for (int i = 0; i < 4; ++i) MPI_Get_address(&data[index(2 * i)], &places[i]);
    MPI_Datatype type;
    MPI_Type_create_hindexed(4, lengths, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Allreduce(MPI_IN_PLACE, MPI_BOTTOM, 1, type, op, fresh);
    for (int i = 0; i < 8; ++i) equal("a sum", data[index(i)], i % 2 == 0 ? (i + 1) * me.size : i + 1);
    MPI_Type_free(&type);
    MPI_Comm_free(&fresh);
  }
  MPI_Op_free(&op);
}

/// What a root broadcasts may lie where nothing can be written.
void constant_broadcasts(const Place& me) {
  part = "broadcasts of constants";
  static constexpr int kConstant[] = {3, 1, 4, 1, 5, 9, 2, 6};
  constexpr int kCount = static_cast<int>(std::size(kConstant));
  MPI_Datatype type;
  MPI_Type_vector(kCount / 2, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  for (int round = 0; round < 40; ++round) {
    const bool gives = me.rank == 0, apart = round % 2 == 0;  // another root gets its data back from MPICH's rank 0
    std::vector<int> room(index(kCount), -1);
    int* const data = gives ? const_cast<int*>(kConstant) : room.data();
    MPI_Bcast(data, apart ? 1 : kCount, apart ? type : MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < kCount && !gives; ++i)
      equal("a constant", room[index(i)], apart && i % 2 != 0 ? -1 : kConstant[i]);
  }
  MPI_Type_free(&type);
}

#ifdef MPICH
/// Which MPICH allows; Open MPI looks at all types.
void types_of_nothing(const Place& me) {
  part = "types of no data";
  const int next = (me.rank + 1) % me.size, before = (me.rank + me.size - 1) % me.size;
  constexpr MPI_Datatype kNoType = 0x7fabcdef;
  for (int round = 0; round < 40; ++round) {
    const bool empty = round % 7 == 3;
    const int given = me.rank;
    int got = -1;
    std::vector<int> sent(index(me.size)), received(sent.size()), places(sent.size());
    std::vector<MPI_Datatype> from(sent.size(), kNoType), to(from);
    if (!empty) {
      sent[index(next)] = received[index(before)] = 1;
      from[index(next)] = to[index(before)] = MPI_INT;
    }
    MPI_Alltoallw(&given, sent.data(), places.data(), from.data(), &got, received.data(), places.data(), to.data(),
                  MPI_COMM_WORLD);
    equal("from the rank before", got, empty ? -1 : before);
  }
}
#endif

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Place me(MPI_COMM_WORLD);
  in_place_at_addresses(me);  // first: preparing too many communicators ends trying
  constant_broadcasts(me);
#ifdef MPICH
  types_of_nothing(me);
#endif
  MPI_Op op;
  MPI_Op_create(add_even, 1, &op);
  messages_in_gaps(me, op);
  MPI_Op_free(&op);
  MPI_Barrier(MPI_COMM_WORLD);
  if (me.rank == 0) std::puts("gaps: what lies there is the program's");
  MPI_Finalize();
}
