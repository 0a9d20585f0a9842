// SPDX-License-Identifier: MIT
// Stands between MPICH and the drop-in library, which then does not see MPICH make progress, as with a device that is not UCX.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*next)(void*);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "ucp_worker_progress");
  return next(worker);
}
