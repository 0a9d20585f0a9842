// SPDX-License-Identifier: MIT
#include "measure/node_pattern.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace chasqui::measure {
namespace {

using Nodes = std::vector<std::vector<int>>;

/// What all ranks do, by sender and receiver: sent, and received.
std::map<std::pair<int, int>, std::pair<int, int>> played(const Nodes& nodes, std::size_t lanes, std::size_t messages) {
  std::map<std::pair<int, int>, std::pair<int, int>> pairs;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    for (std::size_t place = 0; place < nodes[node].size(); ++place) {
      const int me = nodes[node][place];
      for (const NodeMessage& message : node_pattern(nodes, node, place, lanes, messages)) {
        if (message.arrives) ++pairs[{message.peer, me}].second;
        else ++pairs[{me, message.peer}].first;
      }
    }
  }
  return pairs;
}

const std::vector<Nodes> kShapes = {
    {{0, 1}, {2, 3}}, {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}, {{0, 3, 4}, {1}, {2, 5}}, {{0}, {1}, {2}, {3}}};

TEST(NodePattern, WhatIsSentIsReceived) {
  for (const Nodes& nodes : kShapes) {
    for (const std::size_t lanes : {1u, 2u, 4u}) {
      for (const std::size_t messages : {1u, 2u, 7u}) {
        for (const auto& [who, counts] : played(nodes, lanes, messages))
          EXPECT_EQ(counts.first, counts.second) << who.first << " to " << who.second << ", lanes " << lanes;
      }
    }
  }
}

TEST(NodePattern, AsManyRanksOfEveryNodeSendToAllOthersInTurn) {
  for (const Nodes& nodes : kShapes) {
    for (const std::size_t lanes : {1u, 2u, 4u}) {
      const std::size_t messages = 3 * (nodes.size() - 1);
      const auto pairs = played(nodes, lanes, messages);
      for (std::size_t from = 0; from < nodes.size(); ++from) {
        for (std::size_t place = 0; place < nodes[from].size(); ++place) {
          for (std::size_t to = 0; to < nodes.size(); ++to) {
            int sent = 0;
            for (const int receiver : nodes[to]) {
              if (const auto found = pairs.find({nodes[from][place], receiver}); found != pairs.end())
                sent += found->second.first;
            }
            EXPECT_EQ(sent, to != from && place < lanes ? 3 : 0)
                << "node " << from << ", place " << place << ", to node " << to << ", lanes " << lanes;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace chasqui::measure
