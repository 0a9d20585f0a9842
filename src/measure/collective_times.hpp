// SPDX-License-Identifier: MIT
// What the collectives take as they are called, kind by kind and size by size, collected over the rounds of measuring.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "measure/parameters.hpp"

namespace chasqui::measure {

/// The library's against ours in blocks by turns, so that drift hits both alike. Each round goes on where the last one was out of time.
class CollectiveTimes {
 public:
  /// Collective: times entries until the budget is spent, but none twice.
  void measure(run::Comm& comm, const RoundBudget& budget);

  std::map<std::string, Times> ours() const { return medians(&Values::ours); }
  std::map<std::string, Times> cross_memory() const { return medians(&Values::cross_memory); }
  std::map<std::string, Times> native() const { return medians(&Values::native); }
  std::size_t entries() const { return entries_; }  ///< that there could be
  std::size_t timed() const;                        ///< that are there

 private:
  struct Entry {
    Kind kind;
    std::int64_t bytes;
  };
  struct Values {
    std::vector<double> ours, cross_memory, native;  ///< a value of each round
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

}  // namespace chasqui::measure
