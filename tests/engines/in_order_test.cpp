// SPDX-License-Identifier: MIT
// Folds in rank order: the bits of ((x0 + x1) + x2) + ..., on a board and by messages, whatever the size.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <vector>

#include "chasqui/threads/team.hpp"

namespace chasqui::engines {
namespace {

float value(int rank, std::size_t at) {
  return 1.0F / static_cast<float>(1 + (static_cast<std::size_t>(rank) * 7919 + at * 104729) % 1009);
}
std::vector<float> contribution(int rank, std::size_t count) {
  std::vector<float> mine(count);
  for (std::size_t i = 0; i < count; ++i) mine[i] = value(rank, i);
  return mine;
}
std::vector<float> from_the_left(int last, std::size_t count) {
  std::vector<float> all = contribution(0, count);
  for (int r = 1; r < last; ++r) {
    for (std::size_t i = 0; i < count; ++i) all[i] = all[i] + value(r, i);
  }
  return all;
}
bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// One thread drives all ranks.
void drive(int n, bool with_board) {
  const auto comms = threads::make_comms(n, nullptr, with_board);
  const auto sum = run::in_order(run::Sum{});
  for (const std::size_t count : {1u, 5u, 20u, 300u, 5000u}) {
    std::vector<std::vector<float>> in, out(static_cast<std::size_t>(n)), whole, share(static_cast<std::size_t>(n));
    for (int r = 0; r < n; ++r) in.push_back(contribution(r, count));
    for (int r = 0; r < n; ++r) whole.push_back(contribution(r, count * static_cast<std::size_t>(n)));
    const auto all_ranks = [&](const std::function<run::Request(std::size_t, run::Comm&)>& start) {
      std::vector<run::Request> requests;
      for (std::size_t r = 0; r < comms.size(); ++r) {
        out[r].assign(count, -1);
        share[r].assign(count, -1);
        requests.push_back(start(r, *comms[r]));
      }
      for (bool done = false; !done;) {
        done = true;
        for (auto& request : requests) done = request.test() && done;
      }
    };
    all_ranks([&](std::size_t r, run::Comm& comm) { return comm.iallreduce(in[r], out[r], sum); });
    for (const auto& result : out) EXPECT_TRUE(same_bits(result, from_the_left(n, count))) << n << " " << count;
    for (const int root : {0, n - 1}) {
      all_ranks([&](std::size_t r, run::Comm& comm) { return comm.ireduce(in[r], out[r], root, sum); });
      EXPECT_TRUE(same_bits(out[static_cast<std::size_t>(root)], from_the_left(n, count))) << n << " " << count;
    }
    all_ranks([&](std::size_t r, run::Comm& comm) { return comm.iscan(in[r], out[r], sum); });
    for (int r = 0; r < n; ++r)
      EXPECT_TRUE(same_bits(out[static_cast<std::size_t>(r)], from_the_left(r + 1, count))) << n << " " << count;
    all_ranks([&](std::size_t r, run::Comm& comm) {
      run::Call call;
      call.kind = Kind::reduce_scatter;
      call.in = whole[r].data();
      call.out = share[r].data();
      call.count = static_cast<std::int64_t>(count);
      call.element = sizeof(float);
      call.op = run::operator_of<float>(sum, true);
      return comm.start(call);
    });
    const auto folded = from_the_left(n, count * static_cast<std::size_t>(n));
    for (std::size_t r = 0; r < comms.size(); ++r) {
      const auto begin = folded.begin() + static_cast<std::ptrdiff_t>(r * count);
      EXPECT_TRUE(same_bits(share[r], std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(count))))
          << n << " " << count;
    }
  }
}

TEST(InOrder, OnABoard) {
  for (const int n : {2, 3, 7, 24}) drive(n, true);
}
TEST(InOrder, ByMessages) {
  for (const int n : {2, 3, 7}) drive(n, false);
}
TEST(InOrder, BlockingOnThreads) {
  threads::Team team(5);
  team.run([](run::Comm& comm) {
    for (const std::size_t count : {1u, 14u, 28u, 900u, 20'000u}) {
      const auto mine = contribution(comm.rank(), count);
      std::vector<float> all(count);
      comm.allreduce(mine, all, run::in_order(run::Sum{}));
      if (!same_bits(all, from_the_left(comm.size(), count))) throw std::runtime_error("other bits");
    }
  });
}

}  // namespace
}  // namespace chasqui::engines
