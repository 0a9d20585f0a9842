// SPDX-License-Identifier: MIT
// One item's tree, given who plays which node: links the nodes of each label to the heads that have a child there.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/stream.hpp"

namespace chasqui::plan::stream_detail {

class ItemTree {
 public:
  /// L is the tree's latency: a head of label d has children at d+L, d+L+1, …
  explicit ItemTree(std::int64_t L) : L_(L) {}

  /// Nodes of one label are numbered in the order of these calls, and so are the heads.
  void add_head(std::int64_t label, std::int64_t children, std::int64_t rank) {
    nodes_[label].push_back(rank);
    for (std::int64_t c = 0; c < children; ++c) senders_[label + L_ + c].push_back(rank);
  }

  void add_leaf(std::int64_t label, std::int64_t rank) { nodes_[label].push_back(rank); }

  /// Node number k of a label is a child of head number k among those with a child there. A child of label e
  /// is sent to at item + e: it arrives the machine's latency later, when its tree's clock says e.
  std::vector<StreamMessage> messages(std::int64_t item, std::int64_t root) const {
    std::vector<StreamMessage> messages;
    for (const auto& [label, ranks] : nodes_) {
      const auto senders = senders_.find(label);
      const std::size_t parents = label == 0 ? 1 : senders == senders_.end() ? 0 : senders->second.size();
      CHASQUI_CHECK(parents == ranks.size(), "ItemTree: label={} nodes={} parents={}", label, ranks.size(), parents);
      for (std::size_t k = 0; k < ranks.size(); ++k) {
        messages.push_back({{item + label}, item, label == 0 ? root : senders->second[k], ranks[k]});
      }
    }
    return messages;
  }

 private:
  std::int64_t L_;
  std::map<std::int64_t, std::vector<std::int64_t>> nodes_, senders_;
};

}  // namespace chasqui::plan::stream_detail
