// SPDX-License-Identifier: MIT
// Waiting for single messages of a measurement, outside of collectives: a rank that is stopped, or has ended, keeps the others waiting, and after
// the patience of the fabric they say so.
#pragma once

#include <fmt/core.h>

#include <cstdio>

#include "chasqui/base/clock.hpp"
#include "run/comm/fabric.hpp"
#include "run/wait/backoff.hpp"
#include "run/wait/cores.hpp"

namespace chasqui::measure {

class Waiting {
 public:
  explicit Waiting(const run::Fabric& fabric)
      : rank_(fabric.rank), backoff_(cores() < 2 || fabric.size > cores()), notice_(fabric.patience.notice * 1e9) {}

  /// Between two looks for what is waited for.
  void pause(bool may_sleep = true) {
    if (backoff_.pause(may_sleep) && notice_ > 0) look();
  }

 private:
  static int cores() {
    static const int all = run::available_cores();
    return all;
  }
  void look() {
    const double now = clock_now();
    if (since_ == 0) since_ = now;
    if (now - since_ < notice_) return;
    const std::string line = fmt::format(
        "chasqui: rank {} has waited {:.3g} s for a message of a measurement: another rank may be stopped, or have ended\n",
        rank_, (now - since_) / 1e9);
    std::fputs(line.c_str(), stderr);
    notice_ *= 2;
  }

  int rank_;
  run::Backoff backoff_;
  double notice_;     ///< nanoseconds after which the next line comes; 0: none
  double since_ = 0;  ///< when the core was first given away
};

/// Returns when the ticket of the fabric's messages is done.
inline void finish(const run::Fabric& fabric, run::Transport::Ticket ticket) {
  if (fabric.timing.blocks) fabric.messages->wait(ticket);
  Waiting waiting(fabric);
  while (!fabric.messages->done(ticket)) waiting.pause();
}

}  // namespace chasqui::measure
