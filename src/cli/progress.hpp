// SPDX-License-Identifier: MIT
// A progress bar on the error stream for work that takes longer than a second; silent where that is no terminal.
#pragma once

#include <chrono>
#include <string>

namespace chasqui::cli {

class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();  ///< wipes the bar
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// A share of the work, 0 .. 1, is done. Cheap: draws at most ten times a second.
  void operator()(double share);

 private:
  std::string what_;
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace chasqui::cli
