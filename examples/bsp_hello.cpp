// SPDX-License-Identifier: MIT
// Four processors greet their right neighbours.
#include <cstdio>

#include "chasqui/bsp/run.hpp"

int main() {
  chasqui::bsp::run(4, [](chasqui::bsp::World& w) {
    w.send((w.rank() + 1) % w.size(), w.rank());
    w.sync();
    for (const auto& m : w.received<int>())
      std::printf("rank %d of %d: hello from %d\n", w.rank(), w.size(), m.value());
  });
}
