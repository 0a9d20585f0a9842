// SPDX-License-Identifier: MIT
// A library to preload where there are more ranks than cores: a rank that asks its connections again and again and finds
// nothing sleeps in the kernel until a packet comes, a millisecond at most, and another rank has the core.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>

enum { empty_answers_before_sleep = 4, longest_sleep_ms = 1, no_wait = 0 };

static int (*next_poll)(struct pollfd*, nfds_t, int);
static int (*next_epoll_wait)(int, struct epoll_event*, int, int);
static __thread int empty_answers;

__attribute__((constructor)) static void find_next(void) {
  if (next_poll) return;
  next_epoll_wait = (int (*)(int, struct epoll_event*, int, int))dlsym(RTLD_NEXT, "epoll_wait");
  next_poll = (int (*)(struct pollfd*, nfds_t, int))dlsym(RTLD_NEXT, "poll");
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
}

// How long a question that was not to wait may wait, now that it has been answered by nothing.
static int sleep_after(int answer) {
  if (answer != 0) empty_answers = 0;
  return answer == 0 && ++empty_answers > empty_answers_before_sleep ? longest_sleep_ms : no_wait;
}

int epoll_wait(int set, struct epoll_event* events, int most, int timeout) {
  find_next();
  int answer = next_epoll_wait(set, events, most, timeout);
  const int sleep = timeout == no_wait ? sleep_after(answer) : no_wait;
  if (sleep != no_wait) sleep_after(answer = next_epoll_wait(set, events, most, sleep));
  return answer;
}

int poll(struct pollfd* files, nfds_t count, int timeout) {
  find_next();
  int answer = next_poll(files, count, timeout);
  const int sleep = timeout == no_wait ? sleep_after(answer) : no_wait;
  if (sleep != no_wait) sleep_after(answer = next_poll(files, count, sleep));
  return answer;
}
