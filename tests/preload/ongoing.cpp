// SPDX-License-Identifier: MIT
// Collectives that go on after their call: non-blocking and persistent ones, several at a time, waited for in any order, between
// blocking ones and under a foreign receive. mpirun -n 4 ongoing [nonblocking]: those alone. MPICH 4.0.2's own persistent gather gives wrong results.
#include <mpi.h>

#include <cstdio>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "persistent_names.hpp"

namespace {

int rank = 0, size = 1;

void expect(bool good, const std::string& what) {
  if (good) return;
  std::printf("rank %d: %s: wrong\n", rank, what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// Numbers that tell ranks, places and rounds apart.
std::vector<int> numbers(int of, int count, int round) {
  std::vector<int> list(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) list[static_cast<std::size_t>(i)] = of * 1000 + i % 97 + round * 7;
  return list;
}
std::vector<int> sum_of(int ranks, int count, int round) {
  std::vector<int> sum(static_cast<std::size_t>(count));
  for (int r = 0; r < ranks; ++r) {
    const auto part = numbers(r, count, round);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
  }
  return sum;
}
std::vector<int> blocks_of_all(int count, int round) {
  std::vector<int> all;
  for (int r = 0; r < size; ++r) {
    const auto part = numbers(r, count, round);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

/// Buffers of one collective, and what must be in `out` at the end.
struct Case {
  std::string name;
  std::vector<int> in, out, wanted;
  std::vector<int> counts, places;
  std::vector<MPI_Datatype> types;
  std::function<void(Case&, MPI_Request*)> nonblocking, persistent;
};

/// Every collective on `count` elements, as round `round` wants them.
std::vector<Case> cases(MPI_Comm comm, int count, int round) {
  const int root = round % size;
  const auto mine = numbers(rank, count, round), all = blocks_of_all(count, round);
  const auto n = static_cast<std::size_t>(count), many = n * static_cast<std::size_t>(size);
  const std::vector<int> nothing, room(n, -1), much(many, -1);
  std::vector<int> turned;  // block r of rank s, for r = this one
  for (int s = 0; s < size; ++s) {
    const auto theirs = numbers(s, count * size, round);
    turned.insert(turned.end(), theirs.begin() + rank * count, theirs.begin() + (rank + 1) * count);
  }
  const auto given = numbers(rank, count * size, round);
  const auto folded = sum_of(size, count * size, round);
  const std::vector<int> share(folded.begin() + rank * count, folded.begin() + (rank + 1) * count);
  const std::vector<int> even(static_cast<std::size_t>(size), count);
  std::vector<int> places(static_cast<std::size_t>(size)), bytes(places.size());
  for (int r = 0; r < size; ++r) {
    places[static_cast<std::size_t>(r)] = r * count;
    bytes[static_cast<std::size_t>(r)] = r * count * static_cast<int>(sizeof(int));
  }
  const auto at_root = [&](const std::vector<int>& here) { return rank == root ? here : nothing; };
  std::vector<Case> list;
  list.push_back({"barrier",
                  {},
                  {},
                  {},
                  {},
                  {},
                  {},
                  [=](Case&, MPI_Request* q) { MPI_Ibarrier(comm, q); },
                  [=](Case&, MPI_Request* q) { MPIX_Barrier_init(comm, MPI_INFO_NULL, q); }});
  list.push_back(
      {"bcast",
       {},
       rank == root ? mine : room,
       numbers(root, count, round),
       {},
       {},
       {},
       [=](Case& c, MPI_Request* q) { MPI_Ibcast(c.out.data(), count, MPI_INT, root, comm, q); },
       [=](Case& c, MPI_Request* q) { MPIX_Bcast_init(c.out.data(), count, MPI_INT, root, comm, MPI_INFO_NULL, q); }});
  list.push_back(
      {"reduce",
       mine,
       at_root(room),
       at_root(sum_of(size, count, round)),
       {},
       {},
       {},
       [=](Case& c, MPI_Request* q) { MPI_Ireduce(c.in.data(), c.out.data(), count, MPI_INT, MPI_SUM, root, comm, q); },
       [=](Case& c, MPI_Request* q) {
         MPIX_Reduce_init(c.in.data(), c.out.data(), count, MPI_INT, MPI_SUM, root, comm, MPI_INFO_NULL, q);
       }});
  list.push_back(
      {"allreduce",
       mine,
       room,
       sum_of(size, count, round),
       {},
       {},
       {},
       [=](Case& c, MPI_Request* q) { MPI_Iallreduce(c.in.data(), c.out.data(), count, MPI_INT, MPI_SUM, comm, q); },
       [=](Case& c, MPI_Request* q) {
         MPIX_Allreduce_init(c.in.data(), c.out.data(), count, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, q);
       }});
  list.push_back(
      {"allreduce in place",
       {},
       mine,
       sum_of(size, count, round),
       {},
       {},
       {},
       [=](Case& c, MPI_Request* q) { MPI_Iallreduce(MPI_IN_PLACE, c.out.data(), count, MPI_INT, MPI_SUM, comm, q); },
       nullptr});
  list.push_back(
      {"scan",
       mine,
       room,
       sum_of(rank + 1, count, round),
       {},
       {},
       {},
       [=](Case& c, MPI_Request* q) { MPI_Iscan(c.in.data(), c.out.data(), count, MPI_INT, MPI_SUM, comm, q); },
       [=](Case& c, MPI_Request* q) {
         MPIX_Scan_init(c.in.data(), c.out.data(), count, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, q);
       }});
  list.push_back(
      {"exscan",
       mine,
       room,
       rank == 0 ? room : sum_of(rank, count, round),
       {},
       {},
       {},
       [=](Case& c, MPI_Request* q) { MPI_Iexscan(c.in.data(), c.out.data(), count, MPI_INT, MPI_SUM, comm, q); },
       [=](Case& c, MPI_Request* q) {
         MPIX_Exscan_init(c.in.data(), c.out.data(), count, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, q);
       }});
  list.push_back({"reduce_scatter_block",
                  given,
                  room,
                  share,
                  {},
                  {},
                  {},
                  [=](Case& c, MPI_Request* q) {
                    MPI_Ireduce_scatter_block(c.in.data(), c.out.data(), count, MPI_INT, MPI_SUM, comm, q);
                  },
                  [=](Case& c, MPI_Request* q) {
                    MPIX_Reduce_scatter_block_init(c.in.data(), c.out.data(), count, MPI_INT, MPI_SUM, comm,
                                                   MPI_INFO_NULL, q);
                  }});
  list.push_back({"reduce_scatter",
                  given,
                  room,
                  share,
                  even,
                  {},
                  {},
                  [=](Case& c, MPI_Request* q) {
                    MPI_Ireduce_scatter(c.in.data(), c.out.data(), c.counts.data(), MPI_INT, MPI_SUM, comm, q);
                  },
                  [=](Case& c, MPI_Request* q) {
                    MPIX_Reduce_scatter_init(c.in.data(), c.out.data(), c.counts.data(), MPI_INT, MPI_SUM, comm,
                                             MPI_INFO_NULL, q);
                  }});
  list.push_back({"gather",
                  mine,
                  at_root(much),
                  at_root(all),
                  {},
                  {},
                  {},
                  [=](Case& c, MPI_Request* q) {
                    MPI_Igather(c.in.data(), count, MPI_INT, c.out.data(), count, MPI_INT, root, comm, q);
                  },
                  [=](Case& c, MPI_Request* q) {
                    MPIX_Gather_init(c.in.data(), count, MPI_INT, c.out.data(), count, MPI_INT, root, comm,
                                     MPI_INFO_NULL, q);
                  }});
  list.push_back({"scatter",
                  at_root(all),
                  room,
                  mine,
                  {},
                  {},
                  {},
                  [=](Case& c, MPI_Request* q) {
                    MPI_Iscatter(c.in.data(), count, MPI_INT, c.out.data(), count, MPI_INT, root, comm, q);
                  },
                  [=](Case& c, MPI_Request* q) {
                    MPIX_Scatter_init(c.in.data(), count, MPI_INT, c.out.data(), count, MPI_INT, root, comm,
                                      MPI_INFO_NULL, q);
                  }});
  list.push_back({"allgather",
                  mine,
                  much,
                  all,
                  {},
                  {},
                  {},
                  [=](Case& c, MPI_Request* q) {
                    MPI_Iallgather(c.in.data(), count, MPI_INT, c.out.data(), count, MPI_INT, comm, q);
                  },
                  [=](Case& c, MPI_Request* q) {
                    MPIX_Allgather_init(c.in.data(), count, MPI_INT, c.out.data(), count, MPI_INT, comm, MPI_INFO_NULL,
                                        q);
                  }});
  list.push_back({"allgatherv",
                  mine,
                  much,
                  all,
                  even,
                  places,
                  {},
                  [=](Case& c, MPI_Request* q) {
                    MPI_Iallgatherv(c.in.data(), count, MPI_INT, c.out.data(), c.counts.data(), c.places.data(),
                                    MPI_INT, comm, q);
                  },
                  [=](Case& c, MPI_Request* q) {
                    MPIX_Allgatherv_init(c.in.data(), count, MPI_INT, c.out.data(), c.counts.data(), c.places.data(),
                                         MPI_INT, comm, MPI_INFO_NULL, q);
                  }});
  list.push_back({"gatherv",
                  mine,
                  at_root(much),
                  at_root(all),
                  even,
                  places,
                  {},
                  [=](Case& c, MPI_Request* q) {
                    MPI_Igatherv(c.in.data(), count, MPI_INT, c.out.data(), c.counts.data(), c.places.data(), MPI_INT,
                                 root, comm, q);
                  },
                  [=](Case& c, MPI_Request* q) {
                    MPIX_Gatherv_init(c.in.data(), count, MPI_INT, c.out.data(), c.counts.data(), c.places.data(),
                                      MPI_INT, root, comm, MPI_INFO_NULL, q);
                  }});
  list.push_back({"scatterv",
                  at_root(all),
                  room,
                  mine,
                  even,
                  places,
                  {},
                  [=](Case& c, MPI_Request* q) {
                    MPI_Iscatterv(c.in.data(), c.counts.data(), c.places.data(), MPI_INT, c.out.data(), count, MPI_INT,
                                  root, comm, q);
                  },
                  [=](Case& c, MPI_Request* q) {
                    MPIX_Scatterv_init(c.in.data(), c.counts.data(), c.places.data(), MPI_INT, c.out.data(), count,
                                       MPI_INT, root, comm, MPI_INFO_NULL, q);
                  }});
  list.push_back({"alltoall",
                  given,
                  much,
                  turned,
                  {},
                  {},
                  {},
                  [=](Case& c, MPI_Request* q) {
                    MPI_Ialltoall(c.in.data(), count, MPI_INT, c.out.data(), count, MPI_INT, comm, q);
                  },
                  [=](Case& c, MPI_Request* q) {
                    MPIX_Alltoall_init(c.in.data(), count, MPI_INT, c.out.data(), count, MPI_INT, comm, MPI_INFO_NULL,
                                       q);
                  }});
  list.push_back({"alltoallv",
                  given,
                  much,
                  turned,
                  even,
                  places,
                  {},
                  [=](Case& c, MPI_Request* q) {
                    MPI_Ialltoallv(c.in.data(), c.counts.data(), c.places.data(), MPI_INT, c.out.data(),
                                   c.counts.data(), c.places.data(), MPI_INT, comm, q);
                  },
                  [=](Case& c, MPI_Request* q) {
                    MPIX_Alltoallv_init(c.in.data(), c.counts.data(), c.places.data(), MPI_INT, c.out.data(),
                                        c.counts.data(), c.places.data(), MPI_INT, comm, MPI_INFO_NULL, q);
                  }});
  list.push_back({"alltoallw", given, much, turned, even, bytes, std::vector<MPI_Datatype>(even.size(), MPI_INT),
                  [=](Case& c, MPI_Request* q) {
                    MPI_Ialltoallw(c.in.data(), c.counts.data(), c.places.data(), c.types.data(), c.out.data(),
                                   c.counts.data(), c.places.data(), c.types.data(), comm, q);
                  },
                  [=](Case& c, MPI_Request* q) {
                    MPIX_Alltoallw_init(c.in.data(), c.counts.data(), c.places.data(), c.types.data(), c.out.data(),
                                        c.counts.data(), c.places.data(), c.types.data(), comm, MPI_INFO_NULL, q);
                  }});
  return list;
}

/// A blocking collective in between.
void in_between(MPI_Comm comm) {
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  expect(sum == size, "a blocking all-reduce in between");
}

/// All at once; the requests are waited for in an order that `turn` chooses.
void all_at_once(MPI_Comm comm, int count, int turn) {
  std::vector<Case> list = cases(comm, count, turn);
  std::vector<MPI_Request> requests(list.size(), MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < list.size(); ++i) {
    list[i].nonblocking(list[i], &requests[i]);
    if (i == list.size() / 2) in_between(comm);
  }
  switch (turn % 4) {
    case 0: MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE); break;
    case 1:
      for (std::size_t i = requests.size(); i-- > 0;) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      break;
    case 2:
      for (auto& request : requests) {
        for (int done = 0; done == 0;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      }
      break;
    default:
      for (std::size_t i = 0; i < requests.size(); ++i) {
        int which = 0;
        MPI_Waitany(static_cast<int>(requests.size()), requests.data(), &which, MPI_STATUS_IGNORE);
        expect(which != MPI_UNDEFINED, "MPI_Waitany");
      }
  }
  for (const Case& each : list) expect(each.out == each.wanted, each.name);
}

/// Planned once, started again and again with other data in the same buffers.
void persistent(MPI_Comm comm, int count) {
  std::vector<Case> list = cases(comm, count, 0);
  std::erase_if(list, [](const Case& each) { return !each.persistent; });
  std::vector<MPI_Request> requests(list.size(), MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < list.size(); ++i) list[i].persistent(list[i], &requests[i]);
  for (int round = 0; round < 3 * size; round += size) {  // the same roots
    std::vector<Case> fresh = cases(comm, count, round);
    std::erase_if(fresh, [](const Case& each) { return !each.persistent; });
    for (std::size_t i = 0; i < list.size(); ++i) {
      std::copy(fresh[i].in.begin(), fresh[i].in.end(), list[i].in.begin());
      std::copy(fresh[i].out.begin(), fresh[i].out.end(), list[i].out.begin());
    }
    if (round == 0) MPI_Startall(static_cast<int>(requests.size()), requests.data());
    else
      for (auto& request : requests) {
        MPI_Start(&request);
        if (round > size) MPI_Wait(&request, MPI_STATUS_IGNORE);
      }
    in_between(comm);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (std::size_t i = 0; i < list.size(); ++i)
      expect(list[i].out == fresh[i].wanted, "persistent " + list[i].name + " in round " + std::to_string(round));
  }
  for (auto& request : requests) MPI_Request_free(&request);
}

/// Rank 0 sits in a receive for what the last rank sends after its own wait, which needs what rank 0 has yet to send.
void under_a_receive(MPI_Comm comm, int count) {
  std::vector<int> data = rank == 0 ? numbers(0, count, 1) : std::vector<int>(static_cast<std::size_t>(count));
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(data.data(), count, MPI_INT, 0, comm, &request);
  int token = 0;
  if (rank == 0) MPI_Recv(&token, 1, MPI_INT, size - 1, 7, comm, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(data == numbers(0, count, 1), "a broadcast under a receive");
  if (rank == size - 1) MPI_Send(&token, 1, MPI_INT, 0, 7, comm);
}

/// Elements that lie apart, of a type that is freed while the call goes on; and an operation of the program's.
void of_the_program(MPI_Comm comm) {
  constexpr int count = 50;
  MPI_Datatype apart = MPI_DATATYPE_NULL;
  MPI_Type_vector(count, 1, 3, MPI_INT, &apart);
  MPI_Type_commit(&apart);
  std::vector<int> data(3 * count, -1), wanted = data;
  const auto theirs = numbers(0, count, 5);
  for (int i = 0; i < count; ++i) wanted[static_cast<std::size_t>(3 * i)] = theirs[static_cast<std::size_t>(i)];
  if (rank == 0) data = wanted;
  MPI_Request requests[2];
  MPI_Ibcast(data.data(), 1, apart, 0, comm, &requests[0]);
  MPI_Type_free(&apart);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(
      [](void* in, void* inout, int* n, MPI_Datatype*) {
        for (int i = 0; i < *n; ++i)
          static_cast<int*>(inout)[i] = static_cast<int*>(in)[i] * 3 + static_cast<int*>(inout)[i];
      },
      0, &op);
  int mine = rank + 1, folded = 0, expected = 1;
  for (int r = 1; r < size; ++r) expected = expected * 3 + r + 1;
  MPI_Iallreduce(&mine, &folded, 1, MPI_INT, op, comm, &requests[1]);
  MPI_Op_free(&op);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  expect(data == wanted, "elements that lie apart");
  if (size == 2) expect(folded == expected, "an operation of the program's");  // it is not associative
}

/// A communicator is duplicated meanwhile: Open MPI makes collectives of its own for that, in its progress.
void while_duplicating(MPI_Comm comm) {
  for (int round = 0; round < 10; ++round) {
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Request requests[3];
    int one = 1, sum = 0;
    MPI_Comm_idup(comm, &copy, &requests[0]);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[1]);
    MPI_Ibarrier(comm, &requests[2]);  // no later one: Open MPI's own would be numbered between them, and hang natively
    if (round % 2 == 0) in_between(comm);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    expect(sum == size, "an all-reduce while duplicating");
    in_between(copy);
    MPI_Comm_free(&copy);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 20; ++i) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm other = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  in_between(other);
  const bool starts = argc == 1;
  for (const int count : {1, 100, 5000}) {
    for (int turn = 0; turn < 4; ++turn) all_at_once(turn % 2 == 0 ? MPI_COMM_WORLD : other, count, turn);
    if (starts) persistent(MPI_COMM_WORLD, count);
  }
  if (starts) persistent(MPI_COMM_WORLD, 50'000);
  under_a_receive(MPI_COMM_WORLD, 1'000'000);
  of_the_program(MPI_COMM_WORLD);
  while_duplicating(MPI_COMM_WORLD);
  MPI_Comm_free(&other);
  in_between(MPI_COMM_WORLD);
  if (rank == 0) std::printf("what goes on by itself on %d ranks: right\n", size);
  MPI_Finalize();
}
