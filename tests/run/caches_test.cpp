// SPDX-License-Identifier: MIT
// Which ranks are near each other, on machines that are made up: folders as the system has them.
#include "run/wait/caches.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "chasqui/base/error.hpp"

namespace chasqui::run {
namespace {

namespace fs = std::filesystem;

class Machine : public testing::Test {
 protected:
  Machine() : root_(fs::path(testing::TempDir()) / ("caches-" + std::to_string(getpid()))) {}
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
  int of(std::initializer_list<int> processors) const {
    Cores cores;
    for (const int p : processors) cores.mask[static_cast<std::size_t>(p / 64)] |= std::uint64_t{1} << p % 64;
    return cache_of(cores, root_.string());
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
  }
  EXPECT_EQ(of({0}), 0);
  EXPECT_EQ(of({7}), 0);
  EXPECT_EQ(of({8}), 8);
  EXPECT_EQ(of({127}), 56);
  EXPECT_EQ(of({9, 73}), 8) << "both threads of a core";
  EXPECT_EQ(of({8, 9, 10, 11}), 8) << "several cores of one cache";
  EXPECT_EQ(of({7, 8}), -1) << "two caches";
  EXPECT_EQ(of({}), -1);
}

TEST_F(Machine, SocketsWhereCoresHaveTheirCachesAlone) {
  for (int p = 0; p < 8; ++p) {
    cache(p, 0, 2, std::to_string(p));
    write(p, p < 4 ? "topology/package_cpus_list" : "topology/core_siblings_list", p < 4 ? "0-3" : "4-7");
  }
  EXPECT_EQ(of({3}), 0);
  EXPECT_EQ(of({5, 6}), 4);
  EXPECT_EQ(of({3, 4}), -1);
}

TEST_F(Machine, NobodySays) {
  EXPECT_EQ(of({0}), -1);
  cache(0, 0, 3, "all of them");
  EXPECT_EQ(of({0}), -1);
}

TEST(GroupsByCache, AsLaunchersPlaceRanks) {
  EXPECT_EQ(groups_by_cache({0, 0, 0, 0, 8, 8, 8, 8}), Grouping::neighbours(8, 4));
  EXPECT_EQ(groups_by_cache({0, 0, 0, 0, 8, 8}), Grouping::neighbours(6, 4)) << "the last is not full";
  EXPECT_EQ(groups_by_cache({8, 0, 8, 0, 8, 0, 8, 0}), Grouping::by_turns(8, 2));
  EXPECT_EQ(groups_by_cache({0, 8, 16, 0, 8, 16, 0}), Grouping::by_turns(7, 3));
}

TEST(GroupsByCache, NoneWhereRanksLieInAnotherWay) {
  const Grouping none;
  EXPECT_EQ(groups_by_cache({}), none);
  EXPECT_EQ(groups_by_cache({0, 0, 8}), none) << "too few to group";
  EXPECT_EQ(groups_by_cache({0, 0, 0, 0}), none) << "all share one";
  EXPECT_EQ(groups_by_cache({0, 8, 16, 24}), none) << "nobody shares one";
  EXPECT_EQ(groups_by_cache({0, 8, 16, 24, 0}), none) << "hardly anybody";
  EXPECT_EQ(groups_by_cache({0, 0, 8, 8, 8, 0}), none);
  EXPECT_EQ(groups_by_cache({0, 0, 8, 8, 0, 0}), none) << "a group comes back";
  EXPECT_EQ(groups_by_cache({0, 0, 8, 8, 8, 8, 8}), none) << "the first is smaller";
  EXPECT_EQ(groups_by_cache({0, 8, 0, 8, 8, 0}), none);
  EXPECT_EQ(groups_by_cache({0, 0, -1, -1}), none) << "one is not bound";
}

}  // namespace
}  // namespace chasqui::run
