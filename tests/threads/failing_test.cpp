// SPDX-License-Identifier: MIT
// Memory that cannot be had: each allocation of one rank fails once in turn, inside splits, short and long calls, and calls in
// flight. Results are right, or every rank is told; nobody waits for ever.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/run/choose.hpp"
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

}  // namespace
}  // namespace chasqui::run
