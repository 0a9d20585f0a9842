// SPDX-License-Identifier: MIT
// Bulk (Buurlage and others) and LPF (Suijlen and Yzelman) in the same run as ours, on threads, and Bulk over MPI
// (BSP_RIVALS_MPI): `bench/bsp_rivals.sh BULK_DIR LPF_DIR BUILD_DIR`. No part of them is in this tree. Bulk's queues carry what
// ours do, 8 bytes a message; both of its barriers are tried. LPF has puts only: 8 bytes each, to a place that belongs to the
// sender, and how many there are. Medians.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "chasqui/base/clock.hpp"
#include "chasqui/bsp/run.hpp"

// Bulk's headers need standard ones before them.
#include <bulk/bulk.hpp>
#ifdef BSP_RIVALS_MPI
#include <bulk/backends/mpi/mpi.hpp>

#include "chasqui/bsp/mpi.hpp"
#else
#include <lpf/core.h>

#include <bulk/backends/thread/thread.hpp>
#endif

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
  const auto program = [&](chasqui::bsp::World& w) {
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
  };
#ifdef BSP_RIVALS_MPI
  chasqui::bsp::run_mpi(program);
#else
  chasqui::bsp::run(p, program, {.engine = chasqui::bsp::Engine::threads});
#endif
}

void bulks(bulk::environment& environment, int p, Times& times) {
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

#ifndef BSP_RIVALS_MPI
template <typename Environment>
void bulks(int p, Times& times) {
  Environment environment;
  bulks(environment, p, times);
}

void check(lpf_err_t status) {
  if (status != LPF_SUCCESS) std::fprintf(stderr, "LPF failed\n"), std::abort();
}

Times* lpf_times = nullptr;  ///< LPF hands arguments to its first process only

void lpf_program(lpf_t context, lpf_pid_t rank, lpf_pid_t p, lpf_args_t) {
  Times& times = *lpf_times;
  check(lpf_resize_memory_register(context, 3));
  check(lpf_resize_message_queue(context, kMessages * p + p));
  check(lpf_sync(context, LPF_SYNC_DEFAULT));
  const double begin = chasqui::clock_now();
  for (int i = 0; i < kSyncs; ++i) check(lpf_sync(context, LPF_SYNC_DEFAULT));
  if (rank == 0) times.sync.push_back((chasqui::clock_now() - begin) / kSyncs);

  std::vector<std::int64_t> from(kMessages), in(std::size_t{kMessages} * p), sent(p), counts(p);
  lpf_memslot_t from_slot, in_slot, sent_slot, counts_slot;
  check(lpf_resize_memory_register(context, 4));
  check(lpf_sync(context, LPF_SYNC_DEFAULT));
  check(lpf_register_local(context, from.data(), from.size() * 8, &from_slot));
  check(lpf_register_local(context, sent.data(), sent.size() * 8, &sent_slot));
  check(lpf_register_global(context, in.data(), in.size() * 8, &in_slot));
  check(lpf_register_global(context, counts.data(), counts.size() * 8, &counts_slot));
  check(lpf_sync(context, LPF_SYNC_DEFAULT));
  const std::vector<int> to = destinations(static_cast<int>(rank), static_cast<int>(p));
  std::int64_t sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double start = chasqui::clock_now();
    std::fill(sent.begin(), sent.end(), 0);
    for (std::size_t i = 0; i < to.size(); ++i) {
      from[i] = static_cast<std::int64_t>(i);
      const auto there = static_cast<std::size_t>(to[i]);
      const auto place = rank * std::size_t{kMessages} + static_cast<std::size_t>(sent[there]++);
      check(lpf_put(context, from_slot, i * 8, static_cast<lpf_pid_t>(there), in_slot, place * 8, 8, LPF_MSG_DEFAULT));
    }
    for (lpf_pid_t there = 0; there < p; ++there)
      check(lpf_put(context, sent_slot, there * 8, there, counts_slot, rank * 8, 8, LPF_MSG_DEFAULT));
    check(lpf_sync(context, LPF_SYNC_DEFAULT));
    for (lpf_pid_t there = 0; there < p; ++there) {
      for (std::int64_t i = 0; i < counts[there]; ++i)
        sum += in[there * std::size_t{kMessages} + static_cast<std::size_t>(i)];
    }
    if (rank == 0) times.exchange.push_back(chasqui::clock_now() - start);
  }
  times.sum += sum;
  check(lpf_sync(context, LPF_SYNC_DEFAULT));
}

void lpfs(int p, Times& times) {
  lpf_times = &times;
  check(lpf_exec(LPF_ROOT, static_cast<lpf_pid_t>(p), lpf_program, LPF_NO_ARGS));
}
#endif

}  // namespace

#ifdef BSP_RIVALS_MPI
int main() {
  bulk::mpi::environment environment;  // MPI begins and ends with it
  const int p = environment.available_processors();
  Times mine, theirs;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    ours(p, mine);
    bulks(environment, p, theirs);
  }
  if (mine.sum != theirs.sum) std::fprintf(stderr, "the sums differ\n"), std::abort();
  if (mine.sync.empty()) return 0;
  std::printf("ranks,what,ours,Bulk,unit\n");
  std::printf("%d,sync() without messages,%.3g,%.3g,us\n", p, median(mine.sync) / 1e3, median(theirs.sync) / 1e3);
  std::printf("%d,10^4 messages of 8 bytes,%.3g,%.3g,us\n", p, median(mine.exchange) / 1e3,
              median(theirs.exchange) / 1e3);
}
#else
int main() {
  const int cores = static_cast<int>(std::max(2U, std::thread::hardware_concurrency()));
  std::printf("threads,what,ours,Bulk with std::barrier,Bulk with its spinning barrier,LPF,unit\n");
  for (const int p : {2, cores}) {
    Times mine, standard, spinning, lpf;
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      ours(p, mine);
      bulks<bulk::thread::environment>(p, standard);
      bulks<bulk::thread::environment_<bulk::thread::spinning_barrier> >(p, spinning);
      lpfs(p, lpf);
    }
    if (mine.sum != standard.sum || mine.sum != spinning.sum || mine.sum != lpf.sum)
      return std::fprintf(stderr, "the sums differ\n"), 1;
    std::printf("%d,sync() without messages,%.3g,%.3g,%.3g,%.3g,us\n", p, median(mine.sync) / 1e3,
                median(standard.sync) / 1e3, median(spinning.sync) / 1e3, median(lpf.sync) / 1e3);
    std::printf("%d,10^4 messages of 8 bytes,%.3g,%.3g,%.3g,%.3g,us\n", p, median(mine.exchange) / 1e3,
                median(standard.exchange) / 1e3, median(spinning.exchange) / 1e3, median(lpf.exchange) / 1e3);
    if (p == cores && cores == 2) break;
  }
}
#endif
