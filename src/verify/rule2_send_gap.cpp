// SPDX-License-Identifier: MIT
// Rule 2: two sends of one processor begin at least max(g, o) apart.
#include "verify/gaps.hpp"
#include "verify/rules.hpp"

namespace chasqui::verifier {

void rule2_send_gap(const Case& c, Findings& findings) {
  if (!findings.wants(2)) return;
  for (std::size_t id = 0; id < c.ranks().count(); ++id) {
    for_each_close_pair(c, c.sends().of(id), [&](const Event& before, const Event& event, std::int64_t apart) {
      findings.add(2, c.ranks().rank(id), event.time, event.index,
                   "it sends to rank {} only {} after its send to rank {} (message {}); the gap is {}",
                   c.message(event.index).to.index, apart, c.message(before.index).to.index, before.index,
                   c.machine().gap().ticks);
    });
  }
}

}  // namespace chasqui::verifier
