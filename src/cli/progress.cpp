// SPDX-License-Identifier: MIT
#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace chasqui::cli {

using namespace std::chrono_literals;

Progress::Progress(std::string what)
    : what_(std::move(what)),
      terminal_(isatty(STDERR_FILENO) != 0),
      started_(std::chrono::steady_clock::now()),
      last_(started_) {}

Progress::~Progress() {
  if (drawn_) fmt::print(stderr, "\r{:{}}\r", "", what_.size() + 36);
}

void Progress::operator()(double share) {
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || now - started_ < 1s || now - last_ < 100ms) return;
  last_ = now;
  drawn_ = true;
  const double part = std::clamp(share, 0.0, 1.0);
  const auto full = static_cast<std::size_t>(part * 24);
  fmt::print(stderr, "\r{} [{}{}] {:3.0f}% ", what_, std::string(full, '#'), std::string(24 - full, '.'), part * 100);
  std::fflush(stderr);
}

}  // namespace chasqui::cli
