// SPDX-License-Identifier: MIT
// Rule 6: nobody sends to itself; ranks, items and times exist; nothing is received twice, no contribution
// counted twice.
#include <algorithm>

#include "chasqui/base/arithmetic.hpp"
#include "verify/rules.hpp"

namespace chasqui::verifier {
namespace {

bool exists(Rank rank, const LogP& machine) { return rank.index >= 0 && rank.index < machine.P; }
bool exists(Time time) { return time.ticks >= -kMaxTime && time.ticks <= kMaxTime; }

/// What is wrong with machine, problem and the like; "" if they can be judged.
std::string flaw(const Schedule& s) {
  try {
    validate(s.machine);
    validate(s.nodes, s.machine);
    validate(s.problem, s.machine);
  } catch (const Error& error) {
    return error.what();
  }
  if (to_string(s.problem.kind) == "unknown") return "the problem is of no known kind";
  if (!s.nodes.empty()) {
    const Kind kind = s.problem.kind;
    if (kind == Kind::sum || kind == Kind::stream)
      return fmt::format("a {} is not defined on a cluster", to_string(kind));
  }
  if (s.problem.kind == Kind::sum) {
    if (static_cast<std::int64_t>(s.operands.size()) != s.machine.P) {
      return fmt::format("{} operand counts for {} ranks", s.operands.size(), s.machine.P);
    }
    for (std::size_t r = 0; r < s.operands.size(); ++r) {
      if (s.operands[r] < 0 || s.operands[r] > kMaxTime)
        return fmt::format("rank {} holds {} operands", r, s.operands[r]);
    }
  }
  if (s.problem.kind == Kind::stream) {
    const std::int64_t step = s.machine.gap().ticks;
    if (s.period.ticks < 1 || s.period.ticks > kMaxTime || s.period.ticks % step != 0) {
      return fmt::format("the period {} is no positive multiple of the step {}", s.period.ticks, step);
    }
  }
  return "";
}

/// One part of a message of a combining kind.
std::string flaw(const Schedule& s, const Part& part) {
  if (part.lo < 0 || part.lo >= s.machine.P) return fmt::format("contribution {} does not exist", part.lo);
  if (part.len < 1) return "it carries nothing";
  if (part.len > s.machine.P) return fmt::format("{} contributions are more than there are", part.len);
  const bool wraps = std::int64_t{part.lo} + part.len > s.machine.P;
  if (wraps && !s.problem.commutative && s.problem.kind != Kind::barrier) {
    return fmt::format("{} contributions from {} on wrap around the end, which is out of order; send two parts",
                       part.len, part.lo);
  }
  return "";
}

std::string item_flaw(const Schedule& s, Time begin, const Part& part, const Part& second) {
  if (part.len != 1 || second.len != 0) return "it does not carry exactly one item";
  if (s.problem.kind == Kind::stream) {
    std::int64_t born = 0;
    std::int64_t age = 0;
    const bool overflow = __builtin_mul_overflow(std::int64_t{part.lo}, s.machine.gap().ticks, &born) ||
                          __builtin_sub_overflow(begin.ticks, born, &age);
    return overflow || !exists(Time{age}) ? fmt::format("the time of item {} is out of range", part.lo) : "";
  }
  if (s.problem.kind == Kind::alltoall) {
    const std::int64_t most = saturating_multiply(s.problem.items, saturating_multiply(s.machine.P, s.machine.P));
    const std::int64_t item = Send{begin, {}, {}, part, second}.item_number();
    const bool exists = part.lo >= 0 && second.lo >= 0 && item < most;
    return exists ? "" : fmt::format("item {} does not exist", item);
  }
  std::int64_t items = s.problem.items;
  const bool in_all =
      s.problem.kind == Kind::broadcast || s.problem.kind == Kind::reduce || s.problem.kind == Kind::allreduce;
  if (!in_all && __builtin_mul_overflow(items, s.machine.P, &items)) items = kMaxTime;
  return part.lo < 0 || part.lo >= items ? fmt::format("item {} does not exist", part.lo) : "";
}

bool overlap(const Part& a, const Part& b, std::int64_t P) {
  return modulo(std::int64_t{b.lo} - a.lo, P) < a.len || modulo(std::int64_t{a.lo} - b.lo, P) < b.len;
}

/// What a message, a publication or a reading carries.
std::string cargo_flaw(const Schedule& s, Time begin, const Part& part, const Part& second) {
  if (names_items(s.problem)) return item_flaw(s, begin, part, second);
  std::string text = flaw(s, part);
  if (text.empty() && second.len != 0) text = flaw(s, second);
  if (text.empty() && second.len != 0 && s.problem.kind != Kind::barrier && overlap(part, second, s.machine.P)) {
    text = "its two parts have a contribution in common";
  }
  return text;
}

std::string flaw(const Schedule& s, const Publication& p) {
  if (s.nodes.empty()) return "only a cluster has a board";
  if (!exists(p.rank, s.machine)) return fmt::format("rank {} does not exist", p.rank.index);
  if (!exists(p.begin)) return "its time is out of range";
  return cargo_flaw(s, p.begin, p.part, p.second);
}

std::string flaw(const Schedule& s, const Reading& r) {
  if (s.nodes.empty()) return "only a cluster has a board";
  if (!exists(r.rank, s.machine)) return fmt::format("rank {} does not exist", r.rank.index);
  if (!exists(r.from, s.machine)) return fmt::format("it reads from rank {}, which does not exist", r.from.index);
  if (!exists(r.begin)) return "its time is out of range";
  return cargo_flaw(s, r.begin, r.part, r.second);
}

std::string flaw(const Schedule& s, const Send& send) {
  if (!exists(send.from, s.machine)) return fmt::format("its sender, rank {}, does not exist", send.from.index);
  if (!exists(send.to, s.machine)) return fmt::format("its receiver, rank {}, does not exist", send.to.index);
  if (send.from == send.to) return "it goes from a rank to itself";
  if (!exists(send.begin)) return "its time is out of range";
  return cargo_flaw(s, send.begin, send.part, send.second);
}

std::string flaw(const Schedule& s, const Add& add) {
  if (s.problem.kind != Kind::sum) return "only a sum has additions";
  if (!exists(add.rank, s.machine)) return fmt::format("rank {} does not exist", add.rank.index);
  if (!exists(add.from, s.machine))
    return fmt::format("it adds a value from rank {}, which does not exist", add.from.index);
  if (!exists(add.begin)) return "its time is out of range";
  if (add.count < 1 || add.count > kMaxTime) return fmt::format("{} additions are not possible", add.count);
  if (add.from != add.rank && add.count != 1) return fmt::format("a received value is added {} times", add.count);
  return "";
}

void items_once(const Case& c, const Holdings& holdings, Findings& findings) {
  for (std::size_t id = 0; id < c.ranks().count(); ++id) {
    const auto held = holdings.of(id);
    if (held.empty()) continue;
    const Rank rank = c.ranks().rank(id);
    const auto [first, end] = c.owned(rank);
    for (std::size_t i = 0; i < held.size(); ++i) {
      const bool own = held[i].item >= first && held[i].item < end;
      if (!own && (i == 0 || held[i - 1].item != held[i].item)) continue;
      if (held[i].was_read()) {
        findings.add(6, rank, held[i].available, kNoMessage, "it reads item {} from rank {} but has it already",
                     held[i].item, c.schedule().readings[held[i].reading()].from.index);
        continue;
      }
      const Send& send = c.message(static_cast<std::uint32_t>(held[i].message));
      findings.add(6, rank, held[i].available, held[i].message, "it gets {} from rank {} but has it already",
                   cargo(c, send), send.from.index);
    }
  }
}

void folds_once(const Case& c, const Folds& folds, Findings& findings) {
  for (std::size_t id = 0; id < c.ranks().count(); ++id) {
    for (const Event& event : c.sends().of(id)) {
      const Send& send = c.message(event.index);
      if (folds.message[event.index] == Cover::overlapping) {
        findings.add(6, send.from, event.time, event.index,
                     "it sends {} to rank {} but can make that only by counting a contribution twice", cargo(c, send),
                     send.to.index);
      } else if (folds.message[event.index] == Cover::empty) {
        findings.add(6, send.from, event.time, event.index, "it sends {} to rank {}, where nobody has an operand",
                     cargo(c, send), send.to.index);
      }
    }
    for (const Event& event : c.publications().of(id)) {
      const Publication& p = c.schedule().publications[event.index];
      if (folds.publication[event.index] != Cover::overlapping) continue;
      findings.add(6, p.rank, event.time, kNoMessage,
                   "it publishes {} but can make that only by counting a contribution twice",
                   cargo(c, p.part, p.second));
    }
    if (folds.result[id] == Cover::overlapping) {
      findings.add(6, c.ranks().rank(id), c.finish(), kNoMessage,
                   "it can make its result only by counting a contribution twice");
    }
  }
}

/// In a sum no operand and no received value is added twice.
void added_once(const Case& c, Findings& findings) {
  for (std::size_t id = 0; id < c.ranks().count(); ++id) {
    const Rank rank = c.ranks().rank(id);
    const std::int64_t operands = c.schedule().operands[static_cast<std::size_t>(rank.index)];
    std::int64_t own = 0;
    std::int64_t received = 0;
    std::int64_t last = 0;
    for (const Event& event : c.adds().of(id)) {
      const Add& add = c.schedule().adds[event.index];
      (add.from == rank ? own : received) = std::min(kMaxTime, (add.from == rank ? own : received) + add.count);
      last = std::max(last, event.time);
    }
    const std::int64_t possible = std::max<std::int64_t>(0, operands - 1);
    if (own > possible) {
      findings.add(6, rank, last, kNoMessage, "{} additions of its own {} operand{} count one twice", own, operands,
                   operands == 1 ? "" : "s");
    }
    const auto values = static_cast<std::int64_t>(c.receptions().of(id).size());
    if (received > values) {
      findings.add(6, rank, last, kNoMessage, "it adds {} received values but receives {}", received, values);
    }
  }
}

}  // namespace

WellFormed rule6_well_formed(const Schedule& schedule, Findings& findings) {
  WellFormed result;
  if (const std::string text = flaw(schedule); !text.empty()) {
    findings.add(6, kNoRank, 0, kNoMessage, "{}", text);
    result.judgeable = false;
    return result;
  }
  result.sends.reserve(schedule.sends.size());
  for (std::uint32_t i = 0; i < schedule.sends.size(); ++i) {
    const Send& send = schedule.sends[i];
    const std::string text = flaw(schedule, send);
    if (text.empty()) {
      result.sends.push_back(i);
    } else {
      findings.add(6, send.from, send.begin.ticks, i, "{}", text);
    }
  }
  const auto look = [&](const auto& list, const char* name, std::vector<std::uint32_t>& usable) {
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      const std::string text = flaw(schedule, list[i]);
      if (text.empty()) {
        usable.push_back(i);
      } else {
        findings.add(6, list[i].rank, list[i].begin.ticks, kNoMessage, "{}[{}]: {}", name, i, text);
      }
    }
  };
  look(schedule.adds, "adds", result.adds);
  look(schedule.publications, "publications", result.publications);
  look(schedule.readings, "readings", result.readings);
  return result;
}

void rule6_counted_once(const Case& c, const Evidence& evidence, Findings& findings) {
  if (!findings.wants(6)) return;
  if (evidence.holdings) items_once(c, *evidence.holdings, findings);
  if (evidence.folds) folds_once(c, *evidence.folds, findings);
  if (c.problem().kind == Kind::sum) added_once(c, findings);
}

}  // namespace chasqui::verifier
