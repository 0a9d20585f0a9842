// SPDX-License-Identifier: MIT
// The sum of 1 .. n on a thousand virtual processors, by puts into a registered array and by a collective.
#include <cstdio>
#include <numeric>

#include "chasqui/bsp/run.hpp"
#include "chasqui/bsp/variable.hpp"

int main() {
  constexpr std::int64_t kN = 1'000'000;
  bool right = true;
  chasqui::bsp::run(1000, [&](chasqui::bsp::World& w) {
    std::int64_t mine = 0;
    for (std::int64_t i = w.rank() + 1; i <= kN; i += w.size()) mine += i;

    chasqui::bsp::Array<std::int64_t> parts(w, w.rank() == 0 ? static_cast<std::size_t>(w.size()) : 0);
    parts.put(0, static_cast<std::size_t>(w.rank()), mine);
    w.sync();
    const std::int64_t by_puts = std::accumulate(parts.begin(), parts.end(), std::int64_t{0});

    const std::int64_t by_plan = w.reduce(mine, std::plus<>{});
    if (w.rank() == 0) {
      std::printf("%lld by puts, %lld by the reduction plan\n", static_cast<long long>(by_puts),
                  static_cast<long long>(by_plan));
      right = by_puts == kN * (kN + 1) / 2 && by_plan == by_puts;
    }
  });
  return right ? 0 : 1;
}
