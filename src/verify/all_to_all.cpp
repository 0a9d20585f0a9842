// SPDX-License-Identifier: MIT
// All-to-all (docs/model.md): item (pP + q)k + i is at rank p from the start and promised to rank q. What anybody else gets
// of it is only passed on.
#include "chasqui/base/arithmetic.hpp"
#include "verify/rules.hpp"

namespace chasqui::verifier {

Missing missing_blocks(const Case& c, Rank rank, std::span<const Holding> held) {
  const std::int64_t P = c.machine().P;
  const std::int64_t k = c.problem().items;
  const auto first_from = [&](std::int64_t sender) {
    return saturating_multiply(saturating_add(saturating_multiply(sender, P), rank.index), k);
  };
  std::int64_t sender = rank.index == 0 ? 1 : 0;  // of the first item that is missing
  std::int64_t number = 0;                        // among the k of that pair
  Missing missing{saturating_multiply(P - 1, k), 0};
  std::int64_t last = -1;
  for (const Holding& h : held) {
    const std::int64_t pair = h.item / k;
    if (pair % P != rank.index || pair / P == rank.index || h.item == last) continue;
    last = h.item;
    --missing.count;
    if (h.item != first_from(sender) + number) continue;
    if (++number < k) continue;
    number = 0;
    sender += sender + 1 == rank.index ? 2 : 1;
  }
  missing.first = saturating_add(first_from(sender), number);
  return missing;
}

}  // namespace chasqui::verifier
