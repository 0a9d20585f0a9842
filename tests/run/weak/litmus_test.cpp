// SPDX-License-Identifier: MIT
// The machine itself, on programs whose outcomes under release and acquire are known: each that C++ permits is seen, and no
// other.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <set>
#include <string>

#include "machine.hpp"

namespace chasqui::weak {
namespace {

struct alignas(64) Memory {
  std::atomic<std::uint64_t> x, y, z;
  std::uint64_t data;
};
Memory shared;
std::uint64_t seen[4];

/// What is in `seen` at the end, over all executions; a violation instead.
std::set<std::string> outcomes(int threads, std::function<void(int)> body) {
  std::set<std::string> all;
  Program program;
  program.threads = threads;
  program.memory = {{&shared, sizeof shared}};
  const auto note = [&] {
    all.insert(std::to_string(seen[0]) + std::to_string(seen[1]) + std::to_string(seen[2]) + std::to_string(seen[3]));
  };
  bool first = true;
  program.reset = [&] {
    if (!first) note();
    first = false;
    for (std::uint64_t& each : seen) each = 0;
  };
  program.body = std::move(body);
  const Found found = explore(program);
  note();
  EXPECT_TRUE(found.all || !found.violation.empty());
  return found.violation.empty() ? all : std::set<std::string>{found.violation.substr(0, 6)};
}

using Outcomes = std::set<std::string>;
constexpr auto relaxed = std::memory_order_relaxed, acquire = std::memory_order_acquire,
               release = std::memory_order_release;

TEST(Litmus, StoreBuffering) {
  const auto body = [](std::memory_order stores, std::memory_order loads) {
    return [=](int me) {
      (me == 0 ? shared.x : shared.y).store(1, stores);
      seen[me] = (me == 0 ? shared.y : shared.x).load(loads);
    };
  };
  EXPECT_EQ(outcomes(2, body(release, acquire)), (Outcomes{"0000", "0100", "1000", "1100"}));
  EXPECT_EQ(outcomes(2, body(std::memory_order_seq_cst, std::memory_order_seq_cst)),
            (Outcomes{"0100", "1000", "1100"}));
  EXPECT_EQ(outcomes(2, body(std::memory_order_seq_cst, acquire)), (Outcomes{"0000", "0100", "1000", "1100"}));
}

TEST(Litmus, MessagePassing) {
  const auto body = [](std::memory_order store, std::memory_order load) {
    return [=](int me) {
      if (me == 0) {
        shared.x.store(1, relaxed);
        shared.y.store(1, store);
      } else {
        seen[0] = shared.y.load(load);
        seen[1] = shared.x.load(relaxed);
      }
    };
  };
  EXPECT_EQ(outcomes(2, body(release, acquire)), (Outcomes{"0000", "0100", "1100"}));
  EXPECT_EQ(outcomes(2, body(relaxed, acquire)), (Outcomes{"0000", "0100", "1000", "1100"}));
  EXPECT_EQ(outcomes(2, body(release, relaxed)), (Outcomes{"0000", "0100", "1000", "1100"}));
}

TEST(Litmus, PlainDataNeedsBoth) {
  const auto body = [](std::memory_order store, std::memory_order load) {
    return [=](int me) {
      if (me == 0) {
        shared.data = 5;
        shared.y.store(1, store);
      } else {
        while (shared.y.load(load) == 0) spin();
        seen[0] = shared.data;
      }
    };
  };
  EXPECT_EQ(outcomes(2, body(release, acquire)), (Outcomes{"5000"}));
  EXPECT_EQ(outcomes(2, body(relaxed, acquire)), (Outcomes{"a race"}));
  EXPECT_EQ(outcomes(2, body(release, relaxed)), (Outcomes{"a race"}));
}

/// Two readers may see two stores in different orders, each reader those of one thread in theirs.
TEST(Litmus, IndependentReads) {
  const auto found = outcomes(4, [](int me) {
    if (me == 0) shared.x.store(1, release);
    if (me == 1) shared.y.store(1, release);
    if (me == 2) seen[0] = shared.x.load(acquire), seen[1] = shared.y.load(acquire);
    if (me == 3) seen[2] = shared.y.load(acquire), seen[3] = shared.x.load(acquire);
  });
  EXPECT_EQ(found.size(), 16U);
  EXPECT_EQ(outcomes(2,
                     [](int me) {
                       if (me == 0) shared.x.store(1, relaxed), shared.x.store(2, relaxed);
                       else seen[0] = shared.x.load(relaxed), seen[1] = shared.x.load(relaxed);
                     }),
            (Outcomes{"0000", "0100", "0200", "1100", "1200", "2200"}));
}

/// What a third thread passes on is passed on whole.
TEST(Litmus, ThroughAThirdThread) {
  const auto found = outcomes(3, [](int me) {
    if (me == 0) shared.x.store(1, relaxed), shared.y.store(1, release);
    if (me == 1) seen[0] = shared.y.load(acquire), shared.z.store(1, release);
    if (me == 2) seen[1] = shared.z.load(acquire), seen[2] = shared.x.load(relaxed);
  });
  EXPECT_EQ(found, (Outcomes{"0000", "0010", "0100", "0110", "1000", "1010", "1110"}));
}

TEST(Litmus, ReadModifyWrite) {
  EXPECT_EQ(outcomes(3,
                     [](int me) {
                       std::uint64_t was = 0;
                       seen[me] = shared.x.compare_exchange_strong(was, 1, std::memory_order_acq_rel) ? 1 : 0;
                     }),
            (Outcomes{"0010", "0100", "1000"}));
  // It carries on what the store before it carried.
  EXPECT_EQ(outcomes(3,
                     [](int me) {
                       std::uint64_t was = 1;
                       if (me == 0) shared.data = 5, shared.x.store(1, release);
                       if (me == 1) shared.x.compare_exchange_strong(was, 2, relaxed);
                       if (me == 2) {
                         while (shared.x.load(acquire) == 0) spin();
                         seen[0] = shared.data;
                       }
                     }),
            (Outcomes{"5000"}));
}

TEST(Litmus, ADeadlockIsSeen) {
  EXPECT_EQ(outcomes(2,
                     [](int me) {
                       while ((me == 0 ? shared.x : shared.y).load(acquire) == 0) spin();
                       (me == 0 ? shared.y : shared.x).store(1, release);
                     }),
            (Outcomes{"a dead"}));
}

}  // namespace
}  // namespace chasqui::weak
