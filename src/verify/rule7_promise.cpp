// SPDX-License-Identifier: MIT
// Rule 7: at the end everybody has what the problem promises, at the time that is claimed.
#include <algorithm>

#include "verify/rules.hpp"

namespace chasqui::verifier {
namespace {

Missing missing_items(const Case& c, Rank rank, std::span<const Holding> held) {
  const auto [from, to] = c.promised(rank);
  const Case::Items owned = c.owned(rank);
  const std::int64_t own_from = owned.first;
  const std::int64_t own_to = owned.second;
  const std::int64_t own = std::max<std::int64_t>(0, std::min(to, own_to) - std::max(from, own_from));
  Missing missing{to - from - own, from};
  const auto skip_own = [&] {
    if (missing.first >= own_from && missing.first < own_to) missing.first = own_to;
  };
  skip_own();
  std::int64_t last = -1;
  for (const Holding& h : held) {
    const bool own_item = h.item >= own_from && h.item < own_to;
    if (h.item == last || own_item || h.item < from || h.item >= to) continue;
    last = h.item;
    --missing.count;
    if (h.item == missing.first) {
      ++missing.first;
      skip_own();
    }
  }
  return missing;
}

void report_items(const Case& c, Rank rank, std::span<const Holding> held, std::int64_t end, Findings& findings) {
  const bool alltoall = c.problem().kind == Kind::alltoall;
  const Missing missing = alltoall ? missing_blocks(c, rank, held) : missing_items(c, rank, held);
  if (missing.count == 1) {
    findings.add(7, rank, end, kNoMessage, "it never gets {}", named_item(c, missing.first));
  } else if (missing.count > 1) {
    findings.add(7, rank, end, kNoMessage, "it never gets {} items, the first of them {}", missing.count,
                 named_item(c, missing.first));
  }
}

/// Ranks that no message mentions, when they are too many to list: they have only what they started with.
/// Calls report(rank) until the report is full; counts the others.
template <typename Report>
void for_each_unmentioned(const Case& c, Findings& findings, Report report) {
  const Directory& ranks = c.ranks();
  if (static_cast<std::int64_t>(ranks.count()) == c.machine().P) return;
  std::int64_t left = c.machine().P - static_cast<std::int64_t>(ranks.count());
  std::size_t next = 0;
  for (std::int64_t r = 0; r < c.machine().P && left > 0 && !findings.full(); ++r) {
    if (next < ranks.count() && ranks.rank(next).index == r) {
      ++next;
      continue;
    }
    --left;
    report(Rank{static_cast<std::int32_t>(r)});
  }
  findings.omit(7, left);
}

void promise_items(const Case& c, const Holdings& holdings, Findings& findings) {
  const std::int64_t end = c.finish();
  for (std::size_t id = 0; id < c.ranks().count(); ++id) {
    report_items(c, c.ranks().rank(id), holdings.of(id), end, findings);
  }
  if (c.problem().kind == Kind::gather) return;  // nothing is promised but to the root
  for_each_unmentioned(c, findings, [&](Rank rank) { report_items(c, rank, {}, end, findings); });
}

void promise_folds(const Case& c, const Folds& judged, Findings& findings) {
  const std::int64_t end = c.finish();
  const auto report = [&](Rank rank) {
    const std::optional<Part> promise = promised_fold(c, rank);
    if (!promise) return;
    if (c.problem().kind == Kind::barrier) {
      findings.add(7, rank, end, kNoMessage, "it does not hear of every rank");
    } else {
      findings.add(7, rank, end, kNoMessage, "it cannot make the fold of {} from what it has", interval(c, *promise));
    }
  };
  for (std::size_t id = 0; id < c.ranks().count(); ++id) {
    if (judged.result[id] == Cover::missing) report(c.ranks().rank(id));
  }
  if (c.problem().kind == Kind::reduce || c.problem().kind == Kind::sum) return;
  for_each_unmentioned(c, findings, [&](Rank rank) {
    if (c.problem().kind != Kind::scan || rank.index > 0) report(rank);
  });
}

void additions_of_root(const Case& c, Findings& findings) {
  const Rank root = c.problem().root;
  const std::size_t id = c.ranks().id(root);
  const std::int64_t operands = c.schedule().operands[static_cast<std::size_t>(root.index)];
  const auto received = static_cast<std::int64_t>(c.receptions().of(id).size());
  const std::int64_t needed = std::max<std::int64_t>(0, operands - 1 + received);
  std::int64_t done = 0;
  for (const Event& event : c.adds().of(id)) done = std::min(needed + 1, done + c.schedule().adds[event.index].count);
  if (done < needed) {
    findings.add(7, root, c.finish(), kNoMessage, "the result is not complete: {} of {} additions are done", done,
                 needed);
  }
}

void claims(const Case& c, Findings& findings) {
  const bool stream = c.problem().kind == Kind::stream;
  const std::int64_t claimed = (stream ? c.schedule().delay : c.schedule().finish).ticks;
  const std::int64_t true_value = c.finish();
  const std::string_view name = stream ? "delay" : "finish";
  if (claimed != true_value) {
    findings.add(7, kNoRank, true_value, kNoMessage, "the {} is {}, not {} as claimed", name, true_value, claimed);
  }
  if (c.schedule().bound.ticks > claimed) {
    findings.add(7, kNoRank, true_value, kNoMessage, "the claimed bound {} is above the claimed {} {}",
                 c.schedule().bound.ticks, name, claimed);
  }
}

}  // namespace

void rule7_promise(const Case& c, const Evidence& evidence, bool complete, Findings& findings) {
  if (!findings.wants(7)) return;
  if (evidence.holdings) promise_items(c, *evidence.holdings, findings);
  if (evidence.folds) promise_folds(c, *evidence.folds, findings);
  if (c.problem().kind == Kind::sum) additions_of_root(c, findings);
  if (complete) claims(c, findings);
}

}  // namespace chasqui::verifier
