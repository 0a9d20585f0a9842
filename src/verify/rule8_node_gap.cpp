// SPDX-License-Identifier: MIT
// Rule 8 (N1 of docs/clusters.md): two sends, or two receptions, of ranks of one node begin at least gamma apart.
#include <algorithm>
#include <tuple>

#include "verify/rules.hpp"

namespace chasqui::verifier {
namespace {

struct AtAdapter {
  std::int64_t node = 0;
  std::int64_t time = 0;
  std::uint32_t index = 0;
};

/// All events of `lanes`, by node and then by time.
std::vector<AtAdapter> by_node(const Case& c, const Lanes& lanes) {
  std::vector<AtAdapter> all;
  for (std::size_t id = 0; id < c.ranks().count(); ++id) {
    const auto events = lanes.of(id);
    if (events.empty()) continue;
    const std::int64_t node = c.nodes().node_of(c.ranks().rank(id));
    for (const Event& event : events) all.push_back({node, event.time, event.index});
  }
  std::sort(all.begin(), all.end(), [](const AtAdapter& a, const AtAdapter& b) {
    return std::tie(a.node, a.time, a.index) < std::tie(b.node, b.time, b.index);
  });
  return all;
}

}  // namespace

void rule8_node_gap(const Case& c, Findings& findings) {
  if (!findings.wants(8) || c.nodes().empty()) return;
  const std::int64_t gamma = c.nodes().gamma.ticks;
  const auto judge = [&](const Lanes& lanes, bool sending) {
    const std::vector<AtAdapter> events = by_node(c, lanes);
    for (std::size_t i = 1; i < events.size(); ++i) {
      const AtAdapter& before = events[i - 1];
      const AtAdapter& event = events[i];
      const std::int64_t apart = event.time - before.time;
      if (event.node != before.node || apart >= gamma) continue;
      const auto rank = [&](const AtAdapter& e) { return sending ? c.message(e.index).from : c.message(e.index).to; };
      findings.add(8, rank(event), event.time, event.index,
                   "its {} begins only {} after that of rank {} of its node (message {}); gamma is {}",
                   sending ? "send" : "reception", apart, rank(before).index, before.index, gamma);
    }
  };
  judge(c.sends(), true);
  judge(c.receptions(), false);
}

}  // namespace chasqui::verifier
