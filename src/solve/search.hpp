// SPDX-License-Identifier: MIT
// What the engines share: where the search stands, and when it must end.
#pragma once

#include <chrono>
#include <limits>

#include "chasqui/solve/solve.hpp"
#include "solve/sat.hpp"

namespace chasqui::solve {

/// Later than any finish time.
inline constexpr Time kNoCeiling{std::numeric_limits<std::int64_t>::max()};

/// Bound and best schedule close in on each other; every claim of an engine goes through here.
class Search {
 public:
  Search(const Instance& instance, const Options& options, std::string_view engine);

  const Instance& instance() const { return instance_; }
  Time bound() const { return answer_.bound; }
  bool has_best() const { return answer_.best.has_value(); }
  const Schedule& best() const { return *answer_.best; }
  /// The greatest finish time still worth asking for: one less than the best, and within the limit asked for. Empty: any.
  std::optional<Time> ceiling() const;
  bool decided() const;

  /// A schedule was found. It is verified; an illegal one is a bug of the encoding and aborts.
  void found(Schedule schedule);
  /// Nothing finishes by T.
  void refuted(Time T, Evidence evidence, std::string_view how);
  /// For progress reports.
  void asking(Time T);
  double seconds() const;
  bool out_of_time() const;
  /// Out of time? Polled by solvers, and reports progress now and then.
  Stop stop();

  Answer answer() const;

 private:
  void report();

  const Instance& instance_;
  const Options& options_;
  std::string_view engine_;
  std::optional<Time> asking_;
  double reported_ = 0;  ///< seconds at the last report
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  Answer answer_;
};

Answer solve_by_sat(const Instance& instance, const Options& options);
Answer solve_by_milp(const Instance& instance, const Options& options);

/// Two answers to one question must not exclude each other: no schedule below the other's bound. Throws an Error that spells out instance
/// and answers.
void check_agreement(const Instance& instance, const Answer& sat, const Answer& milp);

}  // namespace chasqui::solve
