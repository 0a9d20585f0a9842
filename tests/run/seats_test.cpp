// SPDX-License-Identifier: MIT
// Which ranks are near each other, on machines that are made up: folders as the system has them.
#include "run/wait/seats.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "chasqui/base/error.hpp"
#if CHASQUI_HAVE_HWLOC
#include <hwloc.h>
#endif

namespace chasqui::run {
namespace {

namespace fs = std::filesystem;

class Machine : public testing::Test {
 protected:
  Machine() : root_(fs::path(testing::TempDir()) / ("seats-" + std::to_string(getpid()))) {}
  ~Machine() override { fs::remove_all(root_); }
  void write(int processor, const std::string& path, const std::string& text) {
    const fs::path file = root_ / ("cpu" + std::to_string(processor)) / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }
  void cache(int processor, int index, int level, const std::string& shared) {
    const std::string folder = "cache/index" + std::to_string(index);
    write(processor, folder + "/level", std::to_string(level));
    write(processor, folder + "/shared_cpu_list", shared);
  }
  Seat of(std::initializer_list<int> processors) const {
    Cores cores;
    for (const int p : processors) cores.mask[static_cast<std::size_t>(p / 64)] |= std::uint64_t{1} << p % 64;
    return seat_of(cores, root_.string());
  }
  fs::path root_;
};

TEST_F(Machine, EightCachesOfEightCoresOfTwoThreads) {
  for (int p = 0; p < 128; ++p) {
    const int core = p % 64, first = core / 8 * 8;
    const std::string siblings = std::to_string(core) + "," + std::to_string(core + 64);
    cache(p, 0, 1, siblings);
    cache(p, 1, 1, siblings);
    cache(p, 2, 2, siblings);
    cache(p, 3, 3, fmt::format("{}-{},{}-{}", first, first + 7, first + 64, first + 71));
    write(p, "topology/package_cpus_list", "0-127");
    write(p, "topology/core_cpus_list", siblings);
    const std::string memory = core < 32 ? "node0" : "node1";
    write(p, memory + "/cpulist", core < 32 ? "0-31,64-95" : "32-63,96-127");
    write(p, "power/cpulist", "no memory");
  }
  EXPECT_EQ(of({0}), (Seat{0, 0, 0, 0, 0}));
  EXPECT_EQ(of({7}), (Seat{7, 7, 0, 0, 0}));
  EXPECT_EQ(of({8}), (Seat{8, 8, 8, 0, 0}));
  EXPECT_EQ(of({127}), (Seat{63, 63, 56, 32, 0}));
  EXPECT_EQ(of({9, 73}), (Seat{9, 9, 8, 0, 0})) << "both threads of a core";
  EXPECT_EQ(of({8, 9, 10, 11}), (Seat{-1, -1, 8, 0, 0})) << "several cores of one cache";
  EXPECT_EQ(of({7, 8}), (Seat{-1, -1, -1, 0, 0})) << "two caches";
  EXPECT_EQ(of({0, 40}), (Seat{-1, -1, -1, -1, 0})) << "two parts of the memory";
  EXPECT_EQ(of({}), kNoSeat);
}

TEST_F(Machine, SocketsWhereCoresHaveTheirCachesAlone) {
  for (int p = 0; p < 8; ++p) {
    cache(p, 0, 2, std::to_string(p));
    write(p, p < 4 ? "topology/package_cpus_list" : "topology/core_siblings_list", p < 4 ? "0-3" : "4-7");
  }
  EXPECT_EQ(of({3}), (Seat{-1, 3, -1, -1, 0}));
  EXPECT_EQ(of({5, 6}), (Seat{-1, -1, -1, -1, 4}));
  EXPECT_EQ(of({3, 4}), kNoSeat);
}

TEST_F(Machine, TheLastOfSeveralCachesCounts) {
  for (int p = 0; p < 4; ++p) {
    cache(p, 0, 3, p < 2 ? "0-1" : "2-3");
    cache(p, 1, 4, "0-3");
  }
  EXPECT_EQ(of({2}), (Seat{-1, -1, 0, -1, -1}));
}

TEST_F(Machine, NobodySays) {
  EXPECT_EQ(of({0}), kNoSeat);
  cache(0, 0, 3, "all of them");
  EXPECT_EQ(of({0}), kNoSeat);
}

TEST(DeclaredSeat, IsThatOfAMadeUpNode) {
  setenv("CHASQUI_LEVELS", "socket:2 l3:2", 1);
  EXPECT_EQ(*declared_seat(5, 8), (Seat{-1, -1, 2, -1, 1}));
  for (const char* none : {"0", "off", "socket:two"}) {
    setenv("CHASQUI_LEVELS", none, 1);
    EXPECT_EQ(*declared_seat(5, 8), kNoSeat) << none;
  }
  setenv("CHASQUI_LEVELS", "", 1);
  EXPECT_FALSE(declared_seat(5, 8).has_value());
  unsetenv("CHASQUI_LEVELS");
  EXPECT_FALSE(declared_seat(5, 8).has_value());
}

#if CHASQUI_HAVE_HWLOC

/// Another reader of topologies, with machines that it makes up, and with this one.
class Hwloc {
 public:
  explicit Hwloc(const char* synthetic) {
    hwloc_topology_init(&topology_);
    if (synthetic != nullptr && hwloc_topology_set_synthetic(topology_, synthetic) != 0) throw Error("{}", synthetic);
    hwloc_topology_load(topology_);
  }
  ~Hwloc() { hwloc_topology_destroy(topology_); }
  Hwloc(const Hwloc&) = delete;
  Hwloc& operator=(const Hwloc&) = delete;

  int processors() const { return hwloc_get_nbobjs_by_type(topology_, HWLOC_OBJ_PU); }
  int processor(int i) const { return static_cast<int>(pu(i)->os_index); }
  /// The processors with which the i-th shares what is of this type; none: there is no such thing around it.
  hwloc_const_cpuset_t shared(int i, hwloc_obj_type_t type) const {
    if (type == HWLOC_OBJ_NUMANODE) {
      for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(topology_, type, node)) != nullptr;) {
        if (hwloc_bitmap_isset(node->cpuset, pu(i)->os_index) != 0) return node->cpuset;
      }
      return nullptr;
    }
    const hwloc_obj_t around = hwloc_get_ancestor_obj_by_type(topology_, type, pu(i));
    return around == nullptr ? nullptr : around->cpuset;
  }

 private:
  hwloc_obj_t pu(int i) const { return hwloc_get_obj_by_type(topology_, HWLOC_OBJ_PU, static_cast<unsigned>(i)); }
  hwloc_topology_t topology_ = nullptr;
};

constexpr hwloc_obj_type_t kTypes[kSharedKinds] = {HWLOC_OBJ_CORE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
                                                   HWLOC_OBJ_NUMANODE, HWLOC_OBJ_PACKAGE};

std::string listed(hwloc_const_cpuset_t set) {
  char text[4096];
  hwloc_bitmap_list_snprintf(text, sizeof text, set);
  return text;
}

Cores at_processor(int processor) {
  Cores cores;
  cores.mask[static_cast<std::size_t>(processor / 64)] = std::uint64_t{1} << processor % 64;
  return cores;
}

void expect_as_hwloc(const Hwloc& hwloc, const std::string& root) {
  for (int i = 0; i < hwloc.processors(); ++i) {
    const Seat seat = seat_of(at_processor(hwloc.processor(i)), root);
    for (std::size_t what = 0; what < kSharedKinds; ++what) {
      const auto set = hwloc.shared(i, kTypes[what]);
      if (set == nullptr) continue;
      EXPECT_EQ(seat[what], hwloc_bitmap_first(set))
          << to_string(static_cast<Shared>(what)) << " of " << hwloc.processor(i);
    }
  }
}

/// A processor for each rank: the levels are hwloc's objects that are neither alone nor all there is.
TEST_F(Machine, AsHwlocMakesItUp) {
  for (const char* machine : {"pack:2 numa:2 l3:4 core:8 pu:2", "pack:2 l3:1 core:16 pu:1", "pack:1 l3:8 core:8 pu:2",
                              "pack:4 numa:1 core:4 pu:1", "numa:4 l3:2 l2:2 core:2 pu:1", "pack:2 l2:4 core:4 pu:1"}) {
    SCOPED_TRACE(machine);
    fs::remove_all(root_);
    const Hwloc hwloc(machine);
    for (int i = 0; i < hwloc.processors(); ++i) {
      const int p = hwloc.processor(i);
      const auto put = [&](hwloc_obj_type_t type, const char* path) {
        if (const auto set = hwloc.shared(i, type); set != nullptr) write(p, path, listed(set));
      };
      put(HWLOC_OBJ_CORE, "topology/core_cpus_list");
      put(HWLOC_OBJ_PACKAGE, "topology/package_cpus_list");
      put(HWLOC_OBJ_NUMANODE, "node0/cpulist");
      int index = 0;
      for (const auto& [type, level] : {std::pair{HWLOC_OBJ_L2CACHE, 2}, std::pair{HWLOC_OBJ_L3CACHE, 3}}) {
        if (const auto set = hwloc.shared(i, type); set != nullptr) cache(p, index++, level, listed(set));
      }
    }
    expect_as_hwloc(hwloc, root_.string());
    std::vector<Seat> seats;
    for (int i = 0; i < hwloc.processors(); ++i)
      seats.push_back(seat_of(at_processor(hwloc.processor(i)), root_.string()));
    const auto near = nearness_of(seats);
    std::set<std::set<std::string>> wanted, found;  // of each level the sets of processors
    for (const auto type : kTypes) {
      std::set<std::string> sets;
      for (int i = 0; i < hwloc.processors(); ++i) {
        if (const auto set = hwloc.shared(i, type); set != nullptr) sets.insert(listed(set));
      }
      if (sets.size() > 1 && static_cast<int>(sets.size()) < hwloc.processors()) wanted.insert(sets);
    }
    for (const NearLevel& level : near->levels()) {
      std::vector<hwloc_bitmap_t> groups;
      for (int g = 0; g < level.groups; ++g) groups.push_back(hwloc_bitmap_alloc());
      for (int i = 0; i < hwloc.processors(); ++i)
        hwloc_bitmap_set(groups[static_cast<std::size_t>(level.group_of[static_cast<std::size_t>(i)])],
                         static_cast<unsigned>(hwloc.processor(i)));
      std::set<std::string> sets;
      for (const auto& group : groups) {
        sets.insert(listed(group));
        hwloc_bitmap_free(group);
      }
      found.insert(sets);
    }
    EXPECT_EQ(found, wanted);
  }
}

TEST(Seats, OfThisMachineAsHwlocFindsThem) { expect_as_hwloc(Hwloc(nullptr), "/sys/devices/system/cpu"); }

#endif

}  // namespace
}  // namespace chasqui::run
