// SPDX-License-Identifier: MIT
#include "cli/frame/progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>

namespace chasqui::cli {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int kWidth = 24;

// One line of one terminal.
std::mutex line;
bool drawn = false;
int bars = 0;
std::atomic<bool> silent = false;

void draw(const std::string& text) {  // REQUIRES line
  std::fputs(("\r" + text + "\x1b[K").c_str(), stderr);
  std::fflush(stderr);
  drawn = true;
}

void wipe() {  // REQUIRES line
  if (!drawn) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  drawn = false;
}

}  // namespace

void wipe_progress() {
  const std::lock_guard lock(line);
  wipe();
}

void silence_progress() { silent = true; }

Progress::Progress(std::string what) : Progress(std::move(what), !silent && isatty(STDERR_FILENO) != 0) {}

Progress::Progress(std::string what, bool terminal)
    : what_(std::move(what)), terminal_(terminal), started_(Clock::now()), last_(started_) {
  const std::lock_guard lock(line);
  ++bars;
  wipe();
}

Progress::~Progress() {
  const std::lock_guard lock(line);
  --bars;
  wipe();
}

bool Progress::is_time() {
  const auto now = Clock::now();
  if (!terminal_ || now - started_ < 1s || now - last_ < 100ms) return false;
  last_ = now;
  return true;
}

void Progress::say(const std::string& line_of_words) {
  if (!is_time()) return;
  const std::lock_guard lock(line);
  draw(line_of_words);
}

void Progress::operator()(double share) {
  if (!is_time()) return;
  const double part = std::clamp(share, 0.0, 1.0);
  const auto full = static_cast<std::size_t>(part * kWidth);
  const std::lock_guard lock(line);
  draw(fmt::format("{} [{}{}] {:3.0f}% ", what_, std::string(full, '#'), std::string(kWidth - full, '.'), part * 100));
}

Pulse::Pulse(std::string what) {
  if (isatty(STDERR_FILENO) != 0) thread_ = std::thread([this, what = std::move(what)] { beat(what); });
}

Pulse::~Pulse() {
  {
    const std::lock_guard lock(line);
    over_ = true;
  }
  ended_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Pulse::beat(const std::string& what) {
  std::unique_lock lock(line);
  const auto started = Clock::now();
  for (int beat = 0; !ended_.wait_for(lock, beat == 0 ? 1000ms : 150ms, [this] { return over_; }); ++beat) {
    if (bars > 0) continue;
    const int turn = beat % (2 * (kWidth - 3));
    std::string bar(kWidth, ' ');
    bar.replace(static_cast<std::size_t>(std::min(turn, 2 * (kWidth - 3) - turn)), 3, "<=>");
    draw(fmt::format("{} [{}] {} s ", what, bar,
                     std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - started).count()));
  }
  wipe();
}

}  // namespace chasqui::cli
