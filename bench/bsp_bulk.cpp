// SPDX-License-Identifier: MIT
// Bulk (Buurlage and others) in the same run as ours, on threads: `bench/bsp_bulk.sh BULK_DIR BUILD_DIR`. Bulk is header-only there, and no
// part of it is in this tree. Its queues carry what ours do, 8 bytes a message; both of its barriers are tried. Medians.
#include <algorithm>
#include <atomic>
#include <bulk/backends/thread/thread.hpp>
#include <bulk/bulk.hpp>
#include <cstdint>
#include <cstdio>
#include <random>
#include <thread>
#include <vector>

#include "chasqui/base/clock.hpp"
#include "chasqui/bsp/run.hpp"

namespace {

constexpr int kRepeats = 5, kSyncs = 2000, kMessages = 10'000, kRounds = 20;

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

std::vector<int> destinations(int rank, int p) {
  std::mt19937 random(static_cast<unsigned>(rank));
  std::vector<int> to(kMessages);
  for (int& one : to) one = static_cast<int>(random() % static_cast<unsigned>(p));
  return to;
}

struct Times {
  std::vector<double> sync, exchange;  ///< nanoseconds
  std::atomic<std::int64_t> sum{0};    ///< of all that was received
};

void ours(int p, Times& times) {
  chasqui::bsp::run(p,
                    [&](chasqui::bsp::World& w) {
                      w.sync();
                      const double begin = chasqui::clock_now();
                      for (int i = 0; i < kSyncs; ++i) w.sync();
                      if (w.rank() == 0) times.sync.push_back((chasqui::clock_now() - begin) / kSyncs);
                      const std::vector<int> to = destinations(w.rank(), p);
                      std::int64_t sum = 0;
                      for (int round = 0; round < kRounds; ++round) {
                        const double start = chasqui::clock_now();
                        for (int i = 0; i < kMessages; ++i) w.send(to[static_cast<std::size_t>(i)], std::int64_t{i});
                        w.sync();
                        for (const auto& message : w.received<std::int64_t>()) sum += message.value();
                        if (w.rank() == 0) times.exchange.push_back(chasqui::clock_now() - start);
                      }
                      times.sum += sum;
                    },
                    {.engine = chasqui::bsp::Engine::threads});
}

template <typename Environment>
void bulks(int p, Times& times) {
  Environment environment;
  environment.spawn(p, [&](bulk::world& world) {
    world.sync();
    const double begin = chasqui::clock_now();
    for (int i = 0; i < kSyncs; ++i) world.sync();
    if (world.rank() == 0) times.sync.push_back((chasqui::clock_now() - begin) / kSyncs);
    auto queue = bulk::queue<std::int64_t>(world);
    world.sync();
    const std::vector<int> to = destinations(world.rank(), p);
    std::int64_t sum = 0;
    for (int round = 0; round < kRounds; ++round) {
      const double start = chasqui::clock_now();
      for (int i = 0; i < kMessages; ++i) queue(to[static_cast<std::size_t>(i)]).send(std::int64_t{i});
      world.sync();
      for (const std::int64_t value : queue) sum += value;
      if (world.rank() == 0) times.exchange.push_back(chasqui::clock_now() - start);
    }
    times.sum += sum;
    world.sync();
  });
}

}  // namespace

int main() {
  const int cores = static_cast<int>(std::max(2U, std::thread::hardware_concurrency()));
  std::printf("threads,what,ours,Bulk with std::barrier,Bulk with its spinning barrier,unit\n");
  for (const int p : {2, cores}) {
    Times mine, standard, spinning;
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      ours(p, mine);
      bulks<bulk::thread::environment>(p, standard);
      bulks<bulk::thread::environment_<bulk::thread::spinning_barrier>>(p, spinning);
    }
    if (mine.sum != standard.sum || mine.sum != spinning.sum) return std::fprintf(stderr, "the sums differ\n"), 1;
    std::printf("%d,sync() without messages,%.3g,%.3g,%.3g,us\n", p, median(mine.sync) / 1e3,
                median(standard.sync) / 1e3, median(spinning.sync) / 1e3);
    std::printf("%d,10^4 messages of 8 bytes,%.3g,%.3g,%.3g,us\n", p, median(mine.exchange) / 1e3,
                median(standard.exchange) / 1e3, median(spinning.exchange) / 1e3);
    if (p == cores && cores == 2) break;
  }
}
