// SPDX-License-Identifier: MIT
// The worst case, by the search that fits. One item alone is never late (adversary.md, Theorem 3).
#include "chasqui/solve/worst_case.hpp"

#include <algorithm>
#include <random>
#include <unordered_map>

#include "chasqui/base/error.hpp"
#include "solve/adversary/lateness.hpp"
#include "solve/sat.hpp"

namespace chasqui::solve {

std::vector<Time> due_times(const Schedule& schedule, Lateness lateness) {
  const std::size_t messages = schedule.sends.size();
  std::vector<Time> due(messages + schedule.readings.size(), actual_finish(schedule));
  if (lateness == Lateness::finish || combines(schedule.problem.kind)) return due;
  std::unordered_map<std::int32_t, Time> complete;
  const auto has = [&](const Part& part, Time end) { complete[part.lo] = std::max(complete[part.lo], end); };
  for (const Send& send : schedule.sends) has(send.part, available(schedule.machine, send));
  for (const Reading& r : schedule.readings) has(r.part, r.begin + schedule.nodes.read);
  for (std::size_t m = 0; m < due.size(); ++m)
    due[m] = complete[m < messages ? schedule.sends[m].part.lo : schedule.readings[m - messages].part.lo];
  return due;
}

Time lateness_of(const Trace& trace, const std::vector<Time>& due) {
  Time late{0};
  const std::size_t messages = trace.times.size();
  for (std::size_t m = 0; m < messages; ++m) {
    late = std::max(late, trace.times[m].reception + trace.schedule.machine.o - due[m]);
  }
  for (std::size_t a = 0; a < trace.add_begins.size(); ++a) {
    late = std::max(late, trace.add_begins[a] + Time{trace.schedule.adds[a].count} - actual_finish(trace.schedule));
  }
  for (std::size_t r = 0; r < trace.reading_begins.size(); ++r)
    late = std::max(late, trace.reading_begins[r] + trace.schedule.nodes.read - due[messages + r]);
  return late;
}

Trace replay(const Schedule& schedule, const WorstCase& witness) {
  return simulate::simulate(schedule, simulate::table(schedule.machine, witness.latencies),
                            {.ties = simulate::Ties::given, .order = witness.order, .stragglers = {}});
}

WorstCase worst_case_heuristic(const Schedule& schedule, const AdversaryOptions& options) {
  const LogP& machine = schedule.machine;
  std::mt19937_64 random(options.seed);
  WorstCase best;
  best.nominal = actual_finish(schedule);
  const Trace plain = simulate::simulate(schedule, simulate::exactly_L(machine),
                                         {.order = {}, .stragglers = {}, .critical_path = false});
  const std::size_t messages = plain.schedule.sends.size();
  const std::vector<Time> due = due_times(plain.schedule, options.lateness);
  best.latencies.assign(messages, machine.L);
  best.order.resize(messages);
  for (std::size_t m = 0; m < messages; ++m) best.order[m] = static_cast<std::uint32_t>(m);
  best.late = lateness_of(plain, due);
  best.how = "the worst of 1 play";
  if (messages == 0 || options.low >= machine.L) return best;

  // Hill climbing that also walks along plateaus, with restarts. A move shortens or lengthens a few messages that go to
  // one rank, on a cluster to one node: making them meet at its port is what does harm.
  std::vector<std::vector<std::uint32_t>> to(static_cast<std::size_t>(machine.P));
  for (std::uint32_t m = 0; m < messages; ++m) {
    const Rank rank = plain.schedule.sends[m].to;
    to[static_cast<std::size_t>(schedule.nodes.empty() ? rank.index : schedule.nodes.node_of(rank))].push_back(m);
  }
  std::erase_if(to, [](const auto& list) { return list.size() < 2; });
  if (to.empty()) {
    // Of one item nobody has anything to do before its message comes, and none stands in the way of another.
    best.exact = !schedule.nodes.empty() && schedule.problem.kind == Kind::broadcast && schedule.problem.items == 1;
    if (best.exact) best.how = "no two messages meet";
    return best;
  }
  const auto latency_between = [&] {
    const auto span = static_cast<std::uint64_t>((machine.L - options.low).ticks) + 1;
    return options.low + Time{static_cast<std::int64_t>(random() % span)};
  };
  WorstCase at = best;
  best.explored = options.plays;
  std::uint64_t since_better = 0;
  for (std::uint64_t play = 0; play < options.plays; ++play) {
    if (options.progress && play % 64 == 0) {
      options.progress(static_cast<double>(play) / static_cast<double>(options.plays));
    }
    WorstCase next = at;
    if (since_better > 500) {  // start again somewhere else
      for (Time& latency : next.latencies) latency = random() % 2 == 0 ? machine.L : latency_between();
      std::shuffle(next.order.begin(), next.order.end(), random);
      since_better = 0;
      at.late = Time{-1};
    } else {
      const auto& list = to[random() % to.size()];
      const std::size_t first = random() % list.size();
      const std::size_t count = 1 + random() % std::min<std::size_t>(list.size() - first, 4);
      const Time meet = plain.times[list[first]].reception;
      for (std::size_t i = first; i < first + count; ++i) {
        const Time wished = meet - plain.schedule.sends[list[i]].begin - machine.o;  // arrive with the first one
        next.latencies[list[i]] = random() % 3 == 0 ? latency_between() : std::clamp(wished, options.low, machine.L);
      }
      std::swap(next.order[list[first]], next.order[list[random() % list.size()]]);
    }
    const Trace trace = simulate::simulate(
        schedule, simulate::table(machine, next.latencies),
        {.ties = simulate::Ties::given, .order = next.order, .stragglers = {}, .critical_path = false});
    next.late = lateness_of(trace, due);
    ++since_better;
    if (next.late < at.late) continue;
    if (next.late > at.late) since_better = 0;
    at = std::move(next);
    if (at.late > best.late) {
      best = at;
      best.explored = options.plays;
    }
    if (best.late >= options.enough) {
      best.explored = play + 1;
      break;
    }
  }
  best.how = fmt::format("the worst of {} plays", best.explored);
  return best;
}

namespace {

constexpr std::uint64_t kQuickStates = 500;        // beyond that SAT is faster
constexpr std::uint64_t kQuickPlays = 300;         // a start for SAT
constexpr std::uint64_t kLargestFormula = 40'000;  // messages times ticks

}  // namespace

WorstCase worst_case(const Schedule& schedule, const AdversaryOptions& options) {
  const Time least{schedule.machine.o == Time{0} ? 1 : 0};
  if (options.low < least || options.low > schedule.machine.L) {
    throw Error("least latency {} is out of range: it must be {}..{}", options.low.ticks, least.ticks,
                schedule.machine.L.ticks);
  }
  const std::size_t messages = schedule.sends.size();
  if (!schedule.adds.empty() || !schedule.nodes.empty() || messages > 400)
    return worst_case_heuristic(schedule, options);
  const bool free = schedule.machine.o == Time{0};
  AdversaryOptions quick = options;
  if (sat_available()) quick.states = std::min(options.states, kQuickStates);
  if (free && schedule.machine.L <= Time{64}) {
    WorstCase exact = worst_case_exact(schedule, quick);
    if (exact.exact) return exact;
  }
  Time earliest{0};  // an illegal schedule may begin before the start
  for (const Send& send : schedule.sends) earliest = std::min(earliest, send.begin);
  const std::uint64_t span =
      static_cast<std::uint64_t>(actual_finish(schedule).ticks) - static_cast<std::uint64_t>(earliest.ticks);
  const bool fits = span <= kLargestFormula / std::max<std::size_t>(messages, 1);
  if (!sat_available() || !fits || options.conflicts == 0) return worst_case_heuristic(schedule, options);
  quick.plays = std::min(options.plays, kQuickPlays);
  WorstCase climbed = worst_case_heuristic(schedule, quick);
  WorstCase exact = worst_case_sat(schedule, options, climbed);
  if (exact.exact) return exact;
  climbed = worst_case_heuristic(schedule, options);
  return climbed.late > exact.late ? climbed : exact;
}

}  // namespace chasqui::solve
