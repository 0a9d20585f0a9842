// SPDX-License-Identifier: MIT
// One rank of an MPI program is stopped at each instruction of its marked calls (stepping.hpp), or killed at one:
// mpirun -np P stepper RANK CALL STEP program…; CALL -1: only stopped. The other ranks are the program alone.
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "stepping.hpp"

namespace {

int own_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
    if (const char* rank = std::getenv(name)) return std::atoi(rank);
  }
  return -1;
}

[[noreturn]] void be(char** words) {
  execvp(words[0], words);
  std::perror(words[0]);
  _exit(127);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace chasqui::engines;
  constexpr long kMostSteps = 3000;  // in one call; then it runs
  if (argc < 5) return 2;
  if (own_rank() != std::atoi(argv[1])) be(argv + 4);
  const int last = std::atoi(argv[2]);
  const long at = std::atol(argv[3]);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!be_traced()) std::puts("ptrace is forbidden here");
    be(argv + 4);
  }
  int status = 0;
  if (waitpid(child, &status, __WALL) != child || !WIFSTOPPED(status)) return 1;  // the program begins
  Traced traced(child);
  int calls = 0;
  while (traced.to_mark()) {
    const long steps = traced.step(calls == last ? at : kMostSteps);
    if (calls++ == last) {
      std::fprintf(stderr, "killed after %ld steps of call %d\n", steps, last);
      kill(child, SIGKILL);
      waitpid(child, &status, __WALL);
      std::raise(SIGKILL);
    }
    if (steps == kMostSteps && !traced.to_mark()) break;
  }
  std::fprintf(stderr, "stopped at each step of %d calls\n", calls);
  return WIFEXITED(traced.status()) ? WEXITSTATUS(traced.status()) : 1;
}
