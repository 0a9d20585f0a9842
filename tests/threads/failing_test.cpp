// SPDX-License-Identifier: MIT
// Memory that cannot be had: each allocation of one rank fails once in turn, inside splits, short and long calls, and calls in
// flight. Results are right, or every rank is told; nobody waits for ever.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/sum.hpp"
#include "chasqui/run/choose.hpp"
#include "chasqui/run/sum.hpp"
#include "chasqui/threads/team.hpp"
#include "failing_new.hpp"
#include "patience.hpp"

namespace {

thread_local int countdown = 0;  ///< the allocation of this thread that fails; 0: none does
std::atomic<int> failed{0};

}  // namespace

static bool allocation_fails() {
  if (countdown <= 0 || --countdown != 0) return false;
  ++failed;
  return true;
}

namespace chasqui::run {
namespace {

void expect_sum(const std::vector<long>& sums, long right) {
  for (const long each : sums) {
    if (each != right) throw Error("a sum is {}, not {}", each, right);
  }
}

/// True if the n-th allocation of rank 1 happened, and failed.
bool survived(int n) {
  failed = 0;
  const std::vector<long> ones(40'000, 1), few(3, 1);
  threads::Team team(3);
  try {
    team.run([&](Comm& comm) {
      std::vector<long> sums(ones.size()), short_sums(few.size()), messages(few.size()), long_messages(ones.size());
      std::vector<long> gathered(3 * few.size());
      if (comm.rank() == 1) countdown = n;
      comm.allreduce(few, short_sums);
      comm.allreduce(ones, sums);
      auto request = comm.iallreduce(ones, sums);
      comm.allgather(few, gathered);
      request.wait();
      comm.scan(ones, long_messages);
      const auto part = comm.split(0, -comm.rank());
      part->force(Choice{Method::exchange, 0, 2, {}});
      part->allreduce(few, messages);
      part->allreduce(ones, long_messages);
      countdown = 0;
      expect_sum(sums, 3);
      expect_sum(short_sums, 3);
      expect_sum(messages, 3);
      expect_sum(long_messages, 3);
    });
  } catch (const std::bad_alloc&) {  // the failed rank's own
    EXPECT_EQ(failed, 1);
  } catch (const Error& error) {
    EXPECT_EQ(failed, 1) << error.what();
  }
  countdown = 0;
  return failed == 1;
}

TEST(Failing, EachAllocationOnce) {
  alarm(120 * kPatience);  // a hang is a failure
  int n = 1;
  while (survived(n)) ++n;
  EXPECT_GT(n, 10) << "hardly anything was allocated";
  std::printf("%d allocations failed in turn\n", n - 1);
}

/// A call in which every rank brings one number; what rank 0 gets, or all.
using SumOf = std::function<long(Comm&, long)>;

/// Two ranks make the same call again and again. The n-th allocation in the first call of rank 1 fails, and rank 1 goes on with the next
/// call. True if there was such an allocation.
bool nobody_is_mistaken(const SumOf& sum_of, bool with_board, int n) {
  constexpr int kCalls = 4;
  failed = 0;
  auto comms = threads::make_comms(2, nullptr, with_board);
  std::vector<std::string> wrong(2);
  const auto calls = [&](std::size_t rank) {
    const std::unique_ptr<Comm> comm = std::move(comms[rank]);
    bool has_failed = false;
    for (int i = 0; i < kCalls; ++i) {
      const long mine = 100 * i + 1;
      try {
        if (rank == 1 && i == 0) countdown = n;
        const long sum = sum_of(*comm, mine);
        countdown = 0;
        if (rank == 0 && sum != 2 * mine) wrong[rank] = fmt::format("call {}: {}, not {}", i, sum, 2 * mine);
        if (has_failed) wrong[rank] = fmt::format("call {} comes back after one that failed", i);
      } catch (const std::bad_alloc&) {
        countdown = 0;
        has_failed = true;
      } catch (const Error&) {
        countdown = 0;
      }
    }
  };
  std::thread other([&] { calls(1); });
  calls(0);
  other.join();
  for (const std::string& each : wrong) EXPECT_EQ(each, "") << "allocation " << n << (with_board ? ", board" : "");
  return failed == 1;
}

/// "After anything else every call fails": also where the program caught it.
TEST(Failing, WhoGoesOnAfterwardsIsNotMistakenForOneThatIsInTime) {
  alarm(120 * kPatience);
  const auto add = [](long a, long b) { return a + b; };
  const auto plan = plan::sum_operands(LogP{2, Time{1}, Time{0}, Time{1}}, 40);
  std::vector<std::vector<long>> numbers;
  for (const int rank : {0, 1}) numbers.emplace_back(plan->local({rank}).operands, 0);
  const std::vector<SumOf> ways = {[](Comm& comm, long mine) { return comm.allreduce(mine); },
                                   [](Comm& comm, long mine) {
                                     long in[4] = {mine, 0, mine, 0}, out[4] = {};
                                     comm.allreduce(Strided<const long>{in, 2, 2}, Strided<long>{out, 2, 2});
                                     return out[2];
                                   },
                                   [&](Comm& comm, long mine) {
                                     const std::span<const long> in(&mine, 1);
                                     long sum = 0;
                                     comm.allreduce(in, std::span<long>(&sum, 1), in_order(add));
                                     return sum;
                                   },
                                   [](Comm& comm, long mine) {
                                     const auto part = comm.split(0, 0);
                                     return comm.allreduce(mine);
                                   },
                                   [&](Comm& comm, long mine) {
                                     numbers[static_cast<std::size_t>(comm.rank())].front() = mine;
                                     return sum(comm, *plan,
                                                std::span<const long>(numbers[static_cast<std::size_t>(comm.rank())]));
                                   }};
  for (std::size_t way = 0; way < ways.size(); ++way) {
    for (const bool with_board : {true, false}) {
      SCOPED_TRACE(way);
      int n = 1;
      while (nobody_is_mistaken(ways[way], with_board, n)) ++n;
      EXPECT_TRUE(with_board || n > 3) << "hardly anything was allocated";
    }
  }
}

}  // namespace
}  // namespace chasqui::run
