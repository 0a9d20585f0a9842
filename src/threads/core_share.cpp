// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "pin.hpp"

namespace chasqui::threads {

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
  // Open MPI; MPICH's Hydra and Intel MPI; others that speak PMI.
  constexpr const char* kNames[][2] = {{"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
                                       {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
                                       {"PMI_LOCAL_RANK", "PMI_LOCAL_SIZE"}};
  for (const auto& [rank, size] : kNames) {
    const char* const own = std::getenv(rank);
    const char* const all = std::getenv(size);
    if (own == nullptr || all == nullptr) continue;
    const Neighbours found{std::atoi(own), std::atoi(all)};
    if (found.rank >= 0 && found.rank < found.size) return found;
  }
  return {};
}

std::pair<int, int> own_share(int allowed, int all, const Neighbours& neighbours) {
  // Bound to parts of the machine that can be all different: then they are.
  if (neighbours.size <= 1 || static_cast<long>(allowed) * neighbours.size <= all) return {0, allowed};
  const int share = allowed / neighbours.size;
  return {neighbours.rank * share, (neighbours.rank + 1) * share};
}

}  // namespace chasqui::threads
