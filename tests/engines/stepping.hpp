// SPDX-License-Identifier: MIT
// A rank that is stopped after every instruction of its collectives, or killed after some: ptrace.
#pragma once

#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>

#include <cerrno>
#include <csignal>

namespace chasqui::engines {

/// Raised before and after each collective that is to be stepped through; ignored where nobody traces.
inline constexpr int kMark = SIGUSR2;

/// Of the calling thread, by the process that started this one. False: not permitted here.
inline bool be_traced() { return ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0; }

/// A thread that is traced, stopped at the moment.
class Traced {
 public:
  explicit Traced(pid_t thread) : thread_(thread) {}
  bool alive() const { return alive_; }
  int status() const { return status_; }  ///< as waitpid() gives it

  /// Runs to the next mark. False: it has ended before.
  bool to_mark() {
    while (go_on(PTRACE_CONT)) {
      if (WSTOPSIG(status_) == kMark) return true;
    }
    return false;
  }

  /// Instruction by instruction to the next mark, or so many; now and then it is stopped for longer, so that the others wait in
  /// earnest. Returns how many they were.
  long step(long most) {
    for (long steps = 0; steps < most; ++steps) {
      if (steps % 256 == 255) pause();
      if (!go_on(PTRACE_SINGLESTEP) || WSTOPSIG(status_) == kMark) return steps;
    }
    return most;
  }

  void let_go() {
    if (alive_) ptrace(PTRACE_DETACH, thread_, nullptr, nullptr);
  }

 private:
  bool go_on(decltype(PTRACE_CONT) how) {
    const int passed_on = alive_ && WSTOPSIG(status_) != SIGTRAP && WSTOPSIG(status_) != kMark ? WSTOPSIG(status_) : 0;
    status_ = 0;
    alive_ = ptrace(how, thread_, nullptr, static_cast<long>(passed_on)) == 0;
    if (waitpid(thread_, &status_, __WALL) != thread_ || !WIFSTOPPED(status_)) alive_ = false;
    return alive_;
  }
  static void pause() {
    const timespec time{0, 1'000'000};
    nanosleep(&time, nullptr);
  }

  pid_t thread_;
  int status_ = SIGTRAP << 8 | 0x7f;  ///< as if it had just stopped
  bool alive_ = true;
};

}  // namespace chasqui::engines
