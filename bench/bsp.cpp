// SPDX-License-Identifier: MIT
// Bulk-synchronous programs against what one would use instead, in one run: `bench_bsp [FILE.csv] [PART...]`, all parts or these:
// sync, messages, algorithms, multisearch, virtual, uneven, idle. Times are medians.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <complex>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "chasqui/bsp/fft.hpp"
#include "chasqui/bsp/list_ranking.hpp"
#include "chasqui/bsp/measure.hpp"
#include "chasqui/bsp/multisearch.hpp"
#include "chasqui/bsp/predict.hpp"
#include "chasqui/bsp/run.hpp"
#include "chasqui/bsp/sample_sort.hpp"
#include "chasqui/measure/bench.hpp"
#include "chasqui/threads/team.hpp"

namespace chasqui::bsp {
namespace {

std::string csv = "what,how,value,unit\n";

void note(const std::string& what, const std::string& how, double value, const char* unit) {
  csv += fmt::format("\"{}\",\"{}\",{:.6g},{}\n", what, how, value, unit);
  fmt::print("{:<44} {:<34} {:>12.4g} {}\n", what, how, value, unit);
}

double now() { return clock_now() * 1e-9; }  // seconds

double median(std::vector<double> values) { return measure::Quartiles::of(std::move(values)).median; }

constexpr int kRepeats = 9, kSyncs = 20000;

void barriers(int p) {
  const auto what = fmt::format("barrier, {} threads", p);
  std::vector<double> ours, standard, openmp, board;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    run(p,
        [&](World& w) {
          w.sync();
          const double begin = now();
          for (int i = 0; i < kSyncs; ++i) w.sync();
          if (w.rank() == 0) ours.push_back((now() - begin) / kSyncs * 1e9);
        },
        {.engine = Engine::threads});
    threads::Team(p).run([&](run::Comm& comm) {
      comm.barrier();
      const double begin = now();
      for (int i = 0; i < kSyncs; ++i) comm.barrier();
      if (comm.rank() == 0) board.push_back((now() - begin) / kSyncs * 1e9);
    });
    constexpr int kFew = kSyncs / 20;
    std::barrier<> meeting(p);
    std::vector<std::thread> threads;
    for (int t = 0; t < p; ++t) {
      threads.emplace_back([&, t] {
        meeting.arrive_and_wait();
        const double begin = now();
        for (int i = 0; i < kFew; ++i) meeting.arrive_and_wait();
        if (t == 0) standard.push_back((now() - begin) / kFew * 1e9);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
#ifdef _OPENMP
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
#pragma omp parallel num_threads(p)
    {
#pragma omp barrier
      const double begin = now();
      for (int i = 0; i < kSyncs; ++i) {
#pragma omp barrier
      }
      if (omp_get_thread_num() == 0) openmp.push_back((now() - begin) / kSyncs * 1e9);
    }
  }
  std::this_thread::sleep_for(
      std::chrono::milliseconds(200));  // its threads spin for a while, where others want the cores
#endif
  note(what, "sync(), delivering and accounting", median(ours), "ns");
  note(what, "our barrier", median(board), "ns");
  note(what, "sync() / our barrier", median(ours) / median(board), "");
  note(what, "std::barrier", median(standard), "ns");
  if (!openmp.empty()) note(what, "OpenMP barrier", median(openmp), "ns");
}

/// As one writes it by hand: the last to come lets the others go.
class SpinBarrier {
 public:
  explicit SpinBarrier(int threads) : threads_(threads) {}
  void wait() {
    const int round = round_.load(std::memory_order_relaxed);
    if (here_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      here_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
    } else {
      while (round_.load(std::memory_order_acquire) == round) {
      }
    }
  }

 private:
  int threads_;
  alignas(64) std::atomic<int> here_{0};
  alignas(64) std::atomic<int> round_{0};
};

/// What a thread sends by hand. The heads of its vectors, which each push writes, share no line with those of another thread.
struct alignas(128) Outgoing {
  std::vector<std::vector<std::int64_t>> to;
};

/// Messages of 8 bytes to random threads, all added up by their receivers. By hand in two ways: each thread reads in the order of senders,
/// as ours deliver, or begins with the next thread's, so that what it reads depends on who it is.
void exchange(int p) {
  constexpr int kMessages = 10'000, kRounds = 400;
  const auto destinations = [&](int rank) {
    std::mt19937 random(static_cast<unsigned>(rank));
    std::vector<int> to(kMessages);
    for (int& one : to) one = static_cast<int>(random() % static_cast<unsigned>(p));
    return to;
  };
  std::vector<double> ours, by_hand[2];
  std::atomic<std::int64_t> sum{0};
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    run(p,
        [&](World& w) {
          const auto to = destinations(w.rank());
          std::int64_t mine = 0;
          for (int round = 0; round < kRounds; ++round) {
            const double begin = now();
            for (int i = 0; i < kMessages; ++i) w.send(to[static_cast<std::size_t>(i)], std::int64_t{i});
            w.sync();
            for (const auto& message : w.received<std::int64_t>()) mine += message.value();
            if (w.rank() == 0) ours.push_back((now() - begin) * 1e6);
          }
          sum += mine;
        },
        {.engine = Engine::threads});
    for (const bool next_first : {false, true}) {
      SpinBarrier barrier(p);
      std::vector<Outgoing> out(static_cast<std::size_t>(p));
      threads::Team(p).run([&](run::Comm& comm) {  // on the cores that ours has
        const int t = comm.rank();
        const auto to = destinations(t);
        auto& outgoing = out[static_cast<std::size_t>(t)].to;
        outgoing.resize(static_cast<std::size_t>(p));
        std::int64_t mine = 0;
        for (int round = 0; round < kRounds; ++round) {
          const double begin = now();
          for (int i = 0; i < kMessages; ++i)
            outgoing[static_cast<std::size_t>(to[static_cast<std::size_t>(i)])].push_back(i);
          barrier.wait();
          for (int i = 0; i < p; ++i) {
            const Outgoing& from = out[static_cast<std::size_t>(next_first ? (t + 1 + i) % p : i)];
            for (const std::int64_t value : from.to[static_cast<std::size_t>(t)]) mine += value;
          }
          barrier.wait();
          for (auto& one : outgoing) one.clear();
          if (t == 0) by_hand[next_first ? 1 : 0].push_back((now() - begin) * 1e6);
        }
        if (!next_first) sum -= mine;
      });
    }
  }
  const auto what = fmt::format("10^4 messages of 8 bytes, {} threads", p);
  note(what, "send() and sync()", median(ours), "us");
  note(what, "vectors and a spinning barrier by hand", median(by_hand[0]), "us");
  note(what, "ours / by hand", median(ours) / median(by_hand[0]), "");
  note(what, "by hand, the next thread's first", median(by_hand[1]), "us");
  note(what, "ours / that", median(ours) / median(by_hand[1]), "");
  note(what, "the two agree (0: yes)", static_cast<double>(sum.load()), "");
}

/// What the ledger of a run costs on the machine as measured, and what it took.
void algorithms(int p) {
  const Options threads{.engine = Engine::threads};
  const Machine machine = measure([&](const Program& program) { return run(p, program, threads); }).bsp_star();
  const auto compare = [&](const std::string& what, const Program& program) {
    std::vector<double> predicted, measured;
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      const Ledger ledger = run(p, program, threads);
      double span = 0;
      for (const Superstep& step : ledger.machines.front().supersteps)
        span += static_cast<double>(step.span_nanoseconds);
      predicted.push_back(predict(ledger, machine, Work::measured) * 1e-6);
      measured.push_back(span * 1e-6);
    }
    note(what, "predicted from w, s, h and " + to_string(machine), median(predicted), "ms");
    note(what, "measured", median(measured), "ms");
  };
  constexpr std::int64_t kItems = 1 << 20;
  const std::int64_t part = kItems / p;
  compare("multisearch of 2^20 queries among 2^20 segments", [&](World& w) {
    std::mt19937_64 random(static_cast<unsigned>(w.rank()));
    std::vector<std::int64_t> keys(static_cast<std::size_t>(part)), queries(keys.size());
    for (std::int64_t i = 0; i < part; ++i) keys[static_cast<std::size_t>(i)] = 3 * (w.rank() * part + i);
    for (auto& query : queries) query = static_cast<std::int64_t>(random() % (3 * kItems));
    Multisearch<std::int64_t, std::int64_t>(w, keys, {.d = 1024}).search(w, queries);
    w.sync();
  });
  compare("sample sort of 2^20 numbers", [&](World& w) {
    std::mt19937_64 random(static_cast<unsigned>(w.rank()));
    std::vector<std::int64_t> mine(static_cast<std::size_t>(part));
    for (auto& one : mine) one = static_cast<std::int64_t>(random() >> 1);
    sample_sort(w, std::move(mine));
    w.sync();
  });
  std::vector<std::int64_t> order(static_cast<std::size_t>(part * p)), next(order.size(), -1);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
  for (std::size_t i = 1; i < order.size(); ++i) next[static_cast<std::size_t>(order[i - 1])] = order[i];
  compare("list ranking of 2^20 elements", [&](World& w) {
    list_ranks(w, part * p,
               std::span(next).subspan(static_cast<std::size_t>(part * w.rank()), static_cast<std::size_t>(part)));
    w.sync();
  });
  if (std::has_single_bit(static_cast<unsigned>(p))) {
    compare("Fourier transform of 2^20 numbers", [&](World& w) {
      std::vector<std::complex<double>> mine(static_cast<std::size_t>(part), {1, 2});
      fft(w, mine);
      w.sync();
    });
  }
}

void multisearch(int p) {
  constexpr std::int64_t kSegments = 1 << 20, kQueries = 1 << 20;
  std::vector<std::int64_t> keys(kSegments), queries(kQueries);
  for (std::int64_t i = 0; i < kSegments; ++i) keys[static_cast<std::size_t>(i)] = 3 * i;
  std::mt19937_64 random(1);
  for (auto& query : queries) query = static_cast<std::int64_t>(random() % (3 * kSegments));
  const std::string what = "2^20 queries among 2^20 segments";
  std::int64_t check = 0;
  double begin = now();
  for (const auto query : queries) check += std::lower_bound(keys.begin(), keys.end(), query) - keys.begin();
  note(what, "std::lower_bound, one core", (now() - begin) * 1e3, "ms");
  begin = now();
  std::vector<std::pair<std::int64_t, std::int64_t>> sorted;
  for (std::size_t i = 0; i < queries.size(); ++i) sorted.emplace_back(queries[i], static_cast<std::int64_t>(i));
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::int64_t> merged(queries.size());
  std::size_t at = 0;
  for (const auto& [query, number] : sorted) {
    while (at < keys.size() && keys[at] < query) ++at;
    merged[static_cast<std::size_t>(number)] = static_cast<std::int64_t>(at);
  }
  note(what, "sort and merge, one core", (now() - begin) * 1e3, "ms");
  for (const auto segment : merged) check -= segment;
  note(what, "the two agree (0: yes)", static_cast<double>(check), "");
  for (const int z : {0, p}) {
    double best = 1e9;
    for (int repeat = 0; repeat < 3; ++repeat) {
      run(p, [&](World& w) {
        const auto part = [&](const auto& all) {
          const auto size = all.size(), r = static_cast<std::size_t>(w.rank()), n = static_cast<std::size_t>(p);
          return std::span(all).subspan(size * r / n, size * (r + 1) / n - size * r / n);
        };
        Multisearch<std::int64_t, std::int64_t> tree(w, part(keys), {.d = 1024, .z = z});
        w.sync();
        const double start = now();
        tree.search(w, part(queries));
        if (w.rank() == 0) best = std::min(best, (now() - start) * 1e3);
      });
    }
    note(what, fmt::format("multisearch, {} threads, {}", p, z == 0 ? "random mapping" : "z-mapping"), best, "ms");
  }
}

/// Bytes of the process that lie in memory.
double resident() {
  std::ifstream pages("/proc/self/statm");
  double all = 0, in_memory = 0;
  pages >> all >> in_memory;
  return in_memory * static_cast<double>(sysconf(_SC_PAGESIZE));
}

void many_processors(int p, int steps) {
  const double before = resident();
  double within = 0;
  std::vector<double> times;
  for (int repeat = 0; repeat < 4; ++repeat) {  // the first is for the memory, which takes time to ask for
    const double begin = now();
    run(p,
        [&](World& w) {
          int value = w.rank();
          for (int step = 0; step < steps; ++step) {
            w.send((w.rank() + 1) % w.size(), value);
            w.sync();
            value = w.received<int>().begin()->value();
            if (repeat == 0 && w.rank() == 0 && step == steps / 2) within = resident();
          }
          if (value != (w.rank() - steps + p) % p) std::abort();
        },
        {.engine = Engine::virtual_processors});
    if (repeat > 0) times.push_back(now() - begin);
  }
  const std::string what = fmt::format("{} virtual processors, {} supersteps", p, steps);
  note(what, "wall clock, a message each", median(times), "s");
  note(what, "touched memory each", (within - before) / p, "bytes");
}

void uneven_work() {
  constexpr int kP = 64;
  const std::string what = "uneven work, 64 processors, 2 carriers";
  for (const bool migrate : {false, true}) {
    std::vector<double> times;
    for (int repeat = 0; repeat < 5; ++repeat) {
      const double begin = now();
      run(kP,
          [&](World& w) {
            for (int step = 0; step < 10; ++step) {
              volatile std::uint64_t sink = 1;
              const int work = w.rank() < kP / 2 ? 200'000 : 2'000;  // the first carrier's processors work
              for (int i = 0; i < work; ++i) sink = sink * 6364136223846793005ULL + 1;
              w.sync();
            }
          },
          {.engine = Engine::virtual_processors, .carriers = 2, .migrate = migrate});
      times.push_back((now() - begin) * 1e3);
    }
    note(what, migrate ? "processors move to idle carriers" : "processors stay", median(times), "ms");
  }
}

void deterministic_cost() {
  for (const auto& [how, options] :
       {std::pair{"2 carriers", Options{.engine = Engine::virtual_processors, .carriers = 2}},
        std::pair{"deterministic", Options{.deterministic = true}}}) {
    double steps = 0;
    run(
        10'000,
        [&](World& w) {
          w.sync();
          const double start = now();
          for (int i = 0; i < 100; ++i) w.sync();
          if (w.rank() == 0) steps = now() - start;
        },
        options);
    note("empty superstep, 10^4 virtual processors", how, steps / 100 * 1e9 / 10'000, "ns a processor");
  }
}

}  // namespace
}  // namespace chasqui::bsp

int main(int argc, char** argv) {
  namespace bsp = chasqui::bsp;
  const int cores = static_cast<int>(std::max(2U, std::thread::hardware_concurrency()));
  const std::pair<std::string, std::function<void()>> parts[] = {
      {"sync", [&] { bsp::barriers(2), cores > 2 ? bsp::barriers(cores) : void(); }},
      {"messages", [&] { bsp::exchange(2), cores > 2 ? bsp::exchange(cores) : void(); }},
      {"algorithms", [&] { bsp::algorithms(cores); }},
      {"multisearch", [&] { bsp::multisearch(cores); }},
      {"virtual", [] { bsp::many_processors(100'000, 100), bsp::many_processors(1'000'000, 10); }},
      {"uneven", bsp::uneven_work},
      {"idle", bsp::deterministic_cost},
  };
  std::string file;
  std::vector<std::string> wanted;
  for (const std::string& one : std::vector<std::string>(argv + 1, argv + argc)) {
    if (one.ends_with(".csv")) file = one;
    else if (std::ranges::any_of(parts, [&](const auto& part) { return part.first == one; })) wanted.push_back(one);
    else return fmt::print(stderr, "bench_bsp: no part \"{}\": see the head of bench/bsp.cpp\n", one), 2;
  }
  for (const auto& [name, run] : parts) {
    if (wanted.empty() || std::ranges::find(wanted, name) != wanted.end()) run();
  }
  if (!file.empty()) std::ofstream(file) << bsp::csv;
}
