// SPDX-License-Identifier: MIT
// The memory of a process whose number means another one now is not read, nor written. Run as root of a namespace of processes
// of its own, where numbers can be chosen: unshare -Urpf --mount-proc reused
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

#include "chasqui/base/error.hpp"
#include "run/board/process_memory.hpp"

namespace {

volatile int word = 7;

/// A process that only waits; its memory lies where ours does.
pid_t start() {
  const pid_t child = fork();
  if (child == 0) {
    word = word + 1;
    for (;;) pause();
  }
  return child;
}

void end(pid_t child) {
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

void expect(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

template <typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const chasqui::Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

int main() {
  try {
    const pid_t first = start();
    const auto memory = chasqui::run::memory_of({first});
    if (memory == nullptr) return 77;  // this kernel cannot tell
    memory->name_ranks({7});
    int found = 0;
    const void* there = const_cast<const int*>(&word);
    while (found != 8) memory->read(0, &found, there, sizeof found);
    end(first);
    std::ofstream("/proc/sys/kernel/ns_last_pid") << first - 1;
    const pid_t second = start();
    if (second != first) return 77;  // numbers cannot be chosen here
    const auto read = error_of([&] { memory->read(0, &found, there, sizeof found); });
    const auto written = error_of([&] { memory->write(0, const_cast<void*>(there), &found, sizeof found); });
    const auto fresh = chasqui::run::memory_of({second});
    const auto again = error_of([&] { fresh->read(0, &found, there, sizeof found); });
    end(second);
    expect(read.find("rank 7: its process has ended, or was killed") != std::string::npos, "another process was read");
    expect(written.find("rank 7: its process has ended, or was killed") != std::string::npos,
           "another process was written to");
    expect(again.empty(), "the new process is not reached");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  std::puts("numbers of processes: right");
}
