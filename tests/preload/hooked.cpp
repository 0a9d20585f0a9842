// SPDX-License-Identifier: MIT
// Non-blocking and persistent collectives under MPICH, which the drop-in library advances from within MPICH's progress: a rank that sits in any other function
// of MPI goes on with them. mpiexec -n 3 hooked [open|wrong|served]: it ends with requests that nobody waited for; ranks call different things; persistent ones that are
// ours must not be seen to end twice (MPI_Waitany of MPICH 4.0.2 takes an inactive one of its own for one that has ended).
#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>

#include "check.hpp"

namespace {

using namespace conformance;

int rank = 0, size = 1;
constexpr int kLong = 300'000;

/// Long enough that it needs many turns of every rank.
struct Sum {
  std::vector<int> in, out;
  MPI_Request request = MPI_REQUEST_NULL;

  explicit Sum(MPI_Comm comm, int count = kLong) : in(index(count), rank + 1), out(index(count), -1) {
    equal("code", MPI_Iallreduce(in.data(), out.data(), count, MPI_INT, MPI_SUM, comm, &request), MPI_SUCCESS);
  }
  bool there() const {
    return std::all_of(out.begin(), out.end(), [](int each) { return each == size * (size + 1) / 2; });
  }
  void check(const char* what) const { equal(what, there(), 1); }
};

/// The last rank waits for its sum before it does what the others sit in a function of MPI for.
void within(const char* name, MPI_Comm comm, const std::function<void()>& others, const std::function<void()>& last) {
  part = name;
  Sum sum(comm);
  if (rank < size - 1) others();
  MPI_Wait(&sum.request, MPI_STATUS_IGNORE);
  if (rank == size - 1) last();
  sum.check("under way meanwhile");
}

void foreign(MPI_Comm comm) {
  const int last = size - 1;
  int token = 0;
  const auto to_all = [&] {
    for (int r = 0; r < last; ++r) MPI_Send(&token, 1, MPI_INT, r, 3, comm);
  };
  within(
      "receive", comm, [&] { MPI_Recv(&token, 1, MPI_INT, last, 3, comm, MPI_STATUS_IGNORE); }, to_all);
  within(
      "probe", comm,
      [&] {
        MPI_Probe(last, 3, comm, MPI_STATUS_IGNORE);
        MPI_Recv(&token, 1, MPI_INT, last, 3, comm, MPI_STATUS_IGNORE);
      },
      to_all);
  within(
      "synchronous send", comm, [&] { MPI_Ssend(&token, 1, MPI_INT, last, 4, comm); },
      [&] {
        for (int r = 0; r < last; ++r) MPI_Recv(&token, 1, MPI_INT, r, 4, comm, MPI_STATUS_IGNORE);
      });
  within(
      "tests of another request", comm,
      [&] {
        MPI_Request other;
        MPI_Irecv(&token, 1, MPI_INT, last, 3, comm, &other);
        for (int done = 0; done == 0;) MPI_Test(&other, &done, MPI_STATUS_IGNORE);
      },
      to_all);
  const auto both = [](const std::function<void()>& call) { return std::pair(call, call); };
  for (const auto& [name, way] : {std::pair("barrier", both([&] { MPI_Barrier(comm); })),
                                  std::pair("another communicator", both([] {
                                              MPI_Comm made;
                                              MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &made);
                                              int one = 1, sum = 0;
                                              MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made);
                                              MPI_Comm_free(&made);
                                            })),
                                  std::pair("a window", both([] {
                                              int mine = 0;
                                              MPI_Win window;
                                              MPI_Win_create(&mine, sizeof mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                                                             &window);
                                              MPI_Win_fence(0, window);
                                              MPI_Win_free(&window);
                                            }))})
    within(name, comm, way.first, way.second);
}

constexpr int kWaysToWait = 7;
/// Waits for all of them, `active` first ones of which are under way.
void wait_for(std::vector<MPI_Request>& all, int active, int way) {
  const int count = static_cast<int>(all.size());
  std::vector<int> which(all.size());
  std::vector<MPI_Status> statuses(all.size());
  int done = 0, some = 0, flag = 0;
  if (way == 0) MPI_Waitall(count, all.data(), statuses.data());
  while (way == 1 && flag == 0) MPI_Testall(count, all.data(), &flag, MPI_STATUSES_IGNORE);
  for (; way == 2 && done < active; ++done) {
    MPI_Waitany(count, all.data(), &some, MPI_STATUS_IGNORE);
    equal("one that has ended", some != MPI_UNDEFINED, 1);
  }
  for (; way == 3 && done < active; done += some) {
    MPI_Waitsome(count, all.data(), &some, which.data(), statuses.data());
    equal("some that have ended", some != MPI_UNDEFINED, 1);
  }
  for (; way == 4 && done < active; done += some) {
    MPI_Testsome(count, all.data(), &some, which.data(), MPI_STATUSES_IGNORE);
    equal("some that may have ended", some != MPI_UNDEFINED, 1);
  }
  for (; way == 5 && done < active; done += flag) {
    MPI_Testany(count, all.data(), &some, &flag, MPI_STATUS_IGNORE);
    equal("one that may have ended", flag != 0 && some == MPI_UNDEFINED, 0);
  }
  for (int i = active - 1; way == 6 && i >= 0; --i) {
    for (flag = 0; flag == 0;) MPI_Request_get_status(all[index(i)], &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&all[index(i)], &statuses[index(i)]);
    int cancelled = -1;
    MPI_Test_cancelled(&statuses[index(i)], &cancelled);
    equal("cancelled", cancelled, 0);
  }
}

/// All ways of waiting; ours among the program's own requests.
void ways_to_wait(MPI_Comm comm) {
  constexpr int kSums = 6;
  for (int way = 0; way < kWaysToWait; ++way) {
    part = "ways to wait";
    std::vector<Sum> sums;
    for (int i = 0; i < kSums; ++i) sums.emplace_back(comm, i % 2 == 0 ? 3 : 20'000);
    std::vector<MPI_Request> all;
    for (Sum& each : sums) all.push_back(each.request);
    int got = -1, mine = rank;
    all.emplace_back();
    MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, 5, comm, &all.back());
    MPI_Send(&mine, 1, MPI_INT, (rank + 1) % size, 5, comm);
    const int active = static_cast<int>(all.size());
    all.push_back(MPI_REQUEST_NULL);
    wait_for(all, active, way);
    for (const MPI_Request each : all) equal("request", each == MPI_REQUEST_NULL, 1);
    for (const Sum& each : sums) each.check("sum");
    equal("message", got, (rank + size - 1) % size);
  }
}

/// Short persistent ones, which have often ended when they are started: on the root, and on ranks that come late. Each end is seen once.
void ended_in_start(MPI_Comm comm) {
#if MPI_VERSION >= 4
  part = "ended when they are started";
  int values[2] = {0, 0}, got = -1;
  MPI_Request both[2];
  for (int i = 0; i < 2; ++i) MPI_Bcast_init(&values[i], 1, MPI_INT, i * (size - 1), comm, MPI_INFO_NULL, &both[i]);
  for (int round = 0; round < 4 * kWaysToWait; ++round) {
    for (int i = 0; i < 2; ++i) values[i] = rank == i * (size - 1) ? 100 * round + i : -1;
    MPI_Barrier(comm);
    if ((rank + round) % 2 == 0) usleep(2000);
    MPI_Startall(2, both);
    std::vector<MPI_Request> all(both, both + 2);
    all.emplace_back();
    MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, 7, comm, &all.back());
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 7, comm);
    all.push_back(MPI_REQUEST_NULL);
    wait_for(all, 3, round % kWaysToWait);
    for (int i = 0; i < 2; ++i) equal("value", values[i], 100 * round + i);
    equal("message", got, (rank + size - 1) % size);
    int some = -1, flag = 0, which[2];
    MPI_Waitany(2, both, &some, MPI_STATUS_IGNORE);
    equal("none is left to MPI_Waitany", some, MPI_UNDEFINED);
    MPI_Testany(2, both, &some, &flag, MPI_STATUS_IGNORE);
    equal("none is left to MPI_Testany", flag != 0 && some == MPI_UNDEFINED, 1);
    MPI_Waitsome(2, both, &some, which, MPI_STATUSES_IGNORE);
    equal("none is left to MPI_Waitsome", some, MPI_UNDEFINED);
    MPI_Testsome(2, both, &some, which, MPI_STATUSES_IGNORE);
    equal("none is left to MPI_Testsome", some, MPI_UNDEFINED);
  }
  for (MPI_Request& each : both) MPI_Request_free(&each);
#else
  static_cast<void>(comm);
#endif
}

/// Persistent ones, started while a rank sits in a receive.
void persistent(MPI_Comm comm) {
#if MPI_VERSION >= 4
  part = "persistent";
  std::vector<int> in(kLong), out(kLong);
  MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Allreduce_init(in.data(), out.data(), kLong, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[0]);
  int token = 0;
  MPI_Recv_init(&token, 1, MPI_INT, (rank + size - 1) % size, 6, comm, &requests[1]);
  for (int round = 0; round < 5; ++round) {
    in.assign(in.size(), rank + round);
    MPI_Startall(2, requests);
    if (rank == 0) {  // the others send after the sum
      MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
      MPI_Send(&rank, 1, MPI_INT, 1 % size, 6, comm);
    } else {
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 6, comm);
    }
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    equal("token", token, (rank + size - 1) % size);
    equal("sum", std::count(out.begin(), out.end(), size * (size - 1) / 2 + round * size), kLong);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  equal("request", requests[0] == MPI_REQUEST_NULL, 1);
#else
  static_cast<void>(comm);
#endif
}

/// Freed while they are in use: the communicator, types, operations; the request itself, which MPI forbids: MPICH may refuse it.
void freed(MPI_Comm comm) {
  part = "freed";
  MPI_Comm copy;
  MPI_Comm_dup(comm, &copy);
  MPI_Barrier(copy);
  Sum sum(copy);
  MPI_Comm_free(&copy);
  MPI_Wait(&sum.request, MPI_STATUS_IGNORE);
  sum.check("communicator");
  MPI_Datatype apart;
  MPI_Type_vector(kLong, 1, 2, MPI_INT, &apart);
  MPI_Type_commit(&apart);
  std::vector<int> data(2 * kLong, -1);
  for (int i = 0; rank == 0 && i < kLong; ++i) data[index(2 * i)] = i;
  MPI_Request request;
  MPI_Ibcast(data.data(), 1, apart, 0, comm, &request);
  MPI_Type_free(&apart);
  equal("handle", apart == MPI_DATATYPE_NULL, 1);
  std::vector<MPI_Datatype> others(40);  // whose handles may be that of the freed one
  for (MPI_Datatype& each : others) MPI_Type_contiguous(7, MPI_CHAR, &each), MPI_Type_commit(&each);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (MPI_Datatype& each : others) MPI_Type_free(&each);
  for (int i = 0; i < kLong; ++i) equal("type", data[index(2 * i)] * 2 + data[index(2 * i) + 1], 2 * i - 1);
  MPI_Op op;
  MPI_Op_create(
      [](void* in, void* inout, int* n, MPI_Datatype*) {
        for (int i = 0; i < *n; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
      },
      1, &op);
  std::vector<int> ones(kLong, 1), out(kLong);
  MPI_Iallreduce(ones.data(), out.data(), kLong, MPI_INT, op, comm, &request);
  MPI_Op_free(&op);
  equal("handle", op == MPI_OP_NULL, 1);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  equal("operation", std::accumulate(out.begin(), out.end(), 0LL), static_cast<long long>(size) * kLong);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  Sum kept(comm);
  MPI_Request same = kept.request;
  const bool refused = MPI_Request_free(&same) != MPI_SUCCESS;
  if (refused) MPI_Wait(&kept.request, MPI_STATUS_IGNORE);
  for (int flag = 0; !kept.there();) MPI_Iprobe(MPI_ANY_SOURCE, 99, comm, &flag, MPI_STATUS_IGNORE);
  MPI_Barrier(comm);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/// Ranks reach one collective by different functions.
void mixed(MPI_Comm comm) {
#if MPI_VERSION >= 4
  part = "large counts";
  std::vector<int> mine(5, rank), all(index(5 * size), -1);
  std::vector<int> counts(index(size), 5), places(index(size));
  std::vector<MPI_Count> large(index(size), 5);
  std::vector<MPI_Aint> far(index(size));
  for (int r = 0; r < size; ++r) places[index(r)] = 5 * r, far[index(r)] = 5 * r;
  MPI_Request requests[3];
  int sum = 0, root_sum = 0;
  if (rank % 2 == 0) {
    MPI_Iallgatherv_c(mine.data(), 5, MPI_INT, all.data(), large.data(), far.data(), MPI_INT, comm, &requests[0]);
    MPI_Iallreduce_c(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[1]);
    MPI_Ireduce(&rank, &root_sum, 1, MPI_INT, MPI_SUM, 0, comm, &requests[2]);
  } else {
    MPI_Iallgatherv(mine.data(), 5, MPI_INT, all.data(), counts.data(), places.data(), MPI_INT, comm, &requests[0]);
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[1]);
    MPI_Ireduce_c(&rank, &root_sum, 1, MPI_INT, MPI_SUM, 0, comm, &requests[2]);
  }
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  equal("sum", sum, size * (size - 1) / 2);
  if (rank == 0) equal("sum at the root", root_sum, sum);
  for (int i = 0; i < 5 * size; ++i) equal("block", all[index(i)], i / 5);
#else
  static_cast<void>(comm);
#endif
}

/// What is wrong on all ranks is the MPI library's to say.
void refused(MPI_Comm comm) {
  part = "refused";
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Request request = MPI_REQUEST_NULL;
  int one = 1, sum = 0;
  const auto refuses = [](int code) { equal("refused", code != MPI_SUCCESS, 1); };
  refuses(MPI_Iallreduce(&one, &sum, -1, MPI_INT, MPI_SUM, comm, &request));
  refuses(MPI_Ibcast(&one, 1, MPI_INT, size, comm, &request));
  refuses(MPI_Iallreduce(&one, &sum, 1, MPI_DATATYPE_NULL, MPI_SUM, comm, &request));
  Sum good(comm, 4);
  MPI_Wait(&good.request, MPI_STATUS_IGNORE);
  good.check("afterwards");
}

void inter_communicator() {
  part = "inter-communicator";
  MPI_Comm half, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : 1, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 8, &both);
  int sum = 0, one = 1;
  MPI_Request request;
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, both, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  equal("sum", sum, rank == 0 ? size - 1 : 1);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

/// A process that was forked leaves while calls are under way.
void forked(MPI_Comm comm) {
  part = "fork";
  Sum sum(comm);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  MPI_Wait(&sum.request, MPI_STATUS_IGNORE);
  sum.check("under way meanwhile");
}

/// Ranks have different lengths: nobody waits for ever, and some rank hears of it.
void wrong(MPI_Comm comm) {
  part = "different lengths";
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  std::vector<int> in(500, 1), out(500);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_Iallreduce(in.data(), out.data(), rank == 0 ? 10 : 300, MPI_INT, MPI_SUM, comm, &request);
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  int failed = code == MPI_SUCCESS ? 0 : 1, all = 0;
  MPI_Allreduce(&failed, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  equal("told", all == size, 1);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* const what = argc > 1 ? argv[1] : "";
  MPI_Comm comms[3];
  for (MPI_Comm& each : comms) {
    MPI_Comm_dup(MPI_COMM_WORLD, &each);
    MPI_Barrier(each);
  }
  if (std::strcmp(what, "wrong") == 0) {
    wrong(comms[0]);
  } else {
    for (const MPI_Comm each : comms) {
      foreign(each);
      ways_to_wait(each);
      if (std::strcmp(what, "served") == 0) ended_in_start(each);
      persistent(each);
      freed(each);
      mixed(each);
    }
    part = "several communicators";
    for (int turn = 0; turn < 20; ++turn) {  // waited for in another order on each rank
      std::vector<Sum> sums;
      for (const MPI_Comm each : comms) sums.emplace_back(each, 5000);
      for (int i = 0; i < 3; ++i) MPI_Wait(&sums[index((i + rank + turn) % 3)].request, MPI_STATUS_IGNORE);
      for (const Sum& each : sums) each.check("sum");
    }
    forked(comms[1]);
    if (size > 1) inter_communicator();
    refused(comms[2]);
  }
  if (rank == 0) std::printf("in the progress of MPICH on %d ranks: right\n", size), std::fflush(stdout);
  static std::vector<Sum> left;
  if (std::strcmp(what, "open") == 0) {
    for (int i = 0; i < 3; ++i) left.emplace_back(comms[i]);
  }
  MPI_Finalize();
}
