// SPDX-License-Identifier: MIT
// How should everybody tell everybody on one node? Barriers on cache lines between pinned threads: spacing of the
// lines, order of reading, pause between polls, and groups in two steps. Median nanoseconds from a common start.
//   lines [threads] [rounds]
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

namespace {

constexpr int kRing = 8;
alignas(4096) std::atomic<std::uint64_t> memory[kRing * 64 * 64 * 8];

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}
void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

struct Pattern {
  int stride;  // in lines
  int order;   // 0 from rank 0, 1 from the neighbour, 2 sweeps
  bool pause;
  int group;   // 0 flat, else two steps with groups of this size
};

std::atomic<std::uint64_t>& line(const Pattern& p, std::uint64_t s, int n, int which) {
  return memory[((s % kRing) * static_cast<std::uint64_t>(2 * n) + static_cast<std::uint64_t>(which)) * static_cast<std::uint64_t>(p.stride) * 8];
}
void await(std::atomic<std::uint64_t>& word, std::uint64_t s, bool pause) {
  while (word.load(std::memory_order_acquire) != s) {
    if (pause) relax();
  }
}

void barrier(const Pattern& p, std::uint64_t s, int me, int n) {
  if (p.group > 0) {  // members -> leader, leaders among themselves, leader -> members
    const int leader = me / p.group * p.group;
    const int end = std::min(n, leader + p.group);
    if (me != leader) {
      line(p, s, n, me).store(s, std::memory_order_release);
      await(line(p, s, n, n + leader), s, p.pause);
      for (int other = 0; other < n; other += p.group) await(line(p, s, n, n + other), s, p.pause);
      return;
    }
    for (int r = leader + 1; r < end; ++r) await(line(p, s, n, r), s, p.pause);
    line(p, s, n, n + me).store(s, std::memory_order_release);
    for (int other = 0; other < n; other += p.group) await(line(p, s, n, n + other), s, p.pause);
    return;
  }
  line(p, s, n, me).store(s, std::memory_order_release);
  if (p.order == 2) {
    std::uint64_t missing = (std::uint64_t{1} << n) - 1;
    while (missing != 0) {
      std::uint64_t ready = 0;
      for (std::uint64_t m = missing; m != 0; m &= m - 1) {
        const int r = __builtin_ctzll(m);
        ready |= static_cast<std::uint64_t>(line(p, s, n, r).load(std::memory_order_acquire) == s) << r;
      }
      missing &= ~ready;
      if (missing != 0 && p.pause) relax();
    }
    return;
  }
  for (int k = 1; k < n; ++k) await(line(p, s, n, p.order == 0 ? k - (k <= me ? 1 : 0) : (me + k) % n), s, p.pause);
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 16;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 3000;
  std::vector<Pattern> patterns;
  for (const int stride : {1, 2, 4}) {
    for (const int order : {0, 1, 2}) {
      for (const bool pause : {false, true}) patterns.push_back({stride, order, pause, 0});
    }
  }
  for (const int group : {4, 8}) {
    for (const bool pause : {false, true}) patterns.push_back({2, 0, pause, group});
  }
  std::vector<std::vector<double>> spans(patterns.size());
  std::atomic<int> arrived{0};
  std::atomic<double> start{0}, latest{0};
  std::vector<double> ends(static_cast<std::size_t>(n) * 8);
  std::vector<std::thread> threads;
  std::atomic<std::uint64_t> turn{0};
  for (int me = 0; me < n; ++me) {
    threads.emplace_back([&, me] {
      cpu_set_t set;
      CPU_ZERO(&set);
      CPU_SET(me, &set);
      pthread_setaffinity_np(pthread_self(), sizeof set, &set);
      std::uint64_t s = 0, meet = 0;
      const auto gather = [&] {
        ++meet;
        if (arrived.fetch_add(1) + 1 == n * static_cast<int>(meet)) turn.store(meet);
        while (turn.load() < meet) relax();
      };
      for (std::size_t p = 0; p < patterns.size(); ++p) {
        for (int i = 0; i < rounds; ++i) {
          if (me == 0) start.store(now() + 20'000);
          gather();
          const double begin = start.load();
          while (now() < begin) {
          }
          barrier(patterns[p], ++s, me, n);
          ends[static_cast<std::size_t>(me) * 8] = now();
          gather();
          if (me == 0) {
            double last = 0;
            for (int r = 0; r < n; ++r) last = std::max(last, ends[static_cast<std::size_t>(r) * 8]);
            spans[p].push_back(last - begin);
          }
        }
        gather();
        for (std::size_t w = static_cast<std::size_t>(me); w < std::size(memory); w += static_cast<std::size_t>(n)) memory[w].store(0);
        gather();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (std::size_t p = 0; p < patterns.size(); ++p) {
    std::sort(spans[p].begin(), spans[p].end());
    std::printf("stride %3d order %d pause %d group %d: median %.0f ns (q1 %.0f q3 %.0f)\n", patterns[p].stride * 64, patterns[p].order,
                patterns[p].pause, patterns[p].group, spans[p][spans[p].size() / 2], spans[p][spans[p].size() / 4], spans[p][spans[p].size() * 3 / 4]);
  }
}
