// SPDX-License-Identifier: MIT
// What the paper on BSP, BSP*, D-BSP and the PUB library prints and what is right: errata.md,
// Errata 22 to 26.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <random>
#include <vector>

#include "chasqui/bsp/multisearch.hpp"
#include "chasqui/bsp/run.hpp"

namespace chasqui::bsp {
namespace {

int informed(const std::vector<char>& has) { return static_cast<int>(std::count(has.begin(), has.end(), 1)); }

/// Processors count from 1, as printed: in superstep t = 1, 2, … processors 1 … 2^(t-1) send to i +
/// 2^(t-1+shift).
int plain_broadcast(int p, int shift) {
  std::vector<char> has(static_cast<std::size_t>(p) + 1);
  has[1] = 1;
  for (int t = 1; (1 << (t - 1)) < p; ++t) {
    std::vector<char> next = has;
    for (int i = 1; i <= 1 << (t - 1); ++i) {
      const int to = i + (1 << (t - 1 + shift));
      if (to <= p && has[static_cast<std::size_t>(i)] != 0) next[static_cast<std::size_t>(to)] = 1;
    }
    has = next;
  }
  return informed(has);
}

/// Root on the `p` processors from `first` on; `printed`: processor i sends to i√p, else to the first of
/// group i.
void root_broadcast(std::vector<char>& has, int first, int p, bool printed) {
  if (p <= 2) {
    if (p == 2 && has[static_cast<std::size_t>(first)] != 0) has[static_cast<std::size_t>(first) + 1] = 1;
    return;
  }
  const int side = static_cast<int>(std::lround(std::sqrt(p)));
  root_broadcast(has, first, side, printed);
  for (int i = 1; i <= side; ++i) {
    const int to = printed ? i * side : (i - 1) * side + 1;
    if (has[static_cast<std::size_t>(first + i - 1)] != 0) has[static_cast<std::size_t>(first + to - 1)] = 1;
  }
  for (int group = 0; group < side; ++group) root_broadcast(has, first + group * side, side, printed);
}

TEST(Paper, PlainBroadcastPartner) {
  EXPECT_EQ(plain_broadcast(16, 1), 5);
  EXPECT_EQ(plain_broadcast(16, 0), 16);
}

TEST(Paper, RootBroadcastTarget) {
  for (const bool printed : {true, false}) {
    std::vector<char> has(17);
    has[1] = 1;
    root_broadcast(has, 1, 16, printed);
    EXPECT_EQ(informed(has), printed ? 5 : 16);
  }
}

/// n/p queries on each of p processors, all at different leaves, random mapping.
MultisearchCounts scattered(int p, int each, int d, std::int64_t segments) {
  MultisearchCounts most;
  std::mutex mutex;
  run(p,
      [&](World& w) {
        std::vector<std::int64_t> splitters, queries;
        for (std::int64_t i = segments * w.rank() / p; i < segments * (w.rank() + 1) / p; ++i) splitters.push_back(i);
        std::mt19937_64 random(static_cast<std::uint64_t>(w.rank()) + 1);
        for (int i = 0; i < each; ++i)
          queries.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(segments)));
        Multisearch<std::int64_t, std::int64_t> search(w, splitters, {.d = d});
        search.search(w, queries);
        const std::lock_guard lock(mutex);
        most.levels = search.counts().levels;
        most.most_small_blocks = std::max(most.most_small_blocks, search.counts().most_small_blocks);
      },
      {.engine = Engine::virtual_processors});
  return most;
}

TEST(Paper, SmallJobsScatterUnderTheRandomMapping) {
  // d = (n/p)^(1/2) = 4, c = 2, k = 4, p = 256: the printed H allows c (n/p)^(1/c) + k log_k p = 8 + 16 up to
  // a constant.
  constexpr int kP = 256;
  const auto few = scattered(kP, 16, 4, 1 << 16), more = scattered(kP, 64, 4, 1 << 16);
  EXPECT_GE(more.most_small_blocks, 64 * 3 / 4);  // of the order of n/p …
  EXPECT_GT(more.most_small_blocks * 10,
            few.most_small_blocks * 15);  // … and growing with it, faster than its root
}

TEST(Paper, DepthGoesWithSegments) {
  EXPECT_EQ(scattered(4, 4, 4, (1 << 10) - 1).levels, 5);   // log_4 2^10, not log_4 4
  EXPECT_EQ(scattered(16, 4, 4, (1 << 10) - 1).levels, 5);  // whatever p is
  EXPECT_EQ(scattered(2, 4, 2, (1 << 2) - 1).levels, 2);    // the smallest: four segments, log_2 2 = 1 is printed
}

}  // namespace
}  // namespace chasqui::bsp
