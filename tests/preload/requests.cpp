// SPDX-License-Identifier: MIT
// requests: those of collectives that outlive their communicator, end with an error, or are freed, in an order of each rank's own. Under the component of
// Open MPI: Open MPI 4.1's own crash or hang where a communicator is freed before its requests have ended.
#include <mpi.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "check.hpp"
#include "persistent_names.hpp"

namespace {

using namespace conformance;

/// A copy of MPI_COMM_WORLD on which calls are served from now on.
MPI_Comm fresh() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Barrier(comm);
  return comm;
}

/// Elements with gaps; an array of them as an all-to-all wants it, whose types end with their requests.
struct Gaps {
  MPI_Datatype type{};
  std::vector<MPI_Datatype> types;
  std::vector<int> counts, places;

  explicit Gaps(int ranks) : types(index(ranks)), counts(index(ranks), 1), places(index(ranks)) {
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    std::fill(types.begin(), types.end(), type);
    for (int r = 0; r < ranks; ++r) places[index(r)] = r * kExtent * static_cast<int>(sizeof(int));
  }
  static constexpr int kExtent = 4;
};

/// One rank waits until the others have come: what they have begun before cannot end without it.
class Late {
 public:
  explicit Late(int rank) : rank_(rank), me_(MPI_COMM_WORLD) {
    if (me_.rank != rank_) return;
    for (int r = 1; r < me_.size; ++r)
      MPI_Recv(nullptr, 0, MPI_INT, MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  void come() const {
    if (me_.rank != rank_) MPI_Send(nullptr, 0, MPI_INT, rank_, kTag, MPI_COMM_WORLD);
  }

 private:
  static constexpr int kTag = 5;
  int rank_;
  Place me_;
};

enum class Wait { together, backwards, asked, last_first };

void wait_for(std::vector<MPI_Request>& requests, Wait how) {
  switch (how) {
    case Wait::together: MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE); break;
    case Wait::backwards:
      for (std::size_t i = requests.size(); i-- > 0;) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      break;
    case Wait::asked:
      for (MPI_Request& request : requests) {
        for (int done = 0; done == 0;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      }
      break;
    default:
      MPI_Wait(&requests.back(), MPI_STATUS_IGNORE);
      MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }
}

/// What is under way when its communicator is freed ends as if nothing had happened; a persistent request can be started again.
void outlive_the_communicator(Wait how) {
  part = "a communicator freed under its requests";
  const Place me(MPI_COMM_WORLD);
  const int all = me.size * (me.size - 1) / 2;
  for (int round = 0; round < 4; ++round) {
    MPI_Comm comm = fresh();
    Gaps gaps(me.size), lasting(me.size);
    int mine = me.rank + round, sum = -1, value = me.rank == 0 ? 70 + round : -1, again = -1;
    std::vector<int> gathered(index(me.size), -1);
    std::vector<int> give(index(me.size * Gaps::kExtent), me.rank), get(give.size(), -1), got(give.size(), -1);
    std::vector<MPI_Request> requests(7);
    MPIX_Allreduce_init(&mine, &again, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[4]);
    MPIX_Alltoallw_init(give.data(), lasting.counts.data(), lasting.places.data(), lasting.types.data(), got.data(),
                        lasting.counts.data(), lasting.places.data(), lasting.types.data(), comm, MPI_INFO_NULL,
                        &requests[5]);
    const Late late(round % me.size);
    MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[0]);
    MPI_Ibcast(&value, 1, MPI_INT, 0, comm, &requests[1]);
    MPI_Iallgather(&mine, 1, MPI_INT, gathered.data(), 1, MPI_INT, comm, &requests[2]);
    MPI_Ialltoallw(give.data(), gaps.counts.data(), gaps.places.data(), gaps.types.data(), get.data(),
                   gaps.counts.data(), gaps.places.data(), gaps.types.data(), comm, &requests[3]);
    MPI_Startall(2, &requests[4]);
    MPI_Ibarrier(comm, &requests[6]);
    MPI_Type_free(&gaps.type);
    MPI_Comm_free(&comm);
    late.come();
    if (round % 2 == 0) comm = fresh();  // may lie where the other one was
    wait_for(requests, how);
    equal("sum", sum, all + round * me.size);
    equal("value", value, 70 + round);
    for (int r = 0; r < me.size; ++r) {
      equal("gathered", gathered[index(r)], r + round);
      equal("taken", get[index(r * Gaps::kExtent + 2)], r);
      equal("gap", get[index(r * Gaps::kExtent + 1)], -1);
      equal("taken persistently", got[index(r * Gaps::kExtent + 2)], r);
    }
    equal("persistent sum", again, all + round * me.size);
    ++mine;
    MPI_Startall(2, &requests[4]);
    MPI_Waitall(2, &requests[4], MPI_STATUSES_IGNORE);
    equal("persistent sum, again", again, all + (round + 1) * me.size);
    MPI_Request_free(&requests[4]);
    MPI_Request_free(&requests[5]);
    MPI_Type_free(&lasting.type);
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
}

/// An error of a request whose communicator is gone.
void fail_without_the_communicator() {
  part = "an error without a communicator";
  const Place me(MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int round = 0; round < 4; ++round) {
    MPI_Comm comm = fresh();
    const int give[10] = {};
    std::vector<int> room(index(me.size));
    MPI_Request request;
    const Late late(1);
    MPI_Igather(give, 10, MPI_INT, room.data(), me.rank == 0 ? 1 : 10, MPI_INT, 0, comm, &request);
    MPI_Comm_free(&comm);
    late.come();
    if (round % 2 == 0) comm = fresh();
    int kind = MPI_SUCCESS;
    const int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Error_class(code, &kind);
    equal("code", kind, me.rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    equal("no request", request == MPI_REQUEST_NULL, 1);
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/// What MPI forbids while a collective goes on is an error, and changes nothing.
void refuse_while_under_way(MPI_Comm comm) {
  part = "freed, cancelled and started under way";
  const Place me(comm);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int mine = me.rank, sums[2] = {-1, -1};
  MPI_Request requests[2];
  MPIX_Allreduce_init(&mine, &sums[1], 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[1]);
  const Late late(0);
  MPI_Iallreduce(&mine, &sums[0], 1, MPI_INT, MPI_SUM, comm, &requests[0]);
  MPI_Start(&requests[1]);
  if (me.rank != 0) {
    for (MPI_Request& each : requests) {
      MPI_Request copy = each;
      const auto refused = [](const char* what, int code) {
        int kind = MPI_SUCCESS;
        MPI_Error_class(code, &kind);
        equal(what, kind, MPI_ERR_REQUEST);
      };
      refused("freed", MPI_Request_free(&copy));
      refused("cancelled", MPI_Cancel(&each));
      refused("started", MPI_Start(&each));
    }
  }
  late.come();
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (const int sum : sums) equal("sum", sum, me.size * (me.size - 1) / 2);
  MPI_Request_free(&requests[1]);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/// Pieces of this process's memory that are mapped one by one.
long long mapped() {
  std::ifstream maps("/proc/self/maps");
  return std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
}

/// Persistent requests are freed in another order than made, on each rank in its own, some without having been started, while others go on.
/// What they had is given back.
void free_in_any_order(MPI_Comm comm) {
  part = "freed in any order";
  const Place me(comm);
  constexpr int kRequests = 6;
  const int all = me.size * (me.size - 1) / 2;
  long long before = 0;
  for (int round = 0; round < 12; ++round) {
    int mine[kRequests], sums[kRequests];
    MPI_Request requests[kRequests];
    for (int i = 0; i < kRequests; ++i) {
      mine[i] = me.rank + i;
      sums[i] = -1;
      MPIX_Allreduce_init(&mine[i], &sums[i], 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[i]);
    }
    const auto turned = [&](int i) { return (i + round + me.rank) % (kRequests - 2); };
    MPI_Startall(2, &requests[kRequests - 2]);  // these two go on
    for (int i = 0; i < kRequests - 2; ++i) {
      if (turned(i) % 2 == 0) MPI_Start(&requests[turned(i)]);
    }
    for (int i = 0; i < kRequests - 2; ++i) {
      const int which = turned(i);
      if (which % 2 == 0) {
        MPI_Wait(&requests[which], MPI_STATUS_IGNORE);
        equal("sum", sums[which], all + which * me.size);
      }
      MPI_Request_free(&requests[which]);
      equal("no request", requests[which] == MPI_REQUEST_NULL, 1);
    }
    int one = 1, ranks = 0;
    MPI_Allreduce(&one, &ranks, 1, MPI_INT, MPI_SUM, comm);
    equal("ranks", ranks, me.size);
    for (int i = kRequests; i-- > kRequests - 2;) {
      MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      equal("sum of one that went on", sums[i], all + i * me.size);
      MPI_Request_free(&requests[i]);
    }
    if (round == 4) before = mapped();
  }
  const long long grown = mapped() - before;
  if (grown > 20) fail("memory that was mapped and not given back", grown, 0);
}

/// Where this process's memory is mapped, and what.
std::string all_mapped() {
  std::ifstream maps("/proc/self/maps");
  std::string all;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("rw-s") != std::string::npos) all += line.substr(0, line.find(' ')) + '\n';
  }
  return all;
}

/// A persistent request that was freed on all ranks leaves its shared memory to the next one, which need not make any.
void take_over(MPI_Comm comm) {
  part = "taken over";
  const Place me(comm);
  std::string first;
  for (int round = 0; round < 5; ++round) {
    int mine = me.rank + round, sum = -1;
    MPI_Request request;
    MPIX_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    equal("sum", sum, me.size * (me.size - 1) / 2 + round * me.size);
    if (round == 0) first = all_mapped();
    equal("the same memory", all_mapped() == first, 1);
    MPI_Request_free(&request);
    equal("kept", all_mapped() == first, 1);
    MPI_Barrier(comm);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Place me(MPI_COMM_WORLD);
  for (const Wait how : {Wait::together, Wait::backwards, Wait::asked, Wait::last_first}) outlive_the_communicator(how);
  fail_without_the_communicator();
  MPI_Comm comm = fresh();
  refuse_while_under_way(comm);
  take_over(comm);
  free_in_any_order(comm);
  // Never freed, and pending on nothing: counted all the same.
  int one = 1, sum = 0;
  MPI_Request request;
  MPIX_Scan_init(&one, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  equal("scan", sum, me.rank + 1);
  MPI_Comm_free(&comm);
  if (me.rank == 0) std::printf("requests on %d ranks: right\n", me.size);
  MPI_Finalize();
  return 0;
}
