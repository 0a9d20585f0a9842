// SPDX-License-Identifier: MIT
#include "plan/stream/item_tree.hpp"

#include "chasqui/base/error.hpp"

namespace chasqui::plan::stream_detail {

void ItemTree::add_head(std::int64_t label, std::int64_t children, std::int64_t rank) {
  nodes_[label].push_back(rank);
  for (std::int64_t c = 0; c < children; ++c) senders_[label + L_ + c].push_back(rank);
}

std::vector<StreamMessage> ItemTree::messages(std::int64_t item, std::int64_t root) const {
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

}  // namespace chasqui::plan::stream_detail
