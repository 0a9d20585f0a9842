// SPDX-License-Identifier: MIT
// What the blocks of an all-to-all cost, moved by processes that do nothing else: the bound for whoever cannot map the others' memory.
// Fresh data, a common start, the slowest process, median and least tenth:
//   c++ -std=c++20 -O2 bench/node/copies.cpp -o copies && ./copies 16 [BUFFERS]
// BUFFERS: pairs of buffers that take turns, 1 if not given; node_bench has 2 from 16 KiB a block on.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int kMost = 64;
constexpr int kMostBuffers = 16;
constexpr std::size_t kLongest = std::size_t{1} << 20;  // bytes of a block

struct Common {
  alignas(64) std::atomic<int> come;
  alignas(64) std::atomic<int> round;
  double time[kMost];
  pid_t process[kMost];
  char* given[kMostBuffers][kMost];  // where each process has its blocks
};

Common* common;
int ranks = 16, me = 0;
int pipes[kMost][kMost][2];  // from one process to another

void barrier() {
  const int round = common->round.load();
  if (common->come.fetch_add(1) + 1 == ranks) {
    common->come = 0;
    common->round = round + 1;
  }
  while (common->round.load() == round) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
}

double now() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void* shared(std::size_t bytes) {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
}

/// Each lends its blocks to pipes, and takes those of the others out of them, until it has done both.
void through_pipes(char* given, char* gotten, std::size_t bytes) {
  std::vector<std::size_t> lent(static_cast<std::size_t>(ranks)), taken(lent);
  for (int open = 2 * (ranks - 1); open != 0;) {
    for (int k = 1; k < ranks; ++k) {
      const int to = (me - k + ranks) % ranks;
      std::size_t& done = lent[static_cast<std::size_t>(to)];
      if (done == bytes) continue;
      const iovec pages{given + bytes * static_cast<std::size_t>(to) + done, bytes - done};
      const ssize_t more = vmsplice(pipes[me][to][1], &pages, 1, SPLICE_F_NONBLOCK);
      if (more > 0) done += static_cast<std::size_t>(more);
      open -= more > 0 && done == bytes;
    }
    for (int k = 1; k < ranks; ++k) {
      const int from = (me + k) % ranks;
      std::size_t& done = taken[static_cast<std::size_t>(from)];
      if (done == bytes) continue;
      const ssize_t more =
          read(pipes[from][me][0], gotten + bytes * static_cast<std::size_t>(from) + done, bytes - done);
      if (more > 0) done += static_cast<std::size_t>(more);
      open -= more > 0 && done == bytes;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) ranks = std::clamp(std::atoi(argv[1]), 2, kMost);
  const int buffers = argc > 2 ? std::clamp(std::atoi(argv[2]), 1, kMostBuffers) : 1;
  const std::size_t row = kLongest * static_cast<std::size_t>(ranks);
  common = static_cast<Common*>(shared(sizeof(Common)));
  auto* const stages = static_cast<char*>(shared(row * static_cast<std::size_t>(ranks)));
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      if (pipe2(pipes[from][to], O_NONBLOCK) != 0)
        return std::perror("pipe2: ulimit -n must be four for each pair and more"), 1;
      fcntl(pipes[from][to][1], F_SETPIPE_SZ, 128 * 1024);
    }
  }
  const pid_t first = getpid();
  for (int r = 1; r < ranks && getpid() == first; ++r) {
    if (fork() != 0) continue;
    me = r;
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody waits for ever for one that is gone
    if (getppid() != first) _exit(1);
  }
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  cpu_set_t core;
  CPU_ZERO(&core);
  CPU_SET(static_cast<std::size_t>(me) % static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN)), &core);
  sched_setaffinity(0, sizeof core, &core);
  std::vector<std::vector<char>> all_given(static_cast<std::size_t>(buffers), std::vector<char>(row, 1));
  auto all_gotten = all_given;
  common->process[me] = getpid();
  for (int b = 0; b < buffers; ++b) common->given[b][me] = all_given[static_cast<std::size_t>(b)].data();
  barrier();
  const char* const names[] = {"own memory to own memory", "out of shared memory", "process_vm_readv",
                               "to a stage, then out of it", "pages lent to pipes"};
  for (std::size_t bytes = 16384; bytes <= kLongest; bytes *= 4) {
    std::vector<double> times[std::size(names)];
    for (int rep = 0; rep < (bytes <= 65536 ? 200 : 40); ++rep) {
      const int turn = rep % buffers;
      auto& given = all_given[static_cast<std::size_t>(turn)];
      auto& gotten = all_gotten[static_cast<std::size_t>(turn)];
      for (std::size_t way = 0; way < std::size(names); ++way) {
        const auto stage = [&](int from, int to) {
          return stages + row * static_cast<std::size_t>(from) + bytes * static_cast<std::size_t>(to);
        };
        std::memset(way == 1 ? stage(me, 0) : given.data(), rep + me, bytes * static_cast<std::size_t>(ranks));
        const auto each = [&](auto copy) {  // the right neighbour first
          for (int k = 1; k < ranks; ++k) copy((me + k) % ranks, bytes * static_cast<std::size_t>((me + k) % ranks));
        };
        const auto out_of_stages = [&](int other, std::size_t at) {
          std::memcpy(gotten.data() + at, stage(other, me), bytes);
        };
        barrier();
        const double begin = now();
        if (way == 0) each([&](int, std::size_t at) { std::memcpy(gotten.data() + at, given.data() + at, bytes); });
        if (way == 1) each(out_of_stages);
        if (way == 2) {
          each([&](int other, std::size_t at) {
            const iovec to{gotten.data() + at, bytes};
            const iovec from{common->given[turn][other] + bytes * static_cast<std::size_t>(me), bytes};
            if (process_vm_readv(common->process[other], &to, 1, &from, 1, 0) < 0) std::perror("process_vm_readv");
          });
        }
        if (way == 3) {
          each([&](int other, std::size_t at) { std::memcpy(stage(me, other), given.data() + at, bytes); });
          barrier();
          each(out_of_stages);
        }
        if (way == 4) through_pipes(given.data(), gotten.data(), bytes);
        common->time[me] = now() - begin;
        barrier();
        if (rep > 2) times[way].push_back(*std::max_element(common->time, common->time + ranks));
        barrier();
      }
    }
    for (std::size_t way = 0; me == 0 && way < std::size(names); ++way) {
      std::sort(times[way].begin(), times[way].end());
      std::printf("%8zu bytes a block  %-28s%10.1f us%10.1f\n", bytes, names[way], times[way][times[way].size() / 2],
                  times[way][times[way].size() / 10]);
      std::fflush(stdout);
    }
  }
  if (me != 0) _exit(0);
  while (wait(nullptr) > 0) {
  }
}
