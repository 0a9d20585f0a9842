// SPDX-License-Identifier: MIT
// stress [seed]: thousands of non-blocking collectives on dozens of communicators. Each rank starts them in an order of its own (on one
// communicator they come as on all its ranks), asks for some, makes blocking ones meanwhile, and waits in another order of its own.
#include <algorithm>
#include <random>

#include "check.hpp"

namespace {

using namespace conformance;

enum class Kind { allreduce, broadcast, scan, allgather };
constexpr int kKinds = 4;

/// One collective with its buffers, and what comes out.
class Flight {
 public:
  Flight(std::uint64_t draw, MPI_Comm comm, int number)
      : comm_(comm), me_(comm), kind_(static_cast<Kind>(draw % kKinds)), number_(number),
        count_(draw >> 60 == 0 ? 3000 : 1 + static_cast<int>(draw >> 8 & 15)),
        root_(static_cast<int>((draw >> 32) % static_cast<unsigned>(me_.size))), in_(index(count_)),
        out_(index(count_ * (kind_ == Kind::allgather ? me_.size : 1)), -1) {
    for (int i = 0; i < count_; ++i) in_[index(i)] = value(me_.rank, i);
    if (kind_ == Kind::broadcast && me_.rank == root_) out_ = in_;
  }

  void start() {
    switch (kind_) {
      case Kind::allreduce: MPI_Iallreduce(in_.data(), out_.data(), count_, MPI_INT, MPI_SUM, comm_, &request_); break;
      case Kind::broadcast: MPI_Ibcast(out_.data(), count_, MPI_INT, root_, comm_, &request_); break;
      case Kind::scan: MPI_Iscan(in_.data(), out_.data(), count_, MPI_INT, MPI_SUM, comm_, &request_); break;
      case Kind::allgather: MPI_Iallgather(in_.data(), count_, MPI_INT, out_.data(), count_, MPI_INT, comm_, &request_);
    }
  }
  void run() {
    switch (kind_) {
      case Kind::allreduce: MPI_Allreduce(in_.data(), out_.data(), count_, MPI_INT, MPI_SUM, comm_); break;
      case Kind::broadcast: MPI_Bcast(out_.data(), count_, MPI_INT, root_, comm_); break;
      case Kind::scan: MPI_Scan(in_.data(), out_.data(), count_, MPI_INT, MPI_SUM, comm_); break;
      case Kind::allgather: MPI_Allgather(in_.data(), count_, MPI_INT, out_.data(), count_, MPI_INT, comm_);
    }
  }
  void ask() {
    int done = 0;
    MPI_Test(&request_, &done, MPI_STATUS_IGNORE);
  }
  void wait() { MPI_Wait(&request_, MPI_STATUS_IGNORE); }

  void check() const {
    const auto sum = [&](int ranks, int at) {
      int all = 0;
      for (int r = 0; r < ranks; ++r) all += value(r, at);
      return all;
    };
    for (int i = 0; i < static_cast<int>(out_.size()); ++i) {
      const int right = kind_ == Kind::broadcast   ? value(root_, i)
                        : kind_ == Kind::allgather ? value(i / count_, i % count_)
                                                   : sum(kind_ == Kind::scan ? me_.rank + 1 : me_.size, i);
      equal("a number", out_[index(i)], right);
    }
  }

 private:
  int value(int rank, int at) const { return number_ % 10'000 * 1000 + rank * 101 + at % 97; }

  MPI_Comm comm_;
  Place me_;
  Kind kind_;
  int number_, count_, root_;
  std::vector<int> in_, out_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

constexpr int kComms = 30, kOnEach = 20, kPhases = 4;

/// The next of each communicator's calls, of a communicator that is left to chance.
std::vector<std::pair<int, int>> order_of_starts(std::mt19937_64& own) {
  std::vector<int> turns, next(index(kComms));
  for (int i = 0; i < kComms * kOnEach; ++i) turns.push_back(i % kComms);
  std::shuffle(turns.begin(), turns.end(), own);
  std::vector<std::pair<int, int>> order;
  for (const int comm : turns) order.emplace_back(comm, next[index(comm)]++);
  return order;
}

void phase(const std::vector<MPI_Comm>& comms, std::mt19937_64& common, std::mt19937_64& own) {
  std::vector<std::vector<Flight>> flights(comms.size());
  for (int i = 0; i < kOnEach; ++i) {
    for (std::size_t c = 0; c < comms.size(); ++c)
      flights[c].emplace_back(common(), comms[c], i * kComms + static_cast<int>(c));
  }
  std::vector<Flight*> started;
  for (const auto& [comm, number] : order_of_starts(own)) {
    started.push_back(&flights[index(comm)][index(number)]);
    started.back()->start();
    if (own() % 4 == 0) started[own() % started.size()]->ask();
  }
  for (int i = 0; i < 3 * kComms; ++i) {  // in one order everywhere: they wait for each other
    const std::uint64_t draw = common();
    Flight flight(draw >> 4, comms[draw % comms.size()], 5000 + i);
    flight.run();
    flight.check();
  }
  std::shuffle(started.begin(), started.end(), own);
  for (Flight* const flight : started) {
    flight->wait();
    flight->check();
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Place me(MPI_COMM_WORLD);
  const std::uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 15;
  if (me.rank == 0) std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  std::mt19937_64 common(seed), own(seed + 1000 + static_cast<std::uint64_t>(me.rank));
  std::vector<MPI_Comm> comms(index(kComms));
  for (int i = 0; i < kComms; ++i)
    MPI_Comm_split(MPI_COMM_WORLD, i % 3 == 0 ? me.rank % 2 : 0, i % 2 == 0 ? 0 : -me.rank, &comms[index(i)]);
  part = "many requests";
  for (int i = 0; i < kPhases; ++i) phase(comms, common, own);
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  if (me.rank == 0)
    std::printf("%d requests on %d communicators of %d ranks: right\n", kPhases * kComms * kOnEach, kComms, me.size);
  MPI_Finalize();
  return 0;
}
