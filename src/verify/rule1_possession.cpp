// SPDX-License-Identifier: MIT
// Rule 1: a processor sends, publishes and adds only what it has.
#include <algorithm>

#include "chasqui/base/arithmetic.hpp"
#include "verify/rules.hpp"

namespace chasqui::verifier {
namespace {

/// Where publishing and reading take no time, ranks of a node could have an item from each other and from nobody else.
bool had_in_a_circle(const Case& c, const Holdings& holdings, Rank rank, std::int64_t item) {
  if (c.nodes().publish + c.nodes().read > Time{0}) return false;
  for (std::int64_t steps = c.nodes().size(c.nodes().node_of(rank)); steps > 0; --steps) {
    const auto [first, end] = c.owned(rank);
    if (item >= first && item < end) return false;
    const Holding* held = holdings.find(c.ranks().id(rank), item);
    if (held == nullptr || !held->was_read()) return false;
    rank = c.schedule().readings[held->reading()].from;
  }
  return true;
}

void possess_items(const Case& c, const Holdings& holdings, Findings& findings) {
  for (std::size_t id = 0; id < c.ranks().count(); ++id) {
    const auto sends = c.sends().of(id);
    const auto publications = c.publications().of(id);
    if (sends.empty() && publications.empty()) continue;
    const Rank rank = c.ranks().rank(id);
    const Case::Items owned = c.owned(rank);
    const std::int64_t first = owned.first;
    const std::int64_t end = owned.second;
    for (const Event& event : publications) {
      const std::int64_t item = c.item(c.schedule().publications[event.index]);
      const bool own = item >= first && item < end;
      const Holding* held = own ? nullptr : holdings.find(id, item);
      const std::int64_t late = (held == nullptr ? 0 : held->available) - event.time;
      if (!own && held == nullptr) {
        findings.add(1, rank, event.time, kNoMessage, "it publishes item {} but never gets it", item);
      } else if (late > 0) {
        findings.add(1, rank, event.time, kNoMessage, "it publishes item {} but has it only {} tick{} later", item,
                     late, late == 1 ? "" : "s");
      } else if (had_in_a_circle(c, holdings, rank, item)) {
        findings.add(1, rank, event.time, kNoMessage,
                     "it publishes item {} but has it only from ranks that read it here", item);
      }
    }
    for (const Event& event : sends) {
      const std::int64_t item = c.item(event.index);
      std::int64_t has = 0;
      if (item < first || item >= end) {
        const Holding* held = holdings.find(id, item);
        if (held == nullptr) {
          findings.add(1, rank, event.time, event.index, "it sends {} to rank {} but never gets it",
                       cargo(c, c.message(event.index)), c.message(event.index).to.index);
          continue;
        }
        has = held->available;
      }
      const std::int64_t late = has - c.begin(event.index);
      if (late > 0) {
        findings.add(1, rank, event.time, event.index, "it sends {} to rank {} but has it only {} tick{} later",
                     cargo(c, c.message(event.index)), c.message(event.index).to.index, late, late == 1 ? "" : "s");
      }
    }
  }
}

void possess_folds(const Case& c, const Folds& judged, Findings& findings) {
  for (std::size_t id = 0; id < c.ranks().count(); ++id) {
    for (const Event& event : c.sends().of(id)) {
      if (judged.message[event.index] != Cover::missing) continue;
      const Send& send = c.message(event.index);
      findings.add(1, send.from, event.time, event.index,
                   "it sends {} to rank {} but cannot make that from what it has by then", cargo(c, send),
                   send.to.index);
    }
    for (const Event& event : c.publications().of(id)) {
      if (judged.publication[event.index] != Cover::missing) continue;
      const Publication& p = c.schedule().publications[event.index];
      findings.add(1, p.rank, event.time, kNoMessage, "it publishes {} but cannot make that from what it has by then",
                   cargo(c, p.part, p.second));
    }
  }
}

/// The i-th value added from a rank must be there: compare with the i-th message from it.
void added_values(const Case& c, std::size_t id, Findings& findings) {
  const Rank rank = c.ranks().rank(id);
  const auto sender = [&](const Event& e) { return c.message(e.index).from; };
  const auto source = [&](const Event& e) { return c.schedule().adds[e.index].from; };
  const auto got_lane = c.receptions().of(id);
  const auto add_lane = c.adds().of(id);
  std::vector<Event> got(got_lane.begin(), got_lane.end());
  std::vector<Event> adds(add_lane.begin(), add_lane.end());
  std::stable_sort(got.begin(), got.end(), [&](const Event& a, const Event& b) { return sender(a) < sender(b); });
  std::stable_sort(adds.begin(), adds.end(), [&](const Event& a, const Event& b) { return source(a) < source(b); });
  std::size_t next = 0;
  for (const Event& event : adds) {
    const Rank from = source(event);
    if (from == rank) {
      if (event.time < 0) findings.add(1, rank, event.time, kNoMessage, "it adds operands before time 0");
      continue;
    }
    while (next < got.size() && sender(got[next]) < from) ++next;
    if (next == got.size() || sender(got[next]) != from) {
      findings.add(1, rank, event.time, kNoMessage, "it adds a value from rank {} that it never gets", from.index);
      continue;
    }
    const std::int64_t has = c.available(got[next].index);
    if (has > event.time) {
      findings.add(1, rank, event.time, got[next].index,
                   "it adds the value from rank {} but has it only {} tick{} later", from.index, has - event.time,
                   has - event.time == 1 ? "" : "s");
    }
    ++next;
  }
}

/// Only a complete value may leave: all additions it stands for are done.
void complete_values(const Case& c, std::size_t id, Findings& findings) {
  const Rank rank = c.ranks().rank(id);
  const std::int64_t operands = c.schedule().operands[static_cast<std::size_t>(rank.index)];
  for (const Event& event : c.sends().of(id)) {
    std::int64_t received = 0;
    std::int64_t done = 0;
    for (const Event& got : c.receptions().of(id)) received += c.available(got.index) <= event.time ? 1 : 0;
    for (const Event& add : c.adds().of(id)) {
      const std::int64_t begun = event.time - add.time;
      if (begun > 0) done = saturating_add(done, std::min(c.schedule().adds[add.index].count, begun));
    }
    const std::int64_t needed = std::max<std::int64_t>(0, operands - 1 + received);
    if (done < needed) {
      findings.add(1, rank, event.time, event.index, "its value is not complete: {} of {} additions are done", done,
                   needed);
    }
  }
}

}  // namespace

void rule1_possession(const Case& c, const Evidence& evidence, Findings& findings) {
  if (!findings.wants(1)) return;
  if (evidence.holdings) possess_items(c, *evidence.holdings, findings);
  if (evidence.folds) possess_folds(c, *evidence.folds, findings);
  if (c.problem().kind != Kind::sum) return;
  for (std::size_t id = 0; id < c.ranks().count(); ++id) {
    added_values(c, id, findings);
    complete_values(c, id, findings);
  }
}

}  // namespace chasqui::verifier
