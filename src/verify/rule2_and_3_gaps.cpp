// SPDX-License-Identifier: MIT
// Rules 2 and 3: two sends, or two receptions, of one processor begin at least max(g, o) apart. Buffered receptions are by
// construction.
#include "verify/rules.hpp"

namespace chasqui::verifier {
namespace {

/// Neighbours in time that are closer than the gap; in a stream the last event of a period precedes the first of the next.
/// `other`: the far end of a message. `text`: it, how far apart, the far end and number of the one before, the gap.
void judge(const Case& c, const Lanes& lanes, int rule, Rank Send::*other, Findings& findings, std::string_view text) {
  if (!findings.wants(rule)) return;
  const std::int64_t gap = c.machine().gap().ticks;
  for (std::size_t id = 0; id < c.ranks().count(); ++id) {
    const auto events = lanes.of(id);
    const auto look = [&](const Event& before, const Event& event, std::int64_t apart) {
      if (apart >= gap) return;
      findings.add(rule, c.ranks().rank(id), event.time, event.index, "{}",
                   fmt::format(fmt::runtime(text), (c.message(event.index).*other).index, apart,
                               (c.message(before.index).*other).index, before.index, gap));
    };
    for (std::size_t i = 1; i < events.size(); ++i) look(events[i - 1], events[i], events[i].time - events[i - 1].time);
    if (c.period() == 0 || events.empty()) continue;
    look(events.back(), events.front(), events.front().time + (c.period() - events.back().time));
  }
}

}  // namespace

void rule2_send_gap(const Case& c, Findings& findings) {
  judge(c, c.sends(), 2, &Send::to, findings,
        "it sends to rank {} only {} after its send to rank {} (message {}); the gap is {}");
}

void rule3_receive_gap(const Case& c, Findings& findings) {
  judge(c, c.receptions(), 3, &Send::from, findings,
        "its reception from rank {} begins only {} after that from rank {} (message {}); the gap is {}");
}

}  // namespace chasqui::verifier
