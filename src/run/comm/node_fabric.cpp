// SPDX-License-Identifier: MIT
#include "run/comm/node_fabric.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "chasqui/model/profile.hpp"
#include "run/board/node_memory.hpp"
#include "run/board/process_memory.hpp"
#include "run/messages/message_cost.hpp"

namespace chasqui::run {

std::vector<int> numbered(std::vector<int> nodes) {
  std::map<int, int> numbers;
  for (int& each : nodes) each = numbers.try_emplace(each, static_cast<int>(numbers.size())).first->second;
  return nodes;
}

std::vector<int> pretended_nodes(int ranks, int each) {
  std::vector<int> nodes;
  for (int r = 0; r < ranks; ++r) nodes.push_back(each > 0 ? r / each : r % -each);
  return nodes;
}

std::vector<std::shared_ptr<Board>> put_on_nodes(Fabric& fabric, NodeRanks& node, std::vector<int> nodes,
                                                 const NodeOptions& options) {
  fabric.crowded = node.size() > options.cores;
  std::vector<std::shared_ptr<Board>> boards;
  if (options.board) boards = make_boards(node, options.cores, options.stage_ring, options.boards);
  if (!boards.empty()) {
    fabric.board = boards.front();
    boards.erase(boards.begin());
  }
  if (fabric.board != nullptr) {
    fabric.node_of = std::move(nodes);
    fabric.process_memory = open_process_memory(node, options.cross_memory);
    if (fabric.process_memory != nullptr)
      fabric.process_memory->lend_by(
          open_lent_pages(node, lends_pages(Kind::alltoall, 0, fabric.size) && node.size() == fabric.size));
  } else {
    fabric.node_of.clear();
    for (int r = 0; r < fabric.size; ++r) fabric.node_of.push_back(r);
  }
  return boards;
}

void cut_messages(Fabric& fabric, std::size_t longest) {
  const Level* const network = fabric.profile->level("network");
  fabric.piece = [level = network != nullptr ? *network : Level{}, longest](std::size_t bytes) {
    return std::min(piece_bytes(level, bytes), longest);
  };
}

}  // namespace chasqui::run
