// SPDX-License-Identifier: MIT
// Rules 2 and 3: two sends, or two receptions, of one processor begin at least max(g, o) apart. Buffered receptions are by
// construction.
#include "verify/rules.hpp"

namespace chasqui::verifier {
namespace {

/// Calls report(rank, before, event, apart) for neighbours in time that are closer than the gap; in a stream the last event
/// of a period precedes the first of the next.
template <typename Report>
void for_each_close_pair(const Case& c, const Lanes& lanes, Report report) {
  const std::int64_t gap = c.machine().gap().ticks;
  for (std::size_t id = 0; id < c.ranks().count(); ++id) {
    const auto events = lanes.of(id);
    const auto look = [&](const Event& before, const Event& event, std::int64_t apart) {
      if (apart < gap) report(c.ranks().rank(id), before, event, apart);
    };
    for (std::size_t i = 1; i < events.size(); ++i) look(events[i - 1], events[i], events[i].time - events[i - 1].time);
    if (c.period() == 0 || events.empty()) continue;
    look(events.back(), events.front(), events.front().time + (c.period() - events.back().time));
  }
}

}  // namespace

void rule2_send_gap(const Case& c, Findings& findings) {
  if (!findings.wants(2)) return;
  for_each_close_pair(c, c.sends(), [&](auto rank, const Event& before, const Event& event, std::int64_t apart) {
    findings.add(2, rank, event.time, event.index,
                 "it sends to rank {} only {} after its send to rank {} (message {}); the gap is {}",
                 c.message(event.index).to.index, apart, c.message(before.index).to.index, before.index,
                 c.machine().gap().ticks);
  });
}

void rule3_receive_gap(const Case& c, Findings& findings) {
  if (!findings.wants(3)) return;
  for_each_close_pair(c, c.receptions(), [&](auto rank, const Event& before, const Event& event, std::int64_t apart) {
    findings.add(3, rank, event.time, event.index,
                 "its reception from rank {} begins only {} after that from rank {} (message {}); the gap is {}",
                 c.message(event.index).from.index, apart, c.message(before.index).from.index, before.index,
                 c.machine().gap().ticks);
  });
}

}  // namespace chasqui::verifier
