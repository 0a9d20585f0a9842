// SPDX-License-Identifier: MIT
// Preloaded under MPICH when there are more ranks than cores: UCX's progress loop gives the core away when it finds
// nothing, where it would spin until its time slice ends. Tests only; results do not depend on it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*real)(void*);
  if (real == 0) real = (unsigned (*)(void*))dlsym(RTLD_NEXT, "ucp_worker_progress");
  unsigned events = real(worker);
  if (events == 0) sched_yield();
  return events;
}
