// SPDX-License-Identifier: MIT
// Rule 4: a processor does one thing at a time. Send overheads, receive overheads, additions, publications and
// readings never overlap.
#include <algorithm>

#include "verify/rules.hpp"

namespace chasqui::verifier {
namespace {

enum class Doing { sends, receives, adds, publishes, reads };

struct Activity {
  std::int64_t begin = 0, end = 0;
  std::uint32_t index = 0;
  Doing doing = Doing::sends;
};

std::string describe(const Case& c, const Activity& a) {
  switch (a.doing) {
    case Doing::sends: return fmt::format("sending to rank {}", c.message(a.index).to.index);
    case Doing::receives: return fmt::format("receiving from rank {}", c.message(a.index).from.index);
    case Doing::adds: return "adding";
    case Doing::publishes: return "publishing";
    case Doing::reads: return fmt::format("reading from rank {}", c.schedule().readings[a.index].from.index);
  }
  return "";
}

void report(const Case& c, Rank rank, const Activity& busy, const Activity& next, std::int64_t shift,
            Findings& findings) {
  const bool of_message = next.doing == Doing::sends || next.doing == Doing::receives;
  const std::int64_t message = of_message ? std::int64_t{next.index} : kNoMessage;
  findings.add(4, rank, next.begin, message, "{} during [{}, {}) overlaps {} during [{}, {})", describe(c, next),
               next.begin + shift, next.end + shift, describe(c, busy), busy.begin, busy.end);
}

}  // namespace

void rule4_one_thing(const Case& c, Findings& findings) {
  if (!findings.wants(4)) return;
  const std::int64_t o = c.machine().o.ticks;
  std::vector<Activity> day;
  for (std::size_t id = 0; id < c.ranks().count(); ++id) {
    day.clear();
    if (o > 0) {
      for (const Event& e : c.sends().of(id)) day.push_back({e.time, e.time + o, e.index, Doing::sends});
      for (const Event& e : c.receptions().of(id)) day.push_back({e.time, e.time + o, e.index, Doing::receives});
    }
    for (const Event& e : c.adds().of(id)) {
      day.push_back({e.time, e.time + c.schedule().adds[e.index].count, e.index, Doing::adds});
    }
    const std::int64_t publish = c.nodes().publish.ticks, read = c.nodes().read.ticks;
    for (const Event& e : c.publications().of(id)) {
      if (publish > 0) day.push_back({e.time, e.time + publish, e.index, Doing::publishes});
    }
    for (const Event& e : c.readings().of(id)) {
      if (read > 0) day.push_back({e.time, e.time + read, e.index, Doing::reads});
    }
    if (day.empty()) continue;
    std::stable_sort(day.begin(), day.end(), [](const Activity& a, const Activity& b) { return a.begin < b.begin; });
    const Rank rank = c.ranks().rank(id);
    const Activity* busy = &day.front();  // of those begun, the one that ends last
    for (std::size_t i = 1; i < day.size(); ++i) {
      if (day[i].begin < busy->end) report(c, rank, *busy, day[i], 0, findings);
      if (day[i].end > busy->end) busy = &day[i];
    }
    if (c.period() == 0) continue;
    for (const Activity& next : day) {  // the next period
      if (next.begin + c.period() >= busy->end) break;
      report(c, rank, *busy, next, c.period(), findings);
    }
  }
}

}  // namespace chasqui::verifier
