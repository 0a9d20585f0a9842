// SPDX-License-Identifier: MIT
// One round of measuring: every parameter once, on one communicator, then as much of the table of collectives as fits.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "chasqui/run/comm.hpp"
#include "chasqui/run/estimate.hpp"

namespace chasqui::run {

inline constexpr int kWords = 32;  ///< of the longer superstep

/// What one round found of the parameters.
struct Round {
  std::optional<MessageRound> node, network;
  bool board = false, threads = false;
  std::int64_t node_ranks = 0, ranks = 0;
  double publish = 0, publish_all = 0, copy = 0;
  double superstep = 0, long_superstep = 0;
  double least = 0;  ///< nanoseconds that it takes with one sample of each
  bool cut = false;  ///< one sample of some parameter had to do
};

/// A budget of time for a round, from its begin on; rank 0's counts.
struct RoundBudget {
  double begun = 0, nanoseconds = 0;
  std::function<void(const char* what)> progress;  ///< called on rank 0
  double left(double share) const;                 ///< nanoseconds until this share of it is spent
};

/// Collective.
Round measure_parameters(Comm& comm, const RoundBudget& budget);

/// What the collectives take, ours and the library's in turn, so that both see the same weather. Each round goes on
/// where the last one was out of time.
class CollectiveTable {
 public:
  /// Collective: times entries until the budget is spent, but none twice.
  void measure(Comm& comm, const RoundBudget& budget);

  std::map<std::string, Times> ours() const { return medians(&Values::ours); }
  std::map<std::string, Times> native() const { return medians(&Values::native); }
  std::size_t entries() const { return entries_; }  ///< that there could be
  std::size_t timed() const;                        ///< that are there

 private:
  struct Entry {
    Kind kind;
    std::int64_t bytes;
  };
  struct Values {
    std::vector<double> ours, native;  ///< a value of each round
  };
  static std::vector<Entry> entries_for(int ranks);
  std::map<std::string, Times> medians(std::vector<double> Values::*who) const;
  /// From short messages to long ones: between and a little beyond them straight lines say the rest.
  bool reaches_far(Kind kind) const;

  std::map<Kind, std::map<std::int64_t, Values>> values_;  ///< rank 0: by bytes as the profile counts them
  std::map<Kind, std::int64_t> largest_;
  std::size_t entries_ = 0;
  int at_ = 0;  ///< rank 0: the entry to begin with
};

}  // namespace chasqui::run
