// SPDX-License-Identifier: MIT
#include "plan/clusters/trees/node_places.hpp"

#include <algorithm>

#include "chasqui/base/arithmetic.hpp"

namespace chasqui::plan {

NodePlaces::NodePlaces(const Cluster& cluster, Rank root, Spread tree)
    : tree_(std::move(tree)), where_(cluster.nodes), root_node_(where_.node_of(root)) {
  const std::int64_t smallest = cluster.nodes.smallest(), lanes = tree_.shape().lanes;
  last_size_ = smallest;
  if (cluster.nodes.uniform() || (smallest >= 2 && !small(smallest))) return;  // any node may have any place
  std::int64_t node = 0, largest = 0, at = 0;                                  // of the nodes but the root's
  for (const Nodes::Run& run : cluster.nodes.runs) {
    runs_.push_back({node, run.size, small_});
    if (small(run.size)) small_ += run.count;
    const bool only_root = run.count == 1 && node == root_node_;
    if (!only_root && run.size > largest) largest = run.size, at = node == root_node_ ? node + 1 : node;
    node += run.count;
  }
  CHASQUI_CHECK(!small(where_.size(root_node_)), "the root's node has {} ranks", where_.size(root_node_));
  look_up(tree_.root());
  last_ = last_in(tree_.root()).value();
  if (lanes == 1) {  // all places are alike: the largest node gets the last one
    changed_for_ = modulo(at - root_node_, where_.count());
    last_size_ = largest;
    return;
  }
  changed_for_ = last_;
  last_size_ = lanes;
  fit_ = small_ <= for_small_in(tree_.root());
  if (fit_ && small_ > 0) last_small_ = select(true, small_ - 1).index;
}

const NodePlaces::Run& NodePlaces::run_of(std::int64_t node) const {
  return *(
      std::upper_bound(runs_.begin(), runs_.end(), node, [](std::int64_t x, const Run& run) { return x < run.node; }) -
      1);
}

std::int64_t NodePlaces::small_before(std::int64_t node) const {
  const Run& run = run_of(node);
  return run.small_before + (small(run.size) ? node - run.node : 0);
}

std::int64_t NodePlaces::small_node(std::int64_t number) const {
  // The last run with no more small ones before it: those behind it have more, so it is small itself.
  const auto next = std::upper_bound(runs_.begin(), runs_.end(), number,
                                     [](std::int64_t x, const Run& run) { return x < run.small_before; });
  const Run& run = *(next - 1);
  return run.node + number - run.small_before;
}

std::int64_t NodePlaces::large_node(std::int64_t number) const {
  const std::int64_t all = where_.count() - small_;
  number = (number + root_node_ - small_before(root_node_)) % all;
  const auto next = std::upper_bound(runs_.begin(), runs_.end(), number,
                                     [](std::int64_t x, const Run& run) { return x < run.node - run.small_before; });
  const Run& run = *(next - 1);
  return run.node + number - (run.node - run.small_before);
}

std::int64_t NodePlaces::large_number(std::int64_t node) const {
  const auto before = [&](std::int64_t other) { return other - small_before(other); };
  return modulo(before(node) - before(root_node_), where_.count() - small_);
}

void NodePlaces::look_up(const Spread::Node& place) {
  tree_.for_children(place, [&](const Spread::Node& child) {
    if (!whole(child)) return look_up(child);
    if (whole_.contains(child.left)) return;
    const Spread::Node subtree = whole_subtree(child.left);
    look_up(subtree);
    WholeSubtree known{narrow(subtree) ? 1 : 0, child.left == 0};
    tree_.for_children(subtree, [&](const Spread::Node& below) {
      const WholeSubtree& its = whole_.at(below.left);
      known.narrow += its.narrow;
      known.to_the_end = known.to_the_end || its.to_the_end;
    });
    whole_.emplace(child.left, known);
  });
}

std::optional<std::int64_t> NodePlaces::last_in(const Spread::Node& place) const {
  if (place.left == 0) return place.index;
  if (place.index > 0 && whole(place) && !whole_.at(place.left).to_the_end) return std::nullopt;
  for (const Spread::Node& child : tree_.children(place)) {
    if (const auto found = last_in(child)) return found;
  }
  return std::nullopt;
}

std::int64_t NodePlaces::narrow_in(const Spread::Node& place) const {
  if (whole(place)) return whole_.at(place.left).narrow;
  std::int64_t count = narrow(place) ? 1 : 0;
  tree_.for_children(place, [&](const Spread::Node& child) { count += narrow_in(child); });
  return count;
}

std::int64_t NodePlaces::for_small_in(const Spread::Node& place) const {
  const bool has_last = place.index <= last_ && last_ < place.index + place.size;
  return narrow_in(place) - (has_last ? 1 : 0) - (place.index == 0 && narrow(place) ? 1 : 0);
}

Spread::Node NodePlaces::select(bool for_small_ones, std::int64_t number) const {
  Spread::Node at = tree_.root();
  for (;;) {
    if (for_small(at) == for_small_ones && number-- == 0) return at;
    Spread::Node next = at;
    for (const Spread::Node& child : tree_.children(at)) {
      const std::int64_t of_small = for_small_in(child), these = for_small_ones ? of_small : child.size - of_small;
      next = child;
      if (number < these) break;
      number -= these;
    }
    CHASQUI_CHECK(next.index > at.index, "number={} of {} nodes", number, where_.count());
    at = next;
  }
}

std::int64_t NodePlaces::for_small_before(std::int64_t index) const {
  std::int64_t count = 0;
  for (Spread::Node at = tree_.root(); at.index < index;) {
    count += for_small(at) ? 1 : 0;
    Spread::Node next = at;
    for (const Spread::Node& child : tree_.children(at)) {
      next = child;
      if (index < child.index + child.size) break;
      count += for_small_in(child);
    }
    at = next;
  }
  return count;
}

std::int64_t NodePlaces::node_at(const Spread::Node& place) const {
  if (small_ == 0) return (changed(place.index) + root_node_) % where_.count();
  const std::int64_t before = for_small_before(place.index);
  if (before < small_ && for_small(place)) return small_node(before);
  return large_node(place.index - std::min(before, small_));
}

Spread::Node NodePlaces::place_of(std::int64_t node) const {
  if (small_ == 0) return tree_.node(changed(modulo(node - root_node_, where_.count())));
  if (small(where_.size(node))) return select(true, small_before(node));
  const std::int64_t number = large_number(node);
  return number + small_ > last_small_ ? tree_.node(number + small_) : select(false, number);
}

}  // namespace chasqui::plan
