// SPDX-License-Identifier: MIT
// What a terminal shows while a command takes longer than a second: a bar where the share of the work is known, a pulse
// where it is not. On the error stream; silent where that is no terminal.
#pragma once

#include <chrono>
#include <condition_variable>
#include <string>
#include <thread>

namespace chasqui::cli {

class Progress {
 public:
  explicit Progress(std::string what);
  Progress(std::string what, bool terminal);  ///< where somebody else knows whether it will be seen
  ~Progress();                                ///< wipes the bar
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// A share of the work, 0 .. 1, is done. Cheap: draws at most ten times a second.
  void operator()(double share);
  /// A line of words instead of the bar, as seldom.
  void say(const std::string& line);

 private:
  bool is_time();

  std::string what_;
  bool terminal_;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point last_;
};

/// "[  <=>      ] plan, 3 s" while it lives and no Progress does.
class Pulse {
 public:
  explicit Pulse(std::string what);
  ~Pulse();
  Pulse(const Pulse&) = delete;
  Pulse& operator=(const Pulse&) = delete;

 private:
  void beat(const std::string& what);

  std::condition_variable ended_;
  bool over_ = false;
  std::thread thread_;
};

/// No bar from now on: this process is somebody else's program.
void silence_progress();

/// Before anything else is written to the terminal.
void wipe_progress();

}  // namespace chasqui::cli
