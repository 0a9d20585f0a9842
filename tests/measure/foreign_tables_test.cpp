// SPDX-License-Identifier: MIT
// Tables of other tools become points of a profile.
#include "measure/foreign_tables.hpp"

#include <gtest/gtest.h>

#include "chasqui/base/error.hpp"

namespace chasqui::measure {
namespace {

constexpr const char* kOsu = R"(
# OSU MPI Broadcast Latency Test v7.1
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
1                       1.25              0.42              2.94        5000
1024                    3.50              0.42              2.92        5000
)";

constexpr const char* kImb = R"(#------------------------------------------------------------
#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part
#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.50         0.00
            8         1000         0.55        14.00
# Benchmarking Allreduce
# #processes = 2
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         1000         0.04         0.04         0.04
            4         1000         9.00         9.00         9.00
# Benchmarking Allreduce
# #processes = 4
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         1000         0.04         0.04         0.04
            4         1000         1.00         3.00         2.00
            8         1000         1.00         4.00         2.50
      4194304 out-of-mem.; needed X=   3.001 GB; use flag "-mem X" or MAX_MEM_USAGE>=X
# Benchmarking Alltoallv
# #processes = 4
            8         1000         1.00         4.00         7.50
# Benchmarking Reduce_scatter
# #processes = 4
           64         1000         1.00         4.00         6.00
# Benchmarking Barrier
# #processes = 4
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1000         0.80         1.20         1.00
)";

Profile of_ranks(std::int64_t ranks) {
  Profile profile = default_profile();
  for (Level& level : profile.levels) level.ranks = ranks;
  return profile;
}

TEST(ForeignTables, OsuAndImbAreTheLibrarysOwn) {
  Profile profile = of_ranks(4);
  profile.native["broadcast"] = {{8, 700}, {1024, 9999}};
  add_tables(profile, foreign_tables(kOsu, "osu.txt"), "osu.txt", 0);
  EXPECT_EQ(profile.native["broadcast"], (Times{{1, 1250}, {8, 700}, {1024, 3500}}));
  add_tables(profile, foreign_tables(kImb, "imb.txt"), "imb.txt", 0);
  EXPECT_EQ(profile.native["allreduce"], (Times{{4, 2000}, {8, 2500}}));  // of four processes, not of two
  EXPECT_EQ(profile.native["reduce-scatter"], (Times{{16, 6000}}));       // 64 bytes are 16 for each
  EXPECT_EQ(profile.native["barrier"], (Times{{0, 1000}}));
  EXPECT_EQ(profile.native.count("alltoall"), 0U);
  EXPECT_EQ(profile_from_json(to_json(profile), "again"), profile);
}

TEST(ForeignTables, AnotherNumberOfRanksIsRefused) {
  Profile profile = of_ranks(8);
  EXPECT_THROW(add_tables(profile, foreign_tables(kImb, "imb.txt"), "imb.txt", 0), Error);
  EXPECT_THROW(add_tables(profile, foreign_tables(kOsu, "osu.txt"), "osu.txt", 4), Error);
}

/// A machine made up, and its table as Netgauge would print it.
TEST(ForeignTables, NetgaugesTableGivesTheMachineBack) {
  const double L = 4, o_s = 0.5, o_r = 0.75, g = 1.5, G = 0.001;
  std::string text = "# size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,PRTT(1,0,s),s) L o_s o_r g G lsqu(g,G)\n";
  for (int s = 1; s < 20'000; s += 1024) {
    const double one = 2 * (L + o_s + o_r + (s - 1) * G);
    text += fmt::format("{} 10 {:.6f} {:.6f} 0 0 {} {} 0 0 0\n", s, one, one + 9 * (g + (s - 1) * G), o_s, o_r);
  }
  Profile profile = default_profile();
  add_tables(profile, foreign_tables(text, "loggp.out"), "loggp.out", 0);
  const Level& network = *profile.level("network");
  EXPECT_NEAR(network.L.value, 4000, 1);
  EXPECT_NEAR(network.o_s.value, 500, 1);
  EXPECT_NEAR(network.o_r.value, 750, 1);
  EXPECT_NEAR(network.g.value, 1500, 1);
  EXPECT_NEAR(network.G.value, 1, 0.001);
  EXPECT_EQ(profile_from_json(to_json(profile), "again"), profile);
}

TEST(ForeignTables, FaultsHaveTheirPlace) {
  const auto refused = [](const char* text, const char* part) {
    try {
      foreign_tables(text, "x.txt");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  refused("", "x.txt: no table");
  refused("# OSU MPI Latency Test\n8 1.0\n", "no times of a collective");
  refused("# OSU MPI Allreduce Latency Test\n8\n", "line 2");
  refused("# OSU MPI Allreduce Latency Test\n8 x\n", "'x'");
  refused("# Benchmarking Reduce\n# #processes = 2\n8 1000 1\n", "line 3");
  refused("# PRTT(1,0,s)\n1 10 2 3\n", "line 2");
  refused("# PRTT(1,0,s)\n1 10 2 3 4 5 6 7\n", "three sizes");
}

}  // namespace
}  // namespace chasqui::measure
