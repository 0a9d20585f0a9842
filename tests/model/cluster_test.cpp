// SPDX-License-Identifier: MIT
#include "chasqui/model/cluster.hpp"

#include <gtest/gtest.h>

#include "chasqui/base/error.hpp"

namespace chasqui {
namespace {

const LogP kBase{1, Time{6}, Time{2}, Time{4}};

std::string complaint(const Cluster& cluster) {
  try {
    validate(cluster);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Cluster, CountsItsRanks) {
  Nodes nodes;
  for (const std::int64_t size : {3, 3, 1, 2}) nodes.add(size);
  EXPECT_EQ(nodes.runs.size(), 3U) << "equal neighbours are one entry";
  EXPECT_EQ(nodes.count(), 4);
  EXPECT_EQ(nodes.ranks(), 9);
  EXPECT_EQ(nodes.largest(), 3);
  EXPECT_EQ(nodes.smallest(), 1);
  const std::int64_t node[] = {0, 0, 0, 1, 1, 1, 2, 3, 3};
  for (std::int32_t rank = 0; rank < 9; ++rank) EXPECT_EQ(nodes.node_of(Rank{rank}), node[rank]) << rank;
  const std::int64_t first[] = {0, 3, 6, 7, 9};
  for (std::int64_t i = 0; i <= 4; ++i) EXPECT_EQ(nodes.first_rank(i), first[i]);
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_EQ(nodes.size(i), first[i + 1] - first[i]);
}

TEST(Cluster, AMillionEqualNodesAreOneEntry) {
  const Cluster cluster = Cluster::uniform(1'000'000, 1000, kBase, Time{1}, Time{2}, Time{2});
  EXPECT_EQ(cluster.base.P, 1'000'000'000);
  EXPECT_EQ(cluster.nodes.node_of(Rank{123'456'789}), 123'456);
  EXPECT_TRUE(cluster.nodes.uniform());
  EXPECT_EQ(complaint(cluster), "");
}

TEST(Cluster, SaysWhatItIs) {
  Cluster cluster = Cluster::uniform(64, 16, kBase, Time{1}, Time{2}, Time{3});
  EXPECT_EQ(to_string(cluster), "N=64 n=16 L=6 o=2 g=4 gamma=1 publish=2 read=3");
  cluster.nodes.add(8);
  EXPECT_EQ(to_string(cluster.nodes),
            "N=65 n=16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,... gamma=1 publish=2 read=3");
}

TEST(Cluster, RefusesWhatIsNone) {
  const auto with = [](auto change) {
    Cluster cluster = Cluster::uniform(4, 2, kBase, Time{1}, Time{2}, Time{2});
    change(cluster);
    return complaint(cluster);
  };
  EXPECT_EQ(with([](Cluster& c) { c.nodes.runs.clear(); }),
            "a cluster has at least one node: say how many with -N and -n");
  EXPECT_EQ(with([](Cluster& c) { c.nodes.runs[0].count = 0; }), "N=0 is too small: a cluster has at least one node");
  EXPECT_EQ(with([](Cluster& c) { c.nodes.runs[0].size = 0; }), "n=0 is too small: a node has at least one rank");
  EXPECT_EQ(with([](Cluster& c) { c.base.P = 7; }), "the nodes have 8 ranks but P=7: their sizes must add up to P");
  EXPECT_EQ(with([](Cluster& c) {
              c.nodes.runs[0] = {1'000'000'000'000, 1'000'000'000'000};
            }),
            "the nodes have 2^63 or more ranks: there may be at most 2147483647");
  EXPECT_EQ(with([](Cluster& c) { c.nodes.gamma = Time{5}; }),
            "gamma=5 is more than max(g, o)=4: then one rank alone waits for the adapter; make g at least 5");
  EXPECT_EQ(with([](Cluster& c) { c.nodes.publish = Time{-1}; }),
            "publish=-1 is out of range: it must lie in 0..1000000000000000");
  EXPECT_EQ(with([](Cluster& c) { c.nodes.read = Time{9}; }),
            "publish=2 and read=9 together are more than L+2o=10: a board slower than the network is none; make every "
            "rank a node of its own");
  EXPECT_EQ(with([](Cluster& c) { c.base.g = Time{0}; }), "g=0 is too small: it must be at least 1");
}

}  // namespace
}  // namespace chasqui
