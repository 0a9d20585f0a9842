// SPDX-License-Identifier: MIT
// Collectives in flight on several communicators: whichever is waited for, all go on.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/threads/team.hpp"

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

}  // namespace
}  // namespace chasqui::run
