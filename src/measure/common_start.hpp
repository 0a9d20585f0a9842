// SPDX-License-Identifier: MIT
// Timing a call from a common start to the latest finish.
#pragma once

#include <functional>
#include <vector>

#include "chasqui/run/comm.hpp"
#include "measure/clocks.hpp"

namespace chasqui::measure {

/// Times a call on all ranks of a communicator.
class CommonStart {
 public:
  /// Collective. Clocks are compared where ranks lie on several hosts; in simulated time all ranks have one.
  explicit CommonStart(run::Comm& comm);
  CommonStart(run::Comm& comm, std::function<double()> clock, bool clocks_differ);  ///< with another clock (tests)

  /// Collective: begins `body` everywhere at one time. Nanoseconds until the last rank has finished; the same everywhere.
  double once(const std::function<void()>& body);

  /// One of several calls.
  struct Timed {
    double span = 0;   ///< as `once` has it
    double late = 0;   ///< how late the last rank began
    double worst = 0;  ///< the greatest that `after` gave
  };
  /// What is done with each of several calls.
  struct Bodies {
    std::function<void(std::size_t)> before, timed;
    std::function<double(std::size_t)> after;
  };
  /// Collective: as many calls as `slots` has, each from a common start. Ranks agree about all starts and finishes together, which saves
  /// most of the time where agreeing takes longer than calls. A call's slot, in nanoseconds, is from its start to the next one's; one that takes
  /// longer makes the next begin late.
  std::vector<Timed> several(const std::vector<double>& slots, const Bodies& bodies);

  /// What a slot needs beside the call.
  double slack() const { return slack_; }

  /// How late the last rank began the last call, in nanoseconds: it had not heard of the start in time, or lost its core.
  double late() const { return late_; }

  /// How far a time may be off because clocks differ, in nanoseconds: the greatest of all ranks; 0 on one host.
  double uncertainty() const { return uncertainty_; }
  /// Collective: the same, with what the clocks have run apart since they were compared.
  double uncertainty_by_now();

  /// What rank 0's clock shows now, and how far this rank's is ahead of it; nanoseconds.
  double now() const { return clock_() - offset_.ahead; }
  double ahead() const { return offset_.ahead; }  ///< of this rank's clock

 private:
  void wait_until(double start);

  run::Comm& comm_;
  void (*sleep_until_)(double) = nullptr;  ///< where time is simulated, and passes in such calls alone
  std::function<double()> clock_;
  ClockOffset offset_;
  double uncertainty_ = 0;
  double lead_ = 0;  ///< a start lies so far ahead
  double slack_ = 0;
  double late_ = 0;
};

}  // namespace chasqui::measure
