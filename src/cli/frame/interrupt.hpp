// SPDX-License-Identifier: MIT
// Ctrl-C as a question: while one of these lives, the first SIGINT or SIGTERM sets a flag, another one half a second later ends the program.
#pragma once

#include <csignal>

namespace chasqui::cli {

class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  static bool asked() { return asked_ != 0; }

 private:
  using Handler = void (*)(int);

  static void note(int signal);
  static volatile std::sig_atomic_t asked_;
  Handler before_[2];  ///< of SIGINT and SIGTERM: put back at the end
};

}  // namespace chasqui::cli
