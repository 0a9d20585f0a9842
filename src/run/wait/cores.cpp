// SPDX-License-Identifier: MIT
#include "run/wait/cores.hpp"

#include <dirent.h>
#include <sched.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/number.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/base/file.hpp"

namespace chasqui::run {
namespace {

constexpr int kUnlimited = 1 << 30;

/// Adds the cores that a thread may run on; false where the system does not say.
bool add_thread(pid_t thread, Cores& cores) {
  std::array<std::uint64_t, 64> mask{};
  if (sched_getaffinity(thread, sizeof mask, reinterpret_cast<cpu_set_t*>(mask.data())) != 0) return false;
  for (std::size_t i = 0; i < mask.size(); ++i) cores.mask[i] |= mask[i];
  return true;
}

int whole_cores(double quota, double period) {
  if (!(quota > 0) || !(period > 0)) return kUnlimited;
  return static_cast<int>(std::clamp(quota / period, 1.0, static_cast<double>(kUnlimited)));
}

/// What one folder says: cpu.max of version 2 ("max 100000", "150000 100000"), two files of version 1 (-1: none).
int quota_of(const std::string& folder) {
  std::string quota;
  double period = 0;
  if (std::ifstream(folder + "/cpu.max") >> quota >> period) return whole_cores(number_from(quota).value_or(0), period);
  if (!(std::ifstream(folder + "/cpu.cfs_quota_us") >> quota)) return kUnlimited;
  if (!(std::ifstream(folder + "/cpu.cfs_period_us") >> period)) return kUnlimited;
  return whole_cores(number_from(quota).value_or(0), period);
}

/// The control groups of this process. Where they cannot be read, whole, no quota is known, and none is assumed: waits are as
/// right without, and a system may well hide them.
std::string control_groups() {
  try {
    return read_file("/proc/self/cgroup", "mount /proc");
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

int Cores::count() const {
  int bits = 0;
  for (const std::uint64_t word : mask) bits += std::popcount(word);
  return std::clamp(bits, 1, std::max(1, quota));
}

int quota_cores(const std::string& groups, const std::string& root) {
  int least = kUnlimited;
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {  // "0::/path", or "4:cpu,cpuacct:/path"
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && ("," + controllers + ",").find(",cpu,") == std::string::npos) continue;
    const std::string mount = controllers.empty() ? root : root + "/" + controllers;
    for (std::string path = line.substr(second + 1);;) {
      least = std::min(least, quota_of(mount + path));
      const auto slash = path.rfind('/');
      if (slash == std::string::npos || path == "/") break;
      path.resize(slash);
    }
  }
  return least;
}

Cores process_cores() {
  Cores cores;
  bool known = false;
  // Not by <filesystem>: where memory is short it ends the program.
  if (DIR* const threads = opendir("/proc/self/task"); threads != nullptr) {
    for (const dirent* each = readdir(threads); each != nullptr; each = readdir(threads)) {
      if (const pid_t thread = std::atoi(each->d_name); thread != 0) known = add_thread(thread, cores) || known;
    }
    closedir(threads);
  }
  if (!known && !add_thread(0, cores)) {
    const unsigned all = std::min(std::max(1u, std::thread::hardware_concurrency()), 64u * 64u);
    for (unsigned core = 0; core < all; ++core) cores.mask[core / 64] |= std::uint64_t{1} << core % 64;
  }
  static const int quota = quota_cores(control_groups(), "/sys/fs/cgroup");
  cores.quota = quota;
  return cores;
}

int available_cores() { return process_cores().count(); }

bool move_off(const Cores& taken, int which) {
  Cores allowed;
  if (!add_thread(0, allowed)) return false;
  std::array<std::uint64_t, 64> free{};
  int count = 0;
  for (std::size_t i = 0; i < free.size(); ++i) {
    free[i] = allowed.mask[i] & ~taken.mask[i];
    count += std::popcount(free[i]);
  }
  if (count == 0) return false;
  which %= count;
  std::size_t word = 0;
  for (; which >= std::popcount(free[word]); ++word) which -= std::popcount(free[word]);
  for (; which > 0; --which) free[word] &= free[word] - 1;
  std::array<std::uint64_t, 64> one{};
  one[word] = free[word] & ~(free[word] - 1);
  const bool moved = sched_setaffinity(0, sizeof one, reinterpret_cast<const cpu_set_t*>(one.data())) == 0;
  sched_setaffinity(0, sizeof allowed.mask, reinterpret_cast<const cpu_set_t*>(allowed.mask.data()));
  return moved;
}

}  // namespace chasqui::run
