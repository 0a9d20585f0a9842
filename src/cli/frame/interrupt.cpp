// SPDX-License-Identifier: MIT
#include "cli/frame/interrupt.hpp"

#include <ctime>

namespace chasqui::cli {

volatile std::sig_atomic_t Interrupt::asked_ = 0;

// One Ctrl-C may arrive twice, sent to the process and to its group: a second one counts only half a second later.
void Interrupt::note(int signal) {
  static timespec first;
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);  // allowed in a signal handler
  if (asked_ == 0) {
    asked_ = 1;
    first = now;
    return;
  }
  const double since =
      static_cast<double>(now.tv_sec - first.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec - first.tv_nsec);
  if (since < 0.5) return;
  std::signal(signal, SIG_DFL);
  raise(signal);
}

Interrupt::Interrupt() {
  asked_ = 0;
  before_[0] = std::signal(SIGINT, note);
  before_[1] = std::signal(SIGTERM, note);
}

Interrupt::~Interrupt() {
  std::signal(SIGINT, before_[0]);
  std::signal(SIGTERM, before_[1]);
}

}  // namespace chasqui::cli
