// SPDX-License-Identifier: MIT
// A rank that calls barriers until one fails, and says why: of the whole group, then of a part, which hears of it itself.
#include <cstdio>

#include "../patience.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/group/join.hpp"

int main() {
  chasqui::group::Options options;
  options.timeout *= chasqui::kPatience;
  const auto comm = chasqui::group::join(options);
  const auto part = comm->split(0, -comm->rank());
  part->barrier();
  std::printf("rank %d is there\n", comm->rank());
  std::fflush(stdout);
  for (auto* const one : {comm.get(), part.get()}) {
    try {
      for (;;) one->barrier();
    } catch (const chasqui::Error& error) {
      std::printf("%s\n", error.what());
    }
  }
}
