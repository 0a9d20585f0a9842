// SPDX-License-Identifier: MIT
// How should everybody tell everybody on one node? Broadcasts, reductions and all-reduces of 1 or 8 doubles on bare
// cache lines, between pinned threads or processes: who reads whom, spacing, order of reading, lines owned beforehand,
// when to look first. A common start, the latest finish, median of many rounds; what a communicator's own path costs on
// top is the difference to node_bench.
//   c++ -std=c++20 -O3 -Iinclude bench/node/lines.cpp -pthread -o lines
//   lines threads|processes|matrix [ranks] [rounds] [part of a pattern's name …]
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "chasqui/base/clock.hpp"

namespace {

using Word = std::atomic<std::uint64_t>;
constexpr int kRing = 4, kRegions = 4, kMost = 64, kSpace = 8;
struct alignas(64) Line {
  Word word[8];
};
struct Shared {
  Line lines[kRegions][kRing][kMost * kSpace];
  alignas(256) Word turn;
  alignas(256) Word arrived;
  alignas(256) std::atomic<double> start;
  struct alignas(256) End {
    std::atomic<double> time;
  } ends[kMost];
};
Shared* shared;

using chasqui::clock_now;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}
void own_line(void* line) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" ::"m"(*static_cast<char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}
void pin(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core % std::max(1, static_cast<int>(std::thread::hardware_concurrency())), &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

enum class Shape { broadcast, reduce, flat, leaders };
enum class Order { one_by_one, sweep, prefetched };

/// The words travel in `parts` lines. leaders: in each group of `group` ranks, member i folds part i of its group's
/// contributions and publishes it; everybody reads what the leaders of all groups published.
struct Pattern {
  std::string name;
  Shape shape;
  int words, parts, stride;
  Order order;
  bool own;
  int group = 0;
  int wait = 0;  ///< pauses between publishing and the first look at the leaders
  Order second = Order::one_by_one;
};

class Rank {
 public:
  Rank(const Pattern& pattern, int rank, int ranks) : p(pattern), me(rank), n(ranks), each(p.words / p.parts) {}

  void run() {
    ++s;
    std::fill_n(value, 8, static_cast<double>(me));
    switch (p.shape) {
      case Shape::broadcast:
        for (int part = p.parts; part-- > 0;) {
          if (me == 0) publish(part, part);
          else if (p.order == Order::prefetched) __builtin_prefetch(line(part, 0));
        }
        for (int part = 0; me != 0 && part < p.parts; ++part) collect(part, part, 0, 1, 1, Order::one_by_one);
        break;
      case Shape::reduce:
        for (int part = p.parts; part-- > 0 && me != 0;) publish(part, part);
        for (int part = 0; part < p.parts && me == 0; ++part) collect(part, part, 0, 1, n, p.order);
        break;
      case Shape::flat:
        for (int part = p.parts; part-- > 0;) publish(part, part);
        if (p.order == Order::prefetched) {
          for (int part = 0; part < p.parts; ++part) prefetch(part, 0, 1, n);
        }
        for (int part = 0; part < p.parts; ++part) collect(part, part, 0, 1, n, p.order);
        break;
      case Shape::leaders: leaders(); break;
    }
    for (int region = 0; p.own && region < 2 * p.parts; ++region) own_line(line(region, me, s + 1));
  }
  bool right() const {
    if (p.shape == Shape::broadcast || (p.shape == Shape::reduce && me != 0)) return true;
    return std::all_of(value, value + p.words, [&](double x) { return x == n * (n - 1) / 2.0; });
  }

 private:
  void leaders() {
    const int base = me / p.group * p.group, size = std::min(p.group, n - base), mine = me - base;
    for (int part = p.parts; part-- > 0;) {
      if (mine != part) publish(part, part);
    }
    if (mine < p.parts) {
      collect(mine, mine, base, 1, size, p.order);
      publish(p.parts + mine, mine);
    } else {
      for (int i = 0; i < p.wait; ++i) relax();
    }
    const int groups = (n + p.group - 1) / p.group;
    for (int part = 0; part < p.parts; ++part) {
      if (mine != part) std::fill_n(value + part * each, each, 0.0);
      if (p.second == Order::prefetched) prefetch(p.parts + part, part, p.group, groups);
    }
    for (int part = 0; part < p.parts; ++part) collect(p.parts + part, part, part, p.group, groups, p.second);
  }

  Line* line(int region, int r, std::uint64_t at) const { return &shared->lines[region][at % kRing][r * p.stride]; }
  Line* line(int region, int r) const { return line(region, r, s); }

  void publish(int region, int part) {
    Line* to = line(region, me);
    for (int i = 0; i < each; ++i) {
      std::uint64_t bits;
      std::memcpy(&bits, &value[part * each + i], 8);
      to->word[1 + i].store(bits, std::memory_order_relaxed);
    }
    to->word[0].store(s, std::memory_order_release);
  }
  void prefetch(int region, int base, int step, int k) const {
    for (int j = 0; j < k; ++j) __builtin_prefetch(line(region, base + (me / step + j) % k * step));
  }
  /// Waits for base, base+step, … (k of them, without me) and adds what they brought.
  void collect(int region, int part, int base, int step, int k, Order order) {
    const int first = (me - me % step - base) / step + 1;
    const auto member = [&](int j) { return base + (first + j) % k * step; };
    if (order == Order::sweep) {
      for (std::uint64_t bad = 1; bad != 0;) {
        bad = 0;
        for (int j = 0; j < k; ++j) {
          if (member(j) != me) bad |= line(region, member(j))->word[0].load(std::memory_order_relaxed) ^ s;
        }
      }
      std::atomic_thread_fence(std::memory_order_acquire);
    } else {
      if (order == Order::prefetched) {
        for (int j = 0; j < k; ++j) __builtin_prefetch(line(region, member(j)));
      }
      for (int j = 0; j < k; ++j) {
        while (member(j) != me && line(region, member(j))->word[0].load(std::memory_order_acquire) != s) {
        }
      }
    }
    for (int j = 0; j < k; ++j) {
      const int r = member(j);
      for (int i = 0; i < each && r != me; ++i) {
        const std::uint64_t bits = line(region, r)->word[1 + i].load(std::memory_order_relaxed);
        double x;
        std::memcpy(&x, &bits, 8);
        value[part * each + i] += x;
      }
    }
  }

  const Pattern& p;
  int me, n, each;
  std::uint64_t s = 0;
  double value[8];
};

std::vector<Pattern> patterns_for(int n) {
  std::vector<Pattern> list;
  const char* orders[] = {"one by one", "sweep", "prefetched"};
  const auto put = [&](Pattern p, const char* shape) {
    p.name = std::string(shape) + " " + std::to_string(p.words * 8) + "B in " + std::to_string(p.parts) + ", every " +
             std::to_string(p.stride * 64) + ", " + orders[static_cast<int>(p.order)] + (p.own ? ", owned" : "");
    if (p.shape == Shape::leaders) {
      p.name += ", groups of " + std::to_string(p.group) + ", wait " + std::to_string(p.wait) + ", then " +
                orders[static_cast<int>(p.second)];
    }
    list.push_back(std::move(p));
  };
  for (const int words : {1, 8}) {
    for (const bool own : {false, true}) {
      for (const int stride : {2, 4, 8}) {
        const int parts = words == 1 ? 1 : 2;
        put({"", Shape::broadcast, words, parts, stride, Order::one_by_one, own}, "broadcast");
        if (words > 1) put({"", Shape::broadcast, words, parts, stride, Order::prefetched, own}, "broadcast");
        for (const Order order : {Order::one_by_one, Order::sweep, Order::prefetched}) {
          put({"", Shape::reduce, words, parts, stride, order, own}, "reduce");
          put({"", Shape::flat, words, parts, stride, order, own}, "flat");
        }
        for (const int group : {2, 3, 4, 5, 6, 8, 16}) {
          if (group > n || parts > group || (n % group != 0 && n % group < parts)) continue;
          for (const int wait : {0, 2, 4, 6, 8, 10}) {
            if (!own && wait > 0) continue;
            for (const Order order : {Order::sweep, Order::prefetched}) {
              for (const Order second : {Order::one_by_one, Order::sweep, Order::prefetched}) {
                if (second == Order::prefetched && parts == 1) continue;
                put({"", Shape::leaders, words, parts, stride, order, own, group, wait, second}, "leaders");
              }
            }
          }
        }
      }
    }
  }
  return list;
}

void work(int me, int n, int rounds, const std::vector<Pattern>& patterns) {
  pin(me);
  std::uint64_t meet = 0;
  const auto gather = [&] {
    ++meet;
    if (shared->arrived.fetch_add(1) + 1 == static_cast<std::uint64_t>(n) * meet) shared->turn.store(meet);
    while (shared->turn.load() < meet) relax();
  };
  for (const Pattern& p : patterns) {
    std::vector<double> spans;
    Rank rank(p, me, n);
    bool right = true;
    for (int i = 0; i < rounds; ++i) {
      if (me == 0) shared->start.store(clock_now() + 10'000);
      gather();
      const double begin = shared->start.load();
      while (clock_now() < begin) {
      }
      rank.run();
      shared->ends[me].time.store(clock_now());
      right = right && rank.right();
      gather();
      if (me == 0) {
        double last = 0;
        for (int r = 0; r < n; ++r) last = std::max(last, shared->ends[r].time.load());
        spans.push_back(last - begin);
      }
    }
    if (!right) std::printf("rank %d: wrong result: %s\n", me, p.name.c_str());
    gather();
    if (me == 0) {
      std::sort(spans.begin(), spans.end());
      const auto at = [&](std::size_t q) { return spans[(spans.size() - 1) * q / 4]; };
      std::printf("%6.0f ns (q1 %.0f q3 %.0f)  %s\n", at(2), at(1), at(3), p.name.c_str());
      std::fflush(stdout);
      for (auto& region : shared->lines) {
        for (auto& ring : region) {
          for (auto& line : ring) line.word[0].store(0);
        }
      }
    }
    gather();
  }
}

/// Half a round trip of one line between any two cores, and what the clock costs.
void matrix(int n) {
  constexpr std::uint64_t kTrips = 2000;
  Word& there = shared->lines[0][0][0].word[0];
  Word& back = shared->lines[0][0][8].word[0];
  for (int a = 0; a < n; ++a) {
    for (int b = 0; b < n; ++b) {
      if (a == b) {
        std::printf("   -");
        continue;
      }
      there = back = 0;
      std::thread other([&] {
        pin(b);
        for (std::uint64_t i = 1; i <= kTrips; ++i) {
          while (there.load() != i) {
          }
          back.store(i, std::memory_order_release);
        }
      });
      pin(a);
      double begin = 0;
      for (std::uint64_t i = 1; i <= kTrips; ++i) {
        if (i == 200) begin = clock_now();
        there.store(i, std::memory_order_release);
        while (back.load() != i) {
        }
      }
      std::printf("%4.0f", (clock_now() - begin) / (kTrips - 200) / 2);
      other.join();
    }
    std::printf("\n");
  }
  const double begin = clock_now();
  for (int i = 0; i < 100'000; ++i) (void)clock_now();
  std::printf("one look at the clock: %.1f ns\n", (clock_now() - begin) / 100'000);
}

}  // namespace

int main(int argc, char** argv) {
  const bool processes = argc > 1 && std::strcmp(argv[1], "processes") == 0;
  const int n = argc > 2 ? std::min(kMost, std::atoi(argv[2])) : 16;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 2000;
  shared =
      static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (argc > 1 && std::strcmp(argv[1], "matrix") == 0) {
    matrix(n);
    return 0;
  }
  std::vector<Pattern> patterns = patterns_for(n);
  if (argc > 4) {
    std::erase_if(patterns, [&](const Pattern& p) {
      return std::none_of(argv + 4, argv + argc,
                          [&](const char* word) { return p.name.find(word) != std::string::npos; });
    });
  }
  std::vector<std::thread> threads;
  for (int me = 0; me < n; ++me) {
    if (!processes) {
      threads.emplace_back(work, me, n, rounds, std::cref(patterns));
    } else if (fork() == 0) {
      work(me, n, rounds, patterns);
      return 0;
    }
  }
  for (auto& thread : threads) thread.join();
  while (processes && wait(nullptr) > 0) {
  }
}
