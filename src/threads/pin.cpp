// SPDX-License-Identifier: MIT
#include "pin.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <numeric>

#include "run/wait/launcher.hpp"
#include "run/wait/seats.hpp"

#if CHASQUI_HAVE_HWLOC
#include <hwloc.h>
#else
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#endif

namespace chasqui::threads {
namespace {

#if CHASQUI_HAVE_HWLOC

/// The cores this process may use, spread so that neighbours in the list share caches.
struct Cores {
  Cores() {
    if (hwloc_topology_init(&topology) != 0) return;
    if (hwloc_topology_load(topology) != 0) return;
    hwloc_cpuset_t allowed = hwloc_bitmap_alloc();
    all = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    if (hwloc_get_cpubind(topology, allowed, HWLOC_CPUBIND_PROCESS) == 0) {
      for (int i = 0; i < all; ++i) {
        hwloc_obj_t core = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, static_cast<unsigned>(i));
        if (hwloc_bitmap_intersects(core->cpuset, allowed)) list.push_back(core);
      }
    }
    hwloc_bitmap_free(allowed);
  }
  bool bind(int place) const {
    return hwloc_set_cpubind(topology, list[static_cast<std::size_t>(place)]->cpuset, HWLOC_CPUBIND_THREAD) == 0;
  }
  int processor(int place) const { return hwloc_bitmap_first(list[static_cast<std::size_t>(place)]->cpuset); }
  hwloc_topology_t topology = nullptr;  // kept until the process ends
  std::vector<hwloc_obj_t> list;
  int all = 0;  ///< of the machine
};

#else

/// The processors this process may use.
struct Cores {
  Cores() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &allowed)) list.push_back(cpu);
    }
    all = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  }
  bool bind(int place) const {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(list[static_cast<std::size_t>(place)], &one);
    return pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0;
  }
  int processor(int place) const { return list[static_cast<std::size_t>(place)]; }
  std::vector<int> list;
  int all = 0;  ///< of the machine
};

#endif

/// The cores of this process, and how many living teams have each.
struct Claims {
  Cores cores;
  std::vector<int> uses = std::vector<int>(cores.list.size());
  std::mutex mutex;
};

Claims& claims() {
  static Claims* const all = new Claims;  // teams may outlive static objects
  return *all;
}

}  // namespace

CoreClaim::CoreClaim(int n) {
  Claims& all = claims();
  const std::lock_guard lock(all.mutex);
  const auto [first, last] = own_share(static_cast<int>(all.uses.size()), all.cores.all, neighbours_from_environment());
  cores_ = least_used(all.uses, first, last, n);
  for (const int place : cores_) ++all.uses[static_cast<std::size_t>(place)];
}

CoreClaim::~CoreClaim() {
  if (cores_.empty()) return;
  Claims& all = claims();
  const std::lock_guard lock(all.mutex);
  for (const int place : cores_) --all.uses[static_cast<std::size_t>(place)];
}

bool CoreClaim::pin_this_thread(int index) const {
  if (cores_.empty()) return false;
  Claims& all = claims();
  const std::lock_guard lock(all.mutex);
  return all.cores.bind(cores_[static_cast<std::size_t>(index)]);
}

std::vector<Seat> CoreClaim::seats() const {
  std::vector<Seat> found;
  for (const int place : cores_) {
    const auto processor = static_cast<std::size_t>(claims().cores.processor(place));
    run::Cores one;
    if (processor / 64 < one.mask.size()) one.mask[processor / 64] = std::uint64_t{1} << processor % 64;
    found.push_back(run::seat_of(one));
  }
  return found;
}

std::vector<int> least_used(const std::vector<int>& uses, int first, int last, int n) {
  if (last - first < n) return {};
  std::vector<int> places(static_cast<std::size_t>(last - first));
  std::iota(places.begin(), places.end(), first);
  std::stable_sort(places.begin(), places.end(),
                   [&](int a, int b) { return uses[static_cast<std::size_t>(a)] < uses[static_cast<std::size_t>(b)]; });
  places.resize(static_cast<std::size_t>(n));
  std::sort(places.begin(), places.end());
  return places;
}

Neighbours neighbours_from_environment() {
  const auto place = run::place_on_node();
  return place ? Neighbours{place->first, place->second} : Neighbours{};
}

std::pair<int, int> own_share(int allowed, int all, const Neighbours& neighbours) {
  // Bound to parts of the machine that can be all different: then they are.
  if (neighbours.size <= 1 || static_cast<long>(allowed) * neighbours.size <= all) return {0, allowed};
  const int share = allowed / neighbours.size;
  return {neighbours.rank * share, (neighbours.rank + 1) * share};
}

}  // namespace chasqui::threads
