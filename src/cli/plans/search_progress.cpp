// SPDX-License-Identifier: MIT
#include "cli/plans/search_progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace chasqui::cli {

SearchProgress::SearchProgress(bool quiet) : shown_(!quiet && isatty(STDERR_FILENO) != 0) {}

SearchProgress::~SearchProgress() { wipe(); }

void SearchProgress::watch(solve::Options& options, std::string what) {
  what_ = std::move(what);
  if (shown_) options.progress = [this](const solve::Progress& progress) { draw(progress); };
}

void SearchProgress::wipe() {
  if (width_ > 0) fmt::print(stderr, "\r{:{}}\r", "", width_);
  std::fflush(stderr);
  width_ = 0;
}

void SearchProgress::draw(const solve::Progress& progress) {
  if (width_ == 0 && progress.seconds < 1) return;
  std::string line = what_.empty() ? "" : what_ + "  ";
  line += fmt::format("{:.1f} s  {}  bound {}  best {}", progress.seconds, progress.engine, progress.bound.ticks,
                      progress.best ? fmt::format("{}", progress.best->ticks) : "none");
  if (progress.asking) line += fmt::format("  deciding {}", progress.asking->ticks);
  const std::size_t width = line.size();
  fmt::print(stderr, "\r{:{}}", line, std::max(width, width_));
  std::fflush(stderr);
  width_ = std::max(width, width_);
}

}  // namespace chasqui::cli
