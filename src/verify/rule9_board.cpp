// SPDX-License-Identifier: MIT
// Rule 9 (N2 of docs/clusters.md): inside a node there are no messages, only the board; what is read there was published by
// a rank of the same node, and its publication has ended. Who breaks it is taken to have read nevertheless, so that one slip
// does not produce a page of consequences.
#include <algorithm>
#include <tuple>

#include "verify/rules.hpp"

namespace chasqui::verifier {
namespace {

/// By rank, content and time.
bool earlier(const Publication& a, const Publication& b) {
  return std::tie(a.rank, a.part, a.second, a.begin) < std::tie(b.rank, b.part, b.second, b.begin);
}

std::vector<Publication> on_the_boards(const Case& c) {
  std::vector<Publication> all;
  for (std::size_t id = 0; id < c.ranks().count(); ++id) {
    for (const Event& event : c.publications().of(id)) all.push_back(c.schedule().publications[event.index]);
  }
  std::sort(all.begin(), all.end(), earlier);
  return all;
}

void judge(const Case& c, const Reading& r, const std::vector<Publication>& published, Findings& findings) {
  const auto report = [&](std::string_view why) {
    findings.add(9, r.rank, r.begin.ticks, kNoMessage, "it reads {} from rank {}, {}", cargo(c, r.part, r.second),
                 r.from.index, why);
  };
  if (c.nodes().node_of(r.rank) != c.nodes().node_of(r.from)) return report("which is in another node");
  const Publication wanted{Time{-kMaxTime}, r.from, r.part, r.second};
  const auto first = std::lower_bound(published.begin(), published.end(), wanted, earlier);
  if (first == published.end() || first->rank != r.from || first->part != r.part || first->second != r.second)
    return report("which never publishes that");
  const std::int64_t late = (first->begin + c.nodes().publish - r.begin).ticks;
  if (late > 0) report(fmt::format("whose publication ends only {} tick{} later", late, late == 1 ? "" : "s"));
}

}  // namespace

void rule9_board(const Case& c, Findings& findings) {
  if (!findings.wants(9) || c.nodes().empty()) return;
  for (std::size_t id = 0; id < c.ranks().count(); ++id) {
    for (const Event& event : c.sends().of(id)) {
      const Send& send = c.message(event.index);
      if (c.nodes().node_of(send.from) != c.nodes().node_of(send.to)) continue;
      findings.add(9, send.from, event.time, event.index,
                   "it sends to rank {} of its own node, where there is only the board", send.to.index);
    }
  }
  const std::vector<Publication> published = on_the_boards(c);
  for (std::size_t id = 0; id < c.ranks().count(); ++id) {
    for (const Event& event : c.readings().of(id)) judge(c, c.schedule().readings[event.index], published, findings);
  }
}

}  // namespace chasqui::verifier
