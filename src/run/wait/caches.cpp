// SPDX-License-Identifier: MIT
#include "run/wait/caches.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace chasqui::run {
namespace {

/// "0-7,64-71" as a set; empty where the text is something else.
Cores listed(const std::string& path) {
  Cores cores;
  std::ifstream file(path);
  for (std::string part; std::getline(file, part, ',');) {
    int first = -1, last = -1;
    char dash = 0;
    std::istringstream text(part);
    if (!(text >> first)) return {};
    if (!(text >> dash >> last)) last = first;
    const int most = static_cast<int>(cores.mask.size()) * 64;
    for (int core = std::max(0, first); core <= last && core < most; ++core)
      cores.mask[static_cast<std::size_t>(core / 64)] |= std::uint64_t{1} << core % 64;
  }
  return cores;
}

/// -1: none.
int first_of(const Cores& cores) {
  for (std::size_t i = 0; i < cores.mask.size(); ++i) {
    if (cores.mask[i] != 0) return static_cast<int>(i) * 64 + std::countr_zero(cores.mask[i]);
  }
  return -1;
}

bool holds(const Cores& all, const Cores& part) {
  for (std::size_t i = 0; i < all.mask.size(); ++i) {
    if ((part.mask[i] & ~all.mask[i]) != 0) return false;
  }
  return true;
}

}  // namespace

int cache_of(const Cores& cores, const std::string& root) {
  const int any = first_of(cores);
  if (any < 0) return -1;
  const std::string folder = root + "/cpu" + std::to_string(any);
  Cores shared;
  int highest = 2;
  for (int index = 0;; ++index) {
    const std::string cache = folder + "/cache/index" + std::to_string(index);
    int level = 0;
    if (!(std::ifstream(cache + "/level") >> level)) break;
    if (level <= highest) continue;
    highest = level;
    shared = listed(cache + "/shared_cpu_list");
  }
  if (first_of(shared) < 0) shared = listed(folder + "/topology/package_cpus_list");
  if (first_of(shared) < 0) shared = listed(folder + "/topology/core_siblings_list");  // its name in older kernels
  return holds(shared, cores) ? first_of(shared) : -1;
}

Grouping groups_by_cache(const std::vector<int>& cache_of_rank) {
  const auto ranks = static_cast<int>(cache_of_rank.size());
  const auto at = [&](int rank) { return cache_of_rank[static_cast<std::size_t>(rank)]; };
  if (ranks < 4 || std::count(cache_of_rank.begin(), cache_of_rank.end(), -1) != 0) return {};
  int alike = 1, turn = 1;  // ranks that lie where rank 0 does, and the first that lies there after another
  while (alike < ranks && at(alike) == at(0)) ++alike;
  while (turn < ranks && at(turn) != at(0)) ++turn;
  if (alike == ranks || (alike == 1 && 2 * turn > ranks)) return {};
  const Grouping found = alike > 1 ? Grouping::neighbours(ranks, alike) : Grouping::by_turns(ranks, turn);
  const auto group = [&](int rank) { return found.dealt ? rank % found.count : rank / found.size; };
  const auto first = [&](int rank) { return found.dealt ? group(rank) : group(rank) * found.size; };
  for (int r = 0; r < ranks; ++r) {
    for (int other = 0; other < found.count; ++other) {
      const int beginning = found.dealt ? other : other * found.size;
      if ((at(r) == at(beginning)) != (first(r) == beginning)) return {};
    }
  }
  return found;
}

}  // namespace chasqui::run
