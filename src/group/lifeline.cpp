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

#include "base/number.hpp"
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
  const auto seconds = number_from(text);
  if (!seconds || !(*seconds == 0 || (*seconds >= 1 && *seconds <= 30'000)))
    throw Error("CHASQUI_SILENCE={}: expected seconds, from 1 to 30000, or 0 for never", text);
  return *seconds;
}

void Lifeline::Line::look() {
  pollfd one{socket.file(), POLLRDHUP, 0};
  if (!socket.open() || poll(&one, 1, 0) <= 0 || one.revents == 0) return;
  int error = 0;
  socklen_t length = sizeof error;
  getsockopt(one.fd, SOL_SOCKET, SO_ERROR, &error, &length);
  socket = Socket();  // an end that was said is heard of elsewhere
  silent = error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH;
}

void Lifeline::keep(int rank, Socket socket) {
  const std::lock_guard lock(mutex_);
  Line& line = lines_[rank];
  line.look();
  if (line.socket.open()) return;
  const int third = std::max(1, static_cast<int>(std::lround(silence_ / (kQuestions + 1))));
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, third);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, third);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, kQuestions);
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(silence_ * 1000));
  line = {std::move(socket)};
}

bool Lifeline::silent(int rank) {
  const std::lock_guard lock(mutex_);
  Line& line = lines_[rank];
  line.look();
  return line.silent;
}

void Lookout::look() {
  const double now = clock_now();
  if (others_.empty() || now - looked_ < kBetweenLooks * 1e9) return;
  looked_ = now;
  for (auto other = others_.begin(); other != others_.end(); ++other) {
    if (!lifeline_->silent(other->first)) continue;
    const std::string name = std::move(other->second);
    others_.erase(other);
    throw Error("{}: its host has not answered for {} s (CHASQUI_SILENCE): it is down, or cut off", name,
                lifeline_->silence());
  }
}

}  // namespace chasqui::group
