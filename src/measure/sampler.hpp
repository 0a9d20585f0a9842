// SPDX-License-Identifier: MIT
// Samples of what all ranks do together, inside a budget of time: rank 0 looks at the clock and says how many, all
// ranks take as many. One message to all per batch of samples; none for what is left out.
#pragma once

#include <functional>
#include <optional>

#include "chasqui/run/comm.hpp"
#include "measure/common_start.hpp"
#include "measure/estimate.hpp"
#include "measure/time_budget.hpp"
#include "run/compare/comparison.hpp"

namespace chasqui::measure {

class Sampler {
 public:
  explicit Sampler(run::Comm& comm) : comm_(comm), start_(comm) {}  ///< Collective.
  /// With another clock, of one host (tests).
  Sampler(run::Comm& comm, std::function<double()> clock) : comm_(comm), start_(comm, std::move(clock), false) {}

  /// Collective: the parts that follow have this many nanoseconds together, as rank 0 says.
  /// `each`: every part takes a sample at least, however late it is; otherwise what does not fit is left out.
  void open(double nanoseconds, bool each);

  /// The median of samples that take this share of the time opened; the first, of five and more the first two, warm up. Nothing: it did not fit.
  std::optional<double> median(double share, const std::function<double()>& sample);

  /// Collective: one sample, from a common start to the latest finish.
  double once(const std::function<void()>& body) { return start_.once(body); }
  /// The median of such samples of one collective. before: what each rank does before that start.
  std::optional<double> together(double share, const std::function<void()>& body,
                                 const std::function<void()>& before = {});

  /// Collective: the MPI library's calls and ours in blocks by turns, as the drop-in library compares them in a program, ranks together before each call.
  /// How many times as long the MPI library's takes. meets: does no rank leave one before all have come? Nothing: it did not fit.
  std::optional<double> compare(double share, bool meets, const std::function<void(run::Side)>& call,
                                const std::function<void()>& before = {});

  /// For parts that all take a sample at least.
  Median every();

  double least() const { return least_; }  ///< rank 0: nanoseconds that one sample of each part so far takes
  /// Collective: how far times may be off because the hosts' clocks differ.
  double clocks() { return start_.uncertainty_by_now(); }
  bool cut() const { return cut_; }  ///< rank 0: some part had to do with one sample or none

 private:
  run::Comm& comm_;
  CommonStart start_;
  TimeBudget budget_{0, 0, false};
  int next_ = 0;  ///< samples that the next part begins with
  double least_ = 0;
  bool cut_ = false;
};

}  // namespace chasqui::measure
