// SPDX-License-Identifier: MIT
// beside [what [number]]: communicators that see nothing but non-blocking collectives, prepared by the component beside them. No call may wait for
// another rank in itself: the late rank here comes only after it has heard of the others that they have called.
// what: all, many (number communicators), failing (no memory can be shared from now on), random (number rounds), topology (the same on communicators
// that have one), freed (before they are waited for), threads (with MPI_THREAD_MULTIPLE).
#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "mpi-ext.h"

namespace {

int rank = 0, size = 1;

void expect(bool good, const std::string& what) {
  if (good) return;
  std::fprintf(stderr, "rank %d: wrong: %s\n", rank, what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// Chance, the same on all ranks, or each rank's own.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  int below(int n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int>((state_ >> 33) % static_cast<unsigned>(n));
  }

 private:
  std::uint64_t state_;
};

/// Whom a rank of a communicator with a topology gives something, and from whom it takes.
struct Neighbours {
  std::vector<int> to, from;
};
/// A rank gives the next one, and rank 0 all others. No edge is there twice.
Neighbours in_a_dist_graph(int here, int ranks) {
  Neighbours found;
  const auto gives = [&](int r, int other) { return r != other && (r == 0 || (r + 1) % ranks == other); };
  for (int r = 0; r < ranks; ++r) {
    if (gives(here, r)) found.to.push_back(r);
    if (gives(r, here)) found.from.push_back(r);
  }
  return found;
}
Neighbours neighbours(MPI_Comm comm) {
  int kind = MPI_UNDEFINED, here = 0, ranks = 1;
  MPI_Topo_test(comm, &kind);
  MPI_Comm_rank(comm, &here);
  MPI_Comm_size(comm, &ranks);
  if (kind == MPI_UNDEFINED) return {};
  if (kind == MPI_DIST_GRAPH) return in_a_dist_graph(here, ranks);
  std::vector<int> both{(here + ranks - 1) % ranks, (here + 1) % ranks};
  if (kind == MPI_GRAPH && ranks == 2) both.pop_back();
  return {both, both};
}

/// Those in place of `comm`, by turns: a ring, a graph, one whose ranks give more or fewer than they take.
MPI_Comm with_topology(MPI_Comm comm, int which) {
  int here = 0, ranks = 1;
  MPI_Comm_rank(comm, &here);
  MPI_Comm_size(comm, &ranks);
  MPI_Comm made = MPI_COMM_NULL;
  if (which % 3 == 0) {
    const int around = 1;
    MPI_Cart_create(comm, 1, &ranks, &around, 0, &made);
  } else if (which % 3 == 1) {
    std::vector<int> ends, edges;
    for (int r = 0; r < ranks; ++r) {
      edges.push_back((r + ranks - 1) % ranks);
      if (ranks > 2) edges.push_back((r + 1) % ranks);
      ends.push_back(static_cast<int>(edges.size()));
    }
    MPI_Graph_create(comm, ranks, ends.data(), edges.data(), 0, &made);
  } else {
    const Neighbours mine = in_a_dist_graph(here, ranks);
    MPI_Dist_graph_create_adjacent(comm, static_cast<int>(mine.from.size()), mine.from.data(), MPI_UNWEIGHTED,
                                   static_cast<int>(mine.to.size()), mine.to.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &made);
  }
  MPI_Comm_free(&comm);
  return made;
}

/// A non-blocking collective with its data, which says what it must bring.
class Call {
 public:
  static constexpr int kKinds = 9, kKindsWithNeighbours = 14;

  Call(MPI_Comm comm, int number, int kind, int count) : what_(kind), count_(count) {
    int here = 0, ranks = 1;
    MPI_Comm_rank(comm, &here);
    MPI_Comm_size(comm, &ranks);
    const int root = number % ranks;
    const auto n = static_cast<std::size_t>(count), all = n * static_cast<std::size_t>(ranks);
    const auto value = [&](int r, std::size_t i) { return number * 31 + r * 7 + static_cast<int>(i); };
    const auto block = [&](int r) {
      std::vector<int> data(n);
      for (std::size_t i = 0; i < n; ++i) data[i] = value(r, i);
      return data;
    };
    const auto blocks = [&] {
      std::vector<int> data;
      for (int r = 0; r < ranks; ++r) {
        const auto one = block(r);
        data.insert(data.end(), one.begin(), one.end());
      }
      return data;
    };
    const auto sum = [&](int first, int last) {
      std::vector<int> data(n, 0);
      for (int r = first; r < last; ++r) {
        for (std::size_t i = 0; i < n; ++i) data[i] += value(r, i);
      }
      return data;
    };
    in_ = block(here);
    switch (kind) {
      case 0: MPI_Ibarrier(comm, &request); return;
      case 1:
        out_ = here == root ? block(root) : std::vector<int>(n, -1);
        right_ = block(root);
        MPI_Ibcast(out_.data(), count, MPI_INT, root, comm, &request);
        return;
      case 2:
        out_.assign(n, -1);
        right_ = sum(0, ranks);
        MPI_Iallreduce(in_.data(), out_.data(), count, MPI_INT, MPI_SUM, comm, &request);
        return;
      case 3:
        out_.assign(n, -1);
        right_ = here == root ? sum(0, ranks) : out_;
        MPI_Ireduce(in_.data(), out_.data(), count, MPI_INT, MPI_SUM, root, comm, &request);
        return;
      case 4:
        out_.assign(all, -1);
        right_ = blocks();
        MPI_Iallgather(in_.data(), count, MPI_INT, out_.data(), count, MPI_INT, comm, &request);
        return;
      case 5:
        out_.assign(n, -1);
        right_ = sum(0, here + 1);
        MPI_Iscan(in_.data(), out_.data(), count, MPI_INT, MPI_SUM, comm, &request);
        return;
      case 6: {  // the arrays live no longer than the call, as in Fortran's bindings
        std::vector<int> counts(static_cast<std::size_t>(ranks), count), places;
        for (int r = 0; r < ranks; ++r) places.push_back(r * count);
        in_ = blocks();
        out_.assign(all, -1);
        for (int r = 0; r < ranks; ++r) {
          for (std::size_t i = 0; i < n; ++i) right_.push_back(value(here, i));
        }
        MPI_Ialltoallv(in_.data(), counts.data(), places.data(), MPI_INT, out_.data(), counts.data(), places.data(),
                       MPI_INT, comm, &request);
        counts.assign(counts.size(), -7);
        places.assign(places.size(), -7);
        return;
      }
      case 7: {
        std::vector<int> counts(static_cast<std::size_t>(ranks), count), places;
        for (int r = 0; r < ranks; ++r) places.push_back(r * count);
        out_.assign(here == root ? all : 0, -1);
        if (here == root) right_ = blocks();
        const int* const elsewhere = reinterpret_cast<const int*>(std::uintptr_t{64});  // counts at the root alone
        MPI_Igatherv(in_.data(), count, MPI_INT, out_.data(), here == root ? counts.data() : elsewhere,
                     here == root ? places.data() : elsewhere, MPI_INT, root, comm, &request);
        counts.assign(counts.size(), -7);
        return;
      }
      case 9:
      case 10:
      case 11:
      case 12:
      case 13: with_neighbours(comm, number, kind); return;
      default:  // so long that it is Open MPI's
        out_.assign(20'000, here == root ? number : -1);
        right_.assign(20'000, number);
        MPI_Ibcast(out_.data(), 20'000, MPI_INT, root, comm, &request);
    }
  }
  void check() const { expect(out_ == right_, "a call of kind " + std::to_string(what_)); }

  MPI_Request request = MPI_REQUEST_NULL;

 private:
  /// One number for each neighbour; the arrays live no longer than the call.
  void with_neighbours(MPI_Comm comm, int number, int kind) {
    int here = 0;
    MPI_Comm_rank(comm, &here);
    const Neighbours near = neighbours(comm);
    const auto what = [&](int from, int to) { return number * 31 + from * 7 + (kind < 11 ? 0 : to); };
    in_.clear();
    for (const int to : near.to) in_.push_back(what(here, to));
    if (kind < 11) in_ = {what(here, 0)};
    for (const int from : near.from) right_.push_back(what(from, here));
    out_.assign(near.from.size(), -1);
    std::vector<int> given(near.to.size(), 1), taken(near.from.size(), 1), from_where, to_where;
    std::vector<MPI_Aint> bytes_from, bytes_to;
    std::vector<MPI_Datatype> types_given(given.size(), MPI_INT), types_taken(taken.size(), MPI_INT);
    for (std::size_t i = 0; i < given.size(); ++i) from_where.push_back(static_cast<int>(i));
    for (std::size_t i = 0; i < taken.size(); ++i) to_where.push_back(static_cast<int>(i));
    for (const int each : from_where) bytes_from.push_back(each * MPI_Aint{sizeof(int)});
    for (const int each : to_where) bytes_to.push_back(each * MPI_Aint{sizeof(int)});
    switch (kind) {
      case 9: MPI_Ineighbor_allgather(in_.data(), 1, MPI_INT, out_.data(), 1, MPI_INT, comm, &request); break;
      case 10:
        MPI_Ineighbor_allgatherv(in_.data(), 1, MPI_INT, out_.data(), taken.data(), to_where.data(), MPI_INT, comm,
                                 &request);
        break;
      case 11: MPI_Ineighbor_alltoall(in_.data(), 1, MPI_INT, out_.data(), 1, MPI_INT, comm, &request); break;
      case 12:
        MPI_Ineighbor_alltoallv(in_.data(), given.data(), from_where.data(), MPI_INT, out_.data(), taken.data(),
                                to_where.data(), MPI_INT, comm, &request);
        break;
      default:
        MPI_Ineighbor_alltoallw(in_.data(), given.data(), bytes_from.data(), types_given.data(), out_.data(),
                                taken.data(), bytes_to.data(), types_taken.data(), comm, &request);
    }
    for (auto* const each : {&given, &taken, &from_where, &to_where}) each->assign(each->size(), -7);
    for (auto* const each : {&bytes_from, &bytes_to}) each->assign(each->size(), -7);
    for (auto* const each : {&types_given, &types_taken}) each->assign(each->size(), MPI_DATATYPE_NULL);
  }

  int what_, count_;
  std::vector<int> in_, out_, right_;
};

using Calls = std::vector<std::unique_ptr<Call>>;

void begin(Calls& calls, MPI_Comm comm, int from, int to, int count = 3) {
  const int kinds = neighbours(comm).from.empty() ? Call::kKinds : Call::kKindsWithNeighbours;
  for (int i = from; i < to; ++i) calls.push_back(std::make_unique<Call>(comm, i, i % kinds, count));
}
/// In an order of this rank's own.
void end(Calls& calls, std::uint64_t seed = 1) {
  Chance own(seed * 64 + static_cast<unsigned>(rank));
  for (; !calls.empty(); calls.pop_back()) {
    std::swap(calls[static_cast<std::size_t>(own.below(static_cast<int>(calls.size())))], calls.back());
    Call& one = *calls.back();
    if (own.below(2) == 0) {
      MPI_Wait(&one.request, MPI_STATUS_IGNORE);
    } else {
      for (int done = 0; done == 0;) MPI_Test(&one.request, &done, MPI_STATUS_IGNORE);
    }
    one.check();
  }
}

bool topologies = false;
MPI_Comm formed(MPI_Comm comm) {
  static int made = 0;
  return topologies ? with_topology(comm, made++) : comm;
}
MPI_Comm copy_of(MPI_Comm comm = MPI_COMM_WORLD) {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(comm, &copy);
  return comm == MPI_COMM_WORLD ? formed(copy) : copy;
}

// Messages on a communicator of their own: what is looked at sees collectives alone.
MPI_Comm aside = MPI_COMM_NULL;
void tell(int to) { MPI_Send(&rank, 1, MPI_INT, to, 5, aside); }
void hear(int from) {
  int word = 0;
  MPI_Recv(&word, 1, MPI_INT, from, 5, aside, MPI_STATUS_IGNORE);
}

/// The last rank makes a call when the others have told that they have made it.
void with_a_late_rank(int at_a_time) {
  MPI_Comm comm = copy_of();
  Calls calls;
  for (int first = 0; first < 48; first += at_a_time) {
    const bool late = rank == size - 1;
    if (late) {
      for (int r = 0; r + 1 < size; ++r) hear(r);
    }
    begin(calls, comm, first, first + at_a_time);
    if (!late) tell(size - 1);
    end(calls);
  }
  MPI_Comm_free(&comm);
}

/// Rank 0 asks for nothing, but sits in a receive for what the last rank sends after its own waits.
void under_a_receive() {
  MPI_Comm comm = copy_of();
  Calls calls;
  begin(calls, comm, 0, 45);
  if (rank == 0) hear(size - 1);
  end(calls);
  if (rank == size - 1) tell(0);
  MPI_Comm_free(&comm);
}

/// A rank waits in a blocking collective of another communicator, while others wait for what it has begun before.
void under_a_blocking_call() {
  MPI_Comm comm = copy_of(), other = copy_of();
  for (int i = 0; i < 20; ++i) MPI_Barrier(other);
  for (int round = 0; round < 3; ++round) {
    Calls calls;
    begin(calls, comm, 20 * round, 20 * round + 20);
    if (rank == 0) MPI_Barrier(other);
    end(calls);
    if (rank != 0) MPI_Barrier(other);
  }
  MPI_Comm_free(&comm);
  MPI_Comm_free(&other);
}

/// What waits may come in between, while calls are under way, also such as Open MPI makes for itself.
void with_others_in_between() {
  for (int when : {0, 3, 17, 20, 24, 25, 26, 40}) {
    for (int what = 0; what < 4; ++what) {
      MPI_Comm comm = copy_of(), copy = MPI_COMM_NULL;
      Calls calls;
      if (rank == size - 1 && when % 2 == 0) usleep(2000);
      begin(calls, comm, 0, when);
      int one = 1, sum = 0;
      MPI_Request request = MPI_REQUEST_NULL;
      if (what == 0) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
      if (what == 1) copy = copy_of(comm);
      if (what == 2) MPI_Comm_split(comm, 0, -rank, &copy);
      if (what == 3) MPIX_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
      begin(calls, comm, when, 50);
      if (what == 3) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
      }
      if (what == 0 || what == 3) expect(sum == size, "a sum in between");
      end(calls);
      if (copy != MPI_COMM_NULL) {
        begin(calls, copy, 0, 30);
        end(calls);
        MPI_Comm_free(&copy);
      }
      MPI_Comm_free(&comm);
    }
  }
}

/// Ranks give as many turns as each likes before the calls that wait: some hold them back, others know already. With CHASQUI_AFTER=2.
void after_own_turns(int rounds) {
  Chance own(static_cast<unsigned>(rank) + 3);
  int word = 0;
  MPI_Request never = MPI_REQUEST_NULL;
  MPI_Irecv(&word, 1, MPI_INT, rank, 6, aside, &never);
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm comm = copy_of();
    Calls calls;
    begin(calls, comm, 0, 4);
    int done = 0;
    for (int turns = own.below(60); turns > 0; --turns) MPI_Test(&never, &done, MPI_STATUS_IGNORE);
    if (topologies)
      begin(calls, comm, Call::kKinds - 2, Call::kKindsWithNeighbours);  // of ours, of Open MPI's, neighbours'
    begin(calls, comm, 4, 7);
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Request nothing = MPI_REQUEST_NULL;  // planned by Open MPI, whatever is served
    if (round % 2 == 0) copy = copy_of(comm);
    else MPIX_Bcast_init(&word, 0, MPI_INT, 0, comm, MPI_INFO_NULL, &nothing);
    begin(calls, comm, 7, 10);
    end(calls, static_cast<unsigned>(round));
    if (round % 2 == 0) MPI_Comm_free(&copy);
    else MPI_Request_free(&nothing);
    MPI_Comm_free(&comm);
  }
  MPI_Send(&rank, 1, MPI_INT, rank, 6, aside);
  MPI_Wait(&never, MPI_STATUS_IGNORE);
}

/// Freed before, while and after they are prepared; the next one gets the same number.
void freed_early(int rounds) {
  Chance chance(7);
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank % (1 + chance.below(2)), 0, &comm);
    Calls calls;
    begin(calls, comm, 0, chance.below(40));
    end(calls, static_cast<unsigned>(round));
    MPI_Comm_free(&comm);
  }
}

/// Two by two, over each other.
void many(int number) {
  std::vector<MPI_Comm> comms;
  for (int i = 0; i < number; ++i) comms.push_back(copy_of());
  for (int round = 0; round < 15; ++round) {
    Calls calls;
    for (const MPI_Comm comm : comms) begin(calls, comm, 2 * round, 2 * round + 2);
    end(calls, static_cast<unsigned>(round));
  }
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

/// Open MPI plans these, whatever is served.
void planned_with_neighbours(MPI_Comm comm) {
  int here = 0;
  MPI_Comm_rank(comm, &here);
  const Neighbours near = neighbours(comm);
  std::vector<int> all(near.from.size(), -1);
  MPI_Request request = MPI_REQUEST_NULL;
  MPIX_Neighbor_allgather_init(&here, 1, MPI_INT, all.data(), 1, MPI_INT, comm, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(all == near.from, "a planned one with neighbours");
  MPI_Request_free(&request);
}

/// Several communicators, each rank with breaks of its own.
void at_random(int rounds) {
  Chance chance(static_cast<unsigned>(rounds)), own(static_cast<unsigned>(rounds * 100 + rank));
  std::vector<MPI_Comm> comms;
  std::vector<Calls> calls;
  std::vector<int> made;
  const auto fresh = [&] {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, chance.below(3) == 0 ? rank % 2 : 0, chance.below(2) == 0 ? rank : -rank, &comm);
    comms.push_back(formed(comm));
    calls.emplace_back();
    made.push_back(0);
  };
  for (int round = 0; round < rounds; ++round) {
    if (comms.size() < 5) fresh();
    const auto which = static_cast<std::size_t>(chance.below(static_cast<int>(comms.size())));
    const int what = chance.below(60), more = 1 + chance.below(6), count = chance.below(200);
    begin(calls[which], comms[which], made[which], made[which] + more, count);
    made[which] += more;
    if (own.below(20) == 0) usleep(static_cast<unsigned>(own.below(3000)));
    if (own.below(3) == 0) end(calls[static_cast<std::size_t>(own.below(static_cast<int>(calls.size())))]);
    if (what == 0) {
      MPI_Comm copy = copy_of(comms[which]);
      MPI_Comm_free(&copy);
    }
    if (what == 1) MPI_Barrier(comms[which]);
    if (what > 56 && topologies) planned_with_neighbours(comms[which]);
    if (what == 2 || what == 3) {
      end(calls[which]);
      MPI_Comm_free(&comms[which]);
      comms.erase(comms.begin() + static_cast<std::ptrdiff_t>(which));
      calls.erase(calls.begin() + static_cast<std::ptrdiff_t>(which));
      made.erase(made.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
  for (Calls& each : calls) end(each);
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

/// Freed with requests that are held back. (Open MPI's own do not bear that.)
void freed_before_the_wait() {
  for (int round = 0; round < 20; ++round) {
    MPI_Comm comm = copy_of();
    Calls calls;
    begin(calls, comm, 0, 24);
    end(calls);
    for (int i = 24; i < 36; ++i) calls.push_back(std::make_unique<Call>(comm, i, i % 8, 3));
    MPI_Comm_free(&comm);
    end(calls, static_cast<unsigned>(round));
  }
}

/// MPI_Finalize comes while it is prepared.
void not_to_the_end() {
  MPI_Comm comm = copy_of();
  Calls calls;
  begin(calls, comm, 0, 18);
  if (rank != 0) end(calls);
  begin(calls, comm, 18, 19);
  end(calls);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "all";
  const int number = argc > 2 ? std::atoi(argv[2]) : 100;
  int level = 0;
  MPI_Init_thread(&argc, &argv, what == "threads" ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &aside);
  topologies = what == "topology";
  if (what == "failing" && rank == 0) {
    const rlimit nothing{0, 0};
    std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &nothing);
  }
  if (what == "many") {
    many(number);
  } else if (what == "random" || topologies) {
    if (topologies) {
      for (int each = 0; each < 3; ++each) with_a_late_rank(48);
      after_own_turns(number / 2);
    }
    at_random(number);
  } else if (what == "freed") {
    freed_before_the_wait();
  } else {
    with_a_late_rank(1);
    with_a_late_rank(48);
    under_a_receive();
    under_a_blocking_call();
    with_others_in_between();
    after_own_turns(2 * number);
    freed_early(number);
    not_to_the_end();
  }
  MPI_Comm_free(&aside);
  if (rank == 0) std::printf("beside others on %d ranks: right\n", size);
  MPI_Finalize();
}
