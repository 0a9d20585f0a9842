// SPDX-License-Identifier: MIT
#include "run/wait/seats.hpp"

#include <dirent.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

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

/// The first of two files that says something: older kernels have other names.
Cores listed_in(const std::string& folder, const char* name, const char* older) {
  const Cores cores = listed(folder + name);
  return first_of(cores) >= 0 ? cores : listed(folder + older);
}

/// The processors that are as near to the memory as that of `folder`: a link to the node is there.
Cores beside_memory(const std::string& folder) {
  Cores cores;
  DIR* const entries = opendir(folder.c_str());  // not by <filesystem>: where memory is short it ends the program
  if (entries == nullptr) return cores;
  for (const dirent* each = readdir(entries); each != nullptr; each = readdir(entries)) {
    const std::string_view name = each->d_name;
    if (name.substr(0, 4) != "node" || name.size() == 4 || std::isdigit(static_cast<unsigned char>(name[4])) == 0)
      continue;
    cores = listed(folder + "/" + each->d_name + "/cpulist");
    break;
  }
  closedir(entries);
  return cores;
}

}  // namespace

Seat seat_of(const Cores& cores, const std::string& root) {
  const int any = first_of(cores);
  if (any < 0) return kNoSeat;
  const std::string folder = root + "/cpu" + std::to_string(any);
  Seat seat = kNoSeat;
  const auto shares = [&](Shared what, const Cores& all) {
    seat[static_cast<std::size_t>(what)] = holds(all, cores) ? first_of(all) : -1;
  };
  shares(Shared::core, listed_in(folder, "/topology/core_cpus_list", "/topology/thread_siblings_list"));
  int highest = 2;
  for (int index = 0;; ++index) {
    const std::string cache = folder + "/cache/index" + std::to_string(index);
    int level = 0;
    if (!(std::ifstream(cache + "/level") >> level)) break;
    if (level == 2) shares(Shared::l2, listed(cache + "/shared_cpu_list"));
    if (level <= highest) continue;
    highest = level;
    shares(Shared::l3, listed(cache + "/shared_cpu_list"));
  }
  shares(Shared::numa, beside_memory(folder));
  shares(Shared::socket, listed_in(folder, "/topology/package_cpus_list", "/topology/core_siblings_list"));
  return seat;
}

std::optional<Seat> declared_seat(int rank, int ranks) {
  const char* const text = std::getenv("CHASQUI_LEVELS");
  if (text == nullptr || *text == '\0') return {};
  const auto seats = made_up_seats(text, ranks);
  return seats ? (*seats)[static_cast<std::size_t>(rank)] : kNoSeat;
}

}  // namespace chasqui::run
