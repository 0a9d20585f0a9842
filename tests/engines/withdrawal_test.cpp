// SPDX-License-Identifier: MIT
// Threads use each other's buffers: a rank that leaves a call by an error may free its own at once, so nobody may touch
// them any more when the call has returned.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "chasqui/base/error.hpp"
#include "chasqui/threads/team.hpp"
#include "threads/channels.hpp"

namespace chasqui::engines {
namespace {

constexpr long kMine = 1, kGone = -777;
constexpr std::size_t kLent = 2 * run::kShortWide / sizeof(long),
                      kLong = 2 * kLent;  // three shares fit slots, or do not

/// Throws on one rank, as soon as another folds, or soon (a scan's next rank folds only what this one has). On the others it
/// takes its time, in the hope that the one leaves meanwhile, and looks out for what that one writes after it has left.
struct Slow {
  bool throws;
  std::atomic<bool>* left;
  std::atomic<bool>* began;
  std::atomic<int>* seen;
  long operator()(long a, long b) const {
    if (throws) {
      wait_for(*began);
      throw Error("no");
    }
    if (!began->exchange(true)) wait_for(*left);
    if (a == kGone || b == kGone) ++*seen;
    return a + b;
  }
  static void wait_for(const std::atomic<bool>& flag) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    while (!flag && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  }
};

/// Rank 1 fails in a long fold while another folds what it gave.
void fail_one(Kind kind, int threads, std::size_t count) {
  SCOPED_TRACE(std::string(to_string(kind)));
  const std::size_t given = kind == Kind::reduce_scatter ? count * static_cast<std::size_t>(threads) : count;
  std::vector<long> in(given, kMine), out(count, kMine);  // of rank 1; live until the end, so that writes are seen
  std::atomic<bool> left{false}, began{false};
  std::atomic<int> seen{0}, errors{0};
  threads::Team team(threads);
  team.run([&](run::Comm& comm) {
    std::vector<long> own_in(given, kMine), own_out(count, kMine);
    const bool fails = comm.rank() == 1;
    const Slow slow{fails, &left, &began, &seen};
    run::Call call;
    call.kind = kind;
    call.in = fails ? in.data() : own_in.data();
    call.out = fails ? out.data() : own_out.data();
    call.count = static_cast<std::int64_t>(count);
    call.element = sizeof(long);
    call.op = run::operator_of<long>(slow, false);
    call.root = 1;
    try {
      comm.run(call);
      comm.barrier();
    } catch (const std::exception&) {
      ++errors;
    }
    if (fails) {
      std::fill(in.begin(), in.end(), kGone);
      std::fill(out.begin(), out.end(), kGone);
      left = true;
    }
  });
  EXPECT_EQ(errors, threads);
  EXPECT_EQ(seen, 0) << "read after rank 1 had left";
  EXPECT_EQ(std::count(out.begin(), out.end(), kGone), static_cast<std::ptrdiff_t>(count))
      << "written after rank 1 had left";
}

TEST(Withdrawal, NobodyUsesTheBuffersOfARankThatHasLeft) {
  for (const Kind kind : {Kind::reduce, Kind::allreduce, Kind::scan, Kind::reduce_scatter}) fail_one(kind, 3, kLong);
  fail_one(Kind::allreduce, 3, kLent);
}

TEST(Withdrawal, AMessageThatIsTakenBackIsNotRead) {
  const auto memory = std::make_shared<threads::ChannelMemory>(2);
  threads::ChannelTransport from(memory, 0), to(memory, 1);
  std::array<char, 100> gone{}, kept{}, first{}, second{};
  gone.fill('g');
  kept.fill('k');
  const auto taken_back = from.send(1, 7, gone.data(), gone.size());
  const auto sent = from.send(1, 8, kept.data(), kept.size());
  from.abandon(taken_back);
  const auto never = to.receive(0, 7, first.data(), first.size());
  const auto received = to.receive(0, 8, second.data(), second.size());
  EXPECT_FALSE(to.done(never));
  EXPECT_TRUE(to.done(received));
  EXPECT_EQ(first[0], 0);
  EXPECT_EQ(second, kept);
  EXPECT_TRUE(from.done(sent));
}

}  // namespace
}  // namespace chasqui::engines
