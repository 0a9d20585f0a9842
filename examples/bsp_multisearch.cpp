// SPDX-License-Identifier: MIT
// 100 000 queries find their segments among 50 000 in a search tree spread over 64 processors, z-mapped.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <random>

#include "chasqui/bsp/multisearch.hpp"
#include "chasqui/bsp/run.hpp"

int main() {
  constexpr int kP = 64, kSegments = 50'000, kQueries = 100'000;
  std::vector<double> borders(kSegments);
  for (int i = 0; i < kSegments; ++i) borders[static_cast<std::size_t>(i)] = i + 0.5;
  std::atomic<int> wrong = 0;
  const auto ledger = chasqui::bsp::run(kP, [&](chasqui::bsp::World& w) {
    const auto first = static_cast<std::size_t>(kSegments / kP * w.rank());
    const auto last = w.rank() + 1 == kP ? borders.size() : first + kSegments / kP;
    std::mt19937 random(static_cast<unsigned>(w.rank()));
    std::uniform_real_distribution<double> where(0, kSegments);
    std::vector<double> queries(kQueries / kP);
    for (double& query : queries) query = where(random);

    chasqui::bsp::Multisearch<double, double> search(w, std::span(borders).subspan(first, last - first),
                                                     {.d = 8, .z = 32});
    const auto segments = search.search(w, queries);

    for (std::size_t i = 0; i < queries.size(); ++i) {
      const auto expected = std::upper_bound(borders.begin(), borders.end(), queries[i]) - borders.begin();
      if (segments[i] != expected) ++wrong;
    }
  });
  const auto sum = totals(ledger);
  std::printf("T = %lld supersteps, H = %lld blocks, W = %lld comparisons, %d wrong\n",
              static_cast<long long>(sum.supersteps), static_cast<long long>(sum.blocks),
              static_cast<long long>(sum.work), wrong.load());
  return wrong == 0 ? 0 : 1;
}
