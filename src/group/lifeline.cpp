// SPDX-License-Identifier: MIT
#include "group/lifeline.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "chasqui/base/clock.hpp"
#include "chasqui/base/error.hpp"

namespace chasqui::group {
namespace {

constexpr double kSilence = 20;        ///< seconds
constexpr double kBetweenLooks = 0.5;  ///< seconds
constexpr int kQuestions = 2;          ///< without an answer

void set(const Socket& socket, int level, int option, int value) {
  setsockopt(socket.file(), level, option, &value, sizeof value);
}

}  // namespace

double silence_from_environment() {
  const char* const text = std::getenv("CHASQUI_SILENCE");
  if (text == nullptr || *text == '\0') return kSilence;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (*end != '\0' || !(seconds == 0 || (seconds >= 1 && seconds <= 30'000)))
    throw Error("CHASQUI_SILENCE={}: expected seconds, from 1 to 30000, or 0 for never", text);
  return seconds;
}

Lifeline::Lifeline(std::vector<Socket> others, std::vector<std::string> names, double silence)
    : others_(std::move(others)), names_(std::move(names)), silence_(silence) {
  const int third = std::max(1, static_cast<int>(std::lround(silence / (kQuestions + 1))));
  for (const Socket& other : others_) {
    if (!other.open() || silence == 0) continue;
    set(other, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(other, IPPROTO_TCP, TCP_KEEPIDLE, third);
    set(other, IPPROTO_TCP, TCP_KEEPINTVL, third);
    set(other, IPPROTO_TCP, TCP_KEEPCNT, kQuestions);
    set(other, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(silence * 1000));
  }
}

void Lifeline::look() {
  const double now = clock_now();
  if (silence_ == 0 || now - looked_ < kBetweenLooks * 1e9) return;
  looked_ = now;
  for (std::size_t rank = 0; rank < others_.size(); ++rank) {
    pollfd one{others_[rank].file(), POLLRDHUP, 0};
    if (!others_[rank].open() || poll(&one, 1, 0) <= 0 || one.revents == 0) continue;
    int error = 0;
    socklen_t length = sizeof error;
    getsockopt(one.fd, SOL_SOCKET, SO_ERROR, &error, &length);
    others_[rank] = Socket();  // an end that was said is heard of elsewhere
    if (error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH)
      throw Error("{}: its host has not answered for {} s (CHASQUI_SILENCE): it is down, or cut off", names_[rank],
                  silence_);
  }
}

}  // namespace chasqui::group
