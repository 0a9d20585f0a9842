// SPDX-License-Identifier: MIT
#include "solve/child.hpp"

#include <fcntl.h>
#include <poll.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "chasqui/base/error.hpp"

namespace chasqui::solve {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kBetweenLooks{50};
constexpr std::chrono::seconds kToHandOver{2};

[[noreturn]] void be_the_child(const std::function<std::string()>& work, int out) {
  const std::string text = work();
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = write(out, text.data() + sent, text.size() - sent);
    if (n < 0 && errno != EINTR) _exit(1);
    if (n > 0) sent += static_cast<std::size_t>(n);
  }
  _exit(0);  // nothing of the parent is torn down here
}

/// Everything up to the end of the pipe; false if the child had to be killed.
bool listen(int in, pid_t child, const Stop& stop, std::string& text) {
  std::optional<Clock::time_point> told;
  for (;;) {
    if (!told && stop && stop()) {
      told = Clock::now();
      kill(child, SIGINT);
    }
    if (told && Clock::now() - *told > kToHandOver) {
      kill(child, SIGKILL);
      return false;
    }
    pollfd look{.fd = in, .events = POLLIN, .revents = 0};
    if (poll(&look, 1, static_cast<int>(kBetweenLooks.count())) <= 0) continue;
    char buffer[1 << 16];
    const ssize_t n = read(in, buffer, sizeof buffer);
    if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
    if (n == 0) return true;
    if (n < 0 && errno != EINTR) return false;
  }
}

}  // namespace

std::optional<std::string> in_child(const std::function<std::string()>& work, const Stop& stop) {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) throw Error("no pipe for the solver: {}", std::strerror(errno));
  std::fflush(nullptr);  // or the child's copy is written twice
  const pid_t child = fork();
  if (child < 0) throw Error("no process for the solver: {}", std::strerror(errno));
  if (child == 0) {
    close(ends[0]);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // no orphans
#endif
    std::signal(SIGINT, SIG_IGN);  // a Ctrl-C goes to both: the parent decides
    be_the_child(work, ends[1]);
  }
  close(ends[1]);
  std::string text;
  const bool whole = listen(ends[0], child, stop, text);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!whole || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return text;
}

}  // namespace chasqui::solve
