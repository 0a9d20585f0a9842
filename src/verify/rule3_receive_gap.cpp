// SPDX-License-Identifier: MIT
// Rule 3: two receptions of one processor begin at least max(g, o) apart. Buffered receptions are by
// construction.
#include "verify/gaps.hpp"
#include "verify/rules.hpp"

namespace chasqui::verifier {

void rule3_receive_gap(const Case& c, Findings& findings) {
  if (!findings.wants(3)) return;
  for (std::size_t id = 0; id < c.ranks().count(); ++id) {
    for_each_close_pair(c, c.receptions().of(id), [&](const Event& before, const Event& event, std::int64_t apart) {
      findings.add(3, c.ranks().rank(id), event.time, event.index,
                   "its reception from rank {} begins only {} after that from rank {} (message {}); the gap is {}",
                   c.message(event.index).from.index, apart, c.message(before.index).from.index, before.index,
                   c.machine().gap().ticks);
    });
  }
}

}  // namespace chasqui::verifier
