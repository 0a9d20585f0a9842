// SPDX-License-Identifier: MIT
#include "cli/interrupt.hpp"

namespace chasqui::cli {

volatile std::sig_atomic_t Interrupt::asked_ = 0;

void Interrupt::note(int signal) {
  asked_ = 1;
  std::signal(signal, SIG_DFL);
}

Interrupt::Interrupt() {
  asked_ = 0;
  std::signal(SIGINT, note);
  std::signal(SIGTERM, note);
}

Interrupt::~Interrupt() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace chasqui::cli
