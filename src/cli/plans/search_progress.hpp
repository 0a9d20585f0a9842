// SPDX-License-Identifier: MIT
// One line on the error stream about an exact search that takes longer than a second; silent where that is no terminal.
#pragma once

#include <string>

#include "chasqui/solve/solve.hpp"
#include "cli/frame/progress.hpp"

namespace chasqui::cli {

class SearchProgress {
 public:
  /// `quiet`: show nothing at all.
  explicit SearchProgress(bool quiet = false);
  ~SearchProgress();  ///< wipes the line
  SearchProgress(const SearchProgress&) = delete;
  SearchProgress& operator=(const SearchProgress&) = delete;

  /// Makes the search report here. `what` opens the line: "12 of 300, 3 open: allgather P=5 …".
  void watch(solve::Options& options, std::string what = {});
  /// Before anything else is printed.
  void wipe();

 private:
  void draw(const solve::Progress& progress);

  Progress no_pulse_{"searching"};  ///< this line takes the pulse's place
  bool shown_;
  std::string what_;
  std::size_t width_ = 0;  ///< of what is on the screen
};

}  // namespace chasqui::cli
