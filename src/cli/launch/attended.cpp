// SPDX-License-Identifier: MIT
#include "cli/launch/attended.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "chasqui/base/error.hpp"

namespace chasqui::cli {
namespace {

volatile pid_t under_way = 0;  ///< the command, for the signal handler
void pass_on(int signal) { kill(under_way, signal); }

}  // namespace

int status_of(std::vector<std::string> words) {
  std::fflush(nullptr);
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  struct sigaction before[4];
  struct sigaction ignore = {}, forward = {};
  ignore.sa_handler = SIG_IGN;
  forward.sa_handler = pass_on;
  constexpr int kSignals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
  sigset_t blocked, usual;
  sigemptyset(&blocked);
  for (const int signal : kSignals) sigaddset(&blocked, signal);
  std::signal(SIGCHLD, SIG_DFL);             // who starts us may ignore it, and nobody could wait then
  sigprocmask(SIG_BLOCK, &blocked, &usual);  // until it is known whom they go to
  const pid_t started = fork();
  if (started == 0) {
    sigprocmask(SIG_SETMASK, &usual, nullptr);
    execvp(pointers[0], pointers.data());
    std::fprintf(stderr, "chasqui run: %s cannot be started: %s\n", pointers[0], std::strerror(errno));
    _exit(127);
  }
  if (started > 0) {
    under_way = started;
    for (std::size_t i = 0; i < std::size(kSignals); ++i)
      sigaction(kSignals[i], i < 2 ? &ignore : &forward, &before[i]);
  }
  sigprocmask(SIG_SETMASK, &usual, nullptr);
  if (started < 0) throw Error("no process could be started: {}", std::strerror(errno));
  int status = 0;
  while (waitpid(started, &status, 0) < 0) {
  }
  for (std::size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before[i], nullptr);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace chasqui::cli
