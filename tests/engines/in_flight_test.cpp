// SPDX-License-Identifier: MIT
// Collectives in flight on several communicators: whichever is waited for, all go on.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/run/choose.hpp"
#include "chasqui/threads/team.hpp"
#include "run/comm/fabric.hpp"
#include "threads/channels.hpp"

namespace chasqui::run {
namespace {

void expect_sum(const std::vector<long>& sums, long right) {
  for (const long each : sums) {
    if (each != right) throw Error("a sum is {}, not {}", each, right);
  }
}

TEST(InFlight, RequestsOfSeveralCommunicatorsInAnyOrder) {
  for (const int ranks : {2, 3, 5}) {
    for (const std::size_t count : {1, 100, 3000, 100'000}) {
      threads::Team(ranks).run([&](Comm& comm) {
        const auto other = comm.split(0, -comm.rank());
        const auto half = comm.split(comm.rank() % 2, 0);
        const std::vector<long> ones(count, 1);
        std::vector<long> a(count), b(count), c(count);
        std::vector<Request> requests;
        requests.push_back(comm.iallreduce(ones, a));
        requests.push_back(other->iallreduce(ones, b));
        requests.push_back(half->iallreduce(ones, c));
        for (std::size_t i = 0; i < 3; ++i) requests[(i + static_cast<std::size_t>(comm.rank())) % 3].wait();
        expect_sum(a, ranks);
        expect_sum(b, ranks);
        expect_sum(c, half->size());
      });
    }
  }
}

TEST(InFlight, ABlockingCallAdvancesTheOthers) {
  threads::Team(3).run([](Comm& comm) {
    const auto other = comm.split(0, 0);
    const std::vector<long> ones(5000, 1);
    std::vector<long> sums(5000);
    auto request = other->iallreduce(ones, sums);
    if (comm.rank() == 0) request.wait();  // the others come to it in the barrier
    comm.barrier();
    request.wait();
    expect_sum(sums, 3);
  });
}

/// In the midst of a long fold, whose parts others would overwrite in a buffer of the thread.
TEST(InFlight, AnOperatorThatCallsACollective) {
  threads::Team(3).run([](Comm& comm) {
    const auto inner = comm.split(0, comm.rank());
    const std::vector<long> ones(6000, 1);
    std::vector<long> sums(6000), others(6000);
    int calls = 0;
    comm.allreduce(ones, sums, [&](long a, long b) {
      // Rank 0's and 1's of the first piece are folded.
      if (++calls == 1025) inner->allreduce(ones, others, commuting([](long x, long y) { return x + y; }));
      return a + b;
    });
    expect_sum(sums, 3);
    expect_sum(others, 3);
  });
}

/// While another communicator is waited for, and so that it cannot end at once.
TEST(InFlight, AnOperatorThatStartsACollectiveBesideAWait) {
  threads::Team(2).run([](Comm& comm) {
    const auto folded = comm.split(0, comm.rank()), waited = comm.split(0, comm.rank()),
               third = comm.split(0, comm.rank());
    const auto first_is_late = [&] {
      if (comm.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    };
    const std::vector<long> ones(40'000, 1);
    std::vector<long> sums(40'000);
    bool calls = true;
    first_is_late();
    Request request = folded->iallreduce(ones, sums, [&](long a, long b) {
      if (std::exchange(calls, false)) {
        first_is_late();
        third->ibarrier().wait();
      }
      return a + b;
    });
    waited->barrier();
    request.wait();
    expect_sum(sums, 2);
  });
}

TEST(InFlight, ACommunicatorMayGoToAnotherThread) {
  auto comms = threads::make_comms(2, nullptr);
  auto others = threads::make_comms(2, nullptr);
  const std::vector<long> ones(5000, 1);
  std::vector<std::vector<long>> sums(4, std::vector<long>(5000));
  std::vector<Request> requests(2);
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < 2; ++r) {
    threads.emplace_back([&, r] {
      requests[r] = comms[r]->iallreduce(ones, sums[r]);
      std::thread second([&, r] { requests[r].wait(); });  // while the first one waits in the other communicator
      others[r]->allreduce(ones, sums[2 + r]);
      second.join();
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& each : sums) expect_sum(each, 2);
}

TEST(InFlight, AFailureIsTheFailedRequestsOwn) {
  threads::Team(2).run([](Comm& comm) {
    const auto other = comm.split(0, 0);
    const std::vector<long> ones(1, 1);
    std::vector<long> sums(1);
    auto request = other->iallreduce(ones, sums, [](long, long) -> long { throw Error("tired"); });
    if (comm.rank() == 0) comm.barrier();
    std::string heard;
    try {
      request.wait();
    } catch (const Error& error) {
      heard = error.what();
    }
    if (comm.rank() == 1) comm.barrier();
    if (heard.find("tired") == std::string::npos) throw Error("heard: {}", heard);
    comm.barrier();
  });
}

/// In element j of call i every rank brings i + j.
struct ManyCalls {
  static constexpr std::size_t kCount = 64;

  explicit ManyCalls(std::size_t calls) : in(calls + kCount), out(calls * kCount) {
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<double>(i);
  }
  std::size_t calls() const { return in.size() - kCount; }
  void start(Comm& comm) {
    for (std::size_t i = 0; i < calls(); ++i) {
      requests.push_back(comm.iallreduce(std::span<const double>(in).subspan(i, kCount),
                                         std::span<double>(out).subspan(i * kCount, kCount)));
    }
  }
  std::size_t wrong(int ranks) const {
    std::size_t found = 0;
    for (std::size_t i = 0; i < calls(); ++i) {
      for (std::size_t j = 0; j < kCount; ++j) {
        if (out[i * kCount + j] != ranks * static_cast<double>(i + j)) {
          ++found;
          break;
        }
      }
    }
    return found;
  }

  std::vector<double> in, out;
  std::vector<Request> requests;
};

/// More calls than there are tags. Programs ask for messages as they go on: of two phases here, or the broadcast after
/// the fold.
TEST(InFlight, MoreThanThereAreTagsAndOneRankLate) {
  constexpr int kRanks = 4;
  for (const Choice& choice : {Choice{Method::exchange, 0, 2, {}}, Choice{Method::tree, 0, 1, {}}}) {
    auto comms = threads::make_comms(kRanks, nullptr, false);
    std::vector<ManyCalls> ranks(kRanks, ManyCalls(2500));
    std::vector<std::thread> threads;
    for (std::size_t r = 0; r < kRanks; ++r) {
      threads.emplace_back([&, r] {
        comms[r]->force(choice);
        if (r == 3) std::this_thread::sleep_for(std::chrono::milliseconds(300));
        ranks[r].start(*comms[r]);
        for (auto& request : ranks[r].requests) request.wait();
      });
    }
    for (auto& thread : threads) thread.join();
    for (const auto& rank : ranks) EXPECT_EQ(rank.wrong(kRanks), 0U) << to_string(choice.method);
  }
}

/// Counts how often it is asked for messages.
class Counting final : public Transport {
 public:
  Counting(std::shared_ptr<threads::ChannelMemory> memory, int rank) : channels_(std::move(memory), rank) {}

  Ticket send(int to, std::uint32_t tag, const void* data, std::size_t bytes) override {
    return channels_.send(to, tag, data, bytes);
  }
  Ticket receive(int from, std::uint32_t tag, void* data, std::size_t bytes) override {
    return channels_.receive(from, tag, data, bytes);
  }
  bool done(Ticket ticket) override { return ++asked, channels_.done(ticket); }
  void abandon(Ticket ticket) override { ++abandoned, channels_.abandon(ticket); }

  std::size_t asked = 0, abandoned = 0;

 private:
  threads::ChannelTransport channels_;
};

/// One of two ranks, by messages alone.
std::unique_ptr<Comm> one_of_two(const std::shared_ptr<Counting>& transport, int rank) {
  Fabric fabric;
  fabric.rank = rank;
  fabric.size = 2;
  fabric.messages = transport;
  fabric.shares_memory = true;
  fabric.crowded = true;
  auto comm = make_comm(std::move(fabric));
  comm->force({Method::exchange, 0, 2, {}});
  return comm;
}

/// As when an exception is on its way, and the requests were declared before the communicator.
TEST(InFlight, WhatARequestWaitsForEndsWithItsCommunicator) {
  const auto transport = std::make_shared<Counting>(std::make_shared<threads::ChannelMemory>(2), 0);
  const std::vector<long> ones(100, 1);
  std::vector<long> sums(ones.size());
  Request request;
  {
    const auto comm = one_of_two(transport, 0);
    request = comm->iallreduce(ones, sums);
    EXPECT_FALSE(request.test());
    EXPECT_EQ(transport->abandoned, 0U);
  }
  EXPECT_NE(transport->abandoned, 0U) << "the messages may be gone before the request";
}

/// A start asks for a few of those in flight, however many they are.
TEST(InFlight, StartingDoesNotWalkAllThatIsPending) {
  for (const std::size_t calls : {250, 500, 1000, 4000}) {
    const auto memory = std::make_shared<threads::ChannelMemory>(2);
    std::vector<std::shared_ptr<Counting>> transports;
    std::vector<std::unique_ptr<Comm>> comms;
    std::vector<ManyCalls> ranks(2, ManyCalls(calls));
    for (int r = 0; r < 2; ++r) {
      transports.push_back(std::make_shared<Counting>(memory, r));
      comms.push_back(one_of_two(transports.back(), r));
    }
    for (std::size_t r = 0; r < 2; ++r) {
      ranks[r].start(*comms[r]);
      EXPECT_LE(transports[r]->asked, 16 * calls);
    }
    std::thread other([&] {
      for (auto& request : ranks[1].requests) request.wait();
    });
    for (auto& request : ranks[0].requests) request.wait();
    other.join();
    for (const auto& rank : ranks) EXPECT_EQ(rank.wrong(2), 0U);
  }
}

}  // namespace
}  // namespace chasqui::run
