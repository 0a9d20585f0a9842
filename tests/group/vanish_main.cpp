// SPDX-License-Identifier: MIT
// A rank that calls barriers until one fails, and says why.
#include <cstdio>

#include "chasqui/base/error.hpp"
#include "chasqui/group/join.hpp"

int main() {
  try {
    const auto comm = chasqui::group::join();
    comm->barrier();
    std::printf("rank %d is there\n", comm->rank());
    std::fflush(stdout);
    for (;;) comm->barrier();
  } catch (const chasqui::Error& error) {
    std::printf("%s\n", error.what());
  }
}
