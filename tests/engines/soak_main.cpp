// SPDX-License-Identifier: MIT
// Random collectives with checked results on a team of threads: engine_soak threads count seed
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "chasqui/threads/team.hpp"
#include "suite.hpp"

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: engine_soak threads count seed\n");
    return 2;
  }
  const std::int64_t count = std::atoll(argv[2]);
  const std::uint64_t seed = std::strtoull(argv[3], nullptr, 10);
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  try {
    chasqui::threads::Team team(std::atoi(argv[1]));
    constexpr std::int64_t kSlice = 100'000;
    for (std::int64_t done = 0; done < count; done += kSlice) {
      const std::int64_t now = std::min(kSlice, count - done);
      team.run([&](chasqui::run::Comm& comm) {
        chasqui::engines::soak(comm, now, seed + static_cast<std::uint64_t>(done));
      });
      std::printf("%lld collectives right, %.0f s\n", static_cast<long long>(done + now), seconds());
      std::fflush(stdout);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "seed %s: %s\n", argv[3], error.what());
    return 1;
  }
}
