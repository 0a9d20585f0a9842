// SPDX-License-Identifier: MIT
// The fold of one node on its board: a reduction in which a message is a publication and its reading, so the universal tree
// of lambda = publish + read and gap = read, backwards (clusters.md, Theorem 8).
#include <algorithm>
#include <functional>
#include <queue>
#include <vector>

#include "plan/clusters/cluster_plans.hpp"

namespace chasqui::plan {

BoardFold::BoardFold(const Nodes& nodes, std::int64_t size) : publish_(nodes.publish), read_(nodes.read), size_(size) {
  if (size == 1) return;
  if (read_ > Time{0}) {
    tree_.emplace(TreeShape{publish_ + read_, read_}, size);
    time_ = tree_->finish().ticks;
  } else {
    time_ = publish_.ticks;
  }
}

Rank BoardFold::rank(std::int64_t first, std::int64_t leader, std::int64_t place) const {
  return {static_cast<std::int32_t>(first + (leader - first + place) % size_)};
}

std::pair<Part, Part> BoardFold::parts(std::int64_t first, std::int64_t leader, std::int64_t place,
                                       std::int64_t count) const {
  const std::int64_t lo = rank(first, leader, place).index;
  const std::int64_t before_end = std::min(count, first + size_ - lo);
  const auto small = [](std::int64_t x) { return static_cast<std::int32_t>(x); };
  const Part wrapped = before_end == count ? Part{} : Part{small(first), small(count - before_end)};
  return {Part{small(lo), small(before_end)}, wrapped};
}

void BoardFold::events(std::int64_t first, std::int64_t leader, std::int64_t place,
                       std::vector<Publication>& publications, std::vector<Reading>& readings) const {
  const auto exchange = [&](std::int64_t child, std::int64_t count, Time begin, std::int64_t parent) {
    const auto [part, second] = parts(first, leader, child, count);
    if (place == child) {
      publications.push_back({begin, rank(first, leader, child), part, second});
    } else {
      readings.push_back({begin + publish_, rank(first, leader, parent), rank(first, leader, child), part, second});
    }
  };
  if (size_ == 1) return;
  if (!tree_) {
    if (place > 0) return exchange(place, 1, Time{0}, 0);
    for (std::int64_t child = 1; child < size_; ++child) exchange(child, 1, Time{0}, 0);
    return;
  }
  const UniversalTree::Node node = tree_->node(place);
  if (place > 0) exchange(place, node.size, tree_->finish() - node.label, node.parent);
  for (std::int64_t i = node.children; i-- > 0;) {
    const UniversalTree::Node child = tree_->child(node, i);
    exchange(child.index, child.size, tree_->finish() - child.label, place);
  }
}

std::vector<std::int64_t> board_labels(const Nodes& nodes, std::int64_t count) {
  const std::int64_t publish = nodes.publish.ticks, read = nodes.read.ticks;
  std::vector<std::int64_t> labels{0};
  if (read == 0) {
    labels.resize(static_cast<std::size_t>(count), publish);
    return labels;
  }
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> next;
  next.push(publish + read);
  while (static_cast<std::int64_t>(labels.size()) < count) {
    const std::int64_t label = next.top();
    next.pop();
    labels.push_back(label);
    next.push(label + read);
    next.push(label + publish + read);
  }
  return labels;
}

BoardFolds::BoardFolds(const Nodes& nodes) {
  for (const Nodes::Run& run : nodes.runs) {
    const BoardFold& fold = folds_.try_emplace(run.size, nodes, run.size).first->second;
    time_ = std::max(time_, fold.time());
  }
}

}  // namespace chasqui::plan
