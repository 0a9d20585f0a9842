// SPDX-License-Identifier: MIT
#include "plan/trees/tree_sends.hpp"

#include <algorithm>

namespace chasqui::plan {
namespace {

/// A node on the way down: its children of labels below the last have their messages in slots `slot`, `slot`+1, ….
struct Visit {
  std::int32_t index;
  std::int64_t next_label;  // of the child to visit next
  std::size_t slot;
};

/// Sorts by begin, keeping the order of equal ones. Begins are few and repeat: count them when a table is small.
std::vector<Send> by_begin(std::vector<Send> sends, Time last_begin) {
  const auto span = static_cast<std::size_t>(last_begin.ticks) + 1;
  if (span > 4 * sends.size() + 1024) {
    std::stable_sort(sends.begin(), sends.end(), [](const Send& a, const Send& b) { return a.begin < b.begin; });
    return sends;
  }
  std::vector<std::uint32_t> next(span + 1, 0);
  for (const Send& send : sends) ++next[static_cast<std::size_t>(send.begin.ticks) + 1];
  for (std::size_t t = 1; t <= span; ++t) next[t] += next[t - 1];
  std::vector<Send> sorted(sends.size());
  for (const Send& send : sends) sorted[next[static_cast<std::size_t>(send.begin.ticks)]++] = send;
  return sorted;
}

}  // namespace

std::vector<Send> tree_sends(const UniversalTree& tree) {
  const std::int64_t lambda = tree.shape().lambda.ticks;
  const std::int64_t gap = tree.shape().gap.ticks;
  const std::int64_t last = tree.finish().ticks;
  const auto P = static_cast<std::size_t>(tree.size());

  std::vector<Send> sends;  // to children of labels below the last, by sender; receivers are filled in on arrival
  sends.reserve(P - 1);
  std::vector<std::int32_t> last_child(P, -1);  // the child of the last label, where a node keeps one
  std::int64_t last_left = tree.kept_last();
  std::int32_t count = 0;
  std::vector<Visit> path;

  const auto arrive = [&](std::int64_t label) {
    const std::int32_t index = count++;
    path.push_back({index, label + lambda, sends.size()});
    for (std::int64_t child = label + lambda; child < last; child += gap) {
      sends.push_back(send_item(Time{child - lambda}, Rank{index}, Rank{}, 0));
    }
  };
  if (last == 0) --last_left;  // P = 1: the root itself has the last label
  arrive(0);
  while (!path.empty()) {
    Visit& visit = path.back();
    const std::int64_t label = visit.next_label;
    if (label < last) {
      visit.next_label += gap;
      sends[visit.slot++].to = Rank{count};
      if (label + lambda > last) {
        ++count;  // a leaf: nothing to visit
      } else {
        arrive(label);
      }
      continue;
    }
    if (label == last && last_left > 0) {
      --last_left;
      last_child[static_cast<std::size_t>(visit.index)] = count++;
    }
    path.pop_back();
  }

  sends = by_begin(std::move(sends), tree.finish() - tree.shape().lambda);
  for (std::size_t from = 0; from < P; ++from) {
    if (last_child[from] < 0) continue;
    sends.push_back(send_item(Time{last - lambda}, Rank{static_cast<std::int32_t>(from)}, Rank{last_child[from]}, 0));
  }
  return sends;
}

}  // namespace chasqui::plan
