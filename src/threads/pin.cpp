// SPDX-License-Identifier: MIT
#include "pin.hpp"

#if CHASQUI_HAVE_HWLOC

#include <hwloc.h>

#include <mutex>
#include <vector>

namespace chasqui::threads {
namespace {

/// The cores this process may use, spread so that neighbours in the list share caches.
struct Cores {
  Cores() {
    if (hwloc_topology_init(&topology) != 0) return;
    if (hwloc_topology_load(topology) != 0) return;
    hwloc_cpuset_t allowed = hwloc_bitmap_alloc();
    if (hwloc_get_cpubind(topology, allowed, HWLOC_CPUBIND_PROCESS) == 0) {
      const int n = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
      for (int i = 0; i < n; ++i) {
        hwloc_obj_t core = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, static_cast<unsigned>(i));
        if (hwloc_bitmap_intersects(core->cpuset, allowed)) list.push_back(core);
      }
    }
    hwloc_bitmap_free(allowed);
  }
  hwloc_topology_t topology = nullptr;  // kept until the process ends
  std::vector<hwloc_obj_t> list;
};

}  // namespace

bool pin_this_thread(int index, int threads) {
  static Cores cores;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (threads > static_cast<int>(cores.list.size())) return false;
  return hwloc_set_cpubind(cores.topology, cores.list[static_cast<std::size_t>(index)]->cpuset,
                           HWLOC_CPUBIND_THREAD) == 0;
}

}  // namespace chasqui::threads

#else

#include <pthread.h>
#include <sched.h>

namespace chasqui::threads {

bool pin_this_thread(int index, int threads) {
  static const cpu_set_t allowed = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    return set;
  }();
  if (threads > CPU_COUNT(&allowed)) return false;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || index-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0;
  }
  return false;
}

}  // namespace chasqui::threads

#endif
