// SPDX-License-Identifier: MIT
#include "plan/clusters/timetable.hpp"

#include <algorithm>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kMostEvents = 2'000'000;
constexpr std::int64_t kMostOwnEvents = 10'000'000;

/// The first time from `t` on that is `gap` away from all begins.
std::int64_t apart(const std::vector<std::int64_t>& begins, std::int64_t t, std::int64_t gap) {
  if (gap == 0 || begins.empty() || begins.back() + gap <= t) return t;
  auto next = std::upper_bound(begins.begin(), begins.end(), t - gap);
  for (; next != begins.end() && *next < t + gap; ++next) t = *next + gap;
  return t;
}

void insert(std::vector<std::int64_t>& begins, std::int64_t t) {
  begins.insert(std::upper_bound(begins.begin(), begins.end(), t), t);
}

}  // namespace

bool listable(std::int64_t events) { return events <= kMostEvents; }

void require_listable(const Cluster& cluster, const Problem& problem, std::int64_t events) {
  if (listable(events)) return;
  throw Error("{} on {} has {} messages, publications and readings, too many to list (at most {}): ask for less",
              to_string(problem.kind), to_string(cluster), events, kMostEvents);
}

void require_own_list(Rank rank, std::int64_t events, std::string_view remedy) {
  if (events <= kMostOwnEvents) return;
  throw Error("rank {} alone has {} messages, publications and readings (at most {}): {}", rank.index,
              events == kSaturated ? "2^63 or more" : std::to_string(events), kMostOwnEvents, remedy);
}

Timetable::Timetable(const Cluster& cluster, const Problem& problem, std::int64_t events)
    : schedule_{cluster.base, problem, {}, {}, {}, {}, {}, {}, {}, cluster.nodes} {
  require_listable(cluster, problem, events);
  const auto P = static_cast<std::size_t>(cluster.base.P);
  processors_.resize(P);
  adapters_.resize(static_cast<std::size_t>(cluster.nodes.count()));
  node_of_.reserve(P);
  for (std::int64_t node = 0; node < cluster.nodes.count(); ++node)
    node_of_.insert(node_of_.end(), static_cast<std::size_t>(cluster.nodes.size(node)), node);
}

Time Timetable::fit(Rank rank, Time earliest, Time length) const {
  if (length == Time{0}) return earliest;  // what takes no time fits anywhere (rule 4)
  const std::vector<Span>& busy = processor(rank).busy;
  std::int64_t t = earliest.ticks;
  auto next = std::upper_bound(busy.begin(), busy.end(), t, [](std::int64_t at, const Span& s) { return at < s.end; });
  for (; next != busy.end() && next->begin < t + length.ticks; ++next) t = next->end;
  return Time{t};
}

void Timetable::book(Rank rank, Time begin, Time length) {
  if (length == Time{0}) return;
  std::vector<Span>& busy = processor(rank).busy;  // neighbours become one: a full day is stepped over at once
  const Span span{begin.ticks, (begin + length).ticks};
  auto next = std::upper_bound(busy.begin(), busy.end(), span.begin,
                               [](std::int64_t at, const Span& s) { return at < s.begin; });
  const bool joins_next = next != busy.end() && next->begin == span.end;
  if (next != busy.begin() && std::prev(next)->end == span.begin) {
    std::prev(next)->end = joins_next ? next->end : span.end;
    if (joins_next) busy.erase(next);
  } else if (joins_next) {
    next->begin = span.begin;
  } else {
    busy.insert(next, span);
  }
}

Time Timetable::end_of_send(Rank from, Rank to, Time earliest) const {
  const LogP& m = schedule_.machine;
  const std::int64_t G = m.gap().ticks, gamma = nodes().gamma.ticks, flight = (m.o + m.L).ticks;
  for (std::int64_t t = earliest.ticks;;) {
    const std::int64_t before = t;
    t = apart(processor(from).sends, t, G);
    t = apart(adapter(from).sends, t, gamma);
    t = fit(from, Time{t}, m.o).ticks;
    std::int64_t there = apart(processor(to).receptions, t + flight, G);
    there = apart(adapter(to).receptions, there, gamma);
    t = fit(to, Time{there}, m.o).ticks - flight;
    if (t == before) return Time{t} + m.lambda();
  }
}

Time Timetable::send(Rank from, Rank to, const Part& part, Time earliest) {
  const LogP& m = schedule_.machine;
  const Time end = end_of_send(from, to, earliest);
  const Time begin = end - m.lambda(), there = end - m.o;
  insert(processor(from).sends, begin.ticks);
  insert(processor(to).receptions, there.ticks);
  if (nodes().gamma > Time{0}) {
    insert(adapter(from).sends, begin.ticks);
    insert(adapter(to).receptions, there.ticks);
  }
  book(from, begin, m.o);
  book(to, there, m.o);
  schedule_.sends.push_back({begin, from, to, part});
  return end;
}

Time Timetable::publish(Rank rank, const Part& part, Time earliest) {
  const Time end = end_of_publication(rank, earliest);
  book(rank, end - nodes().publish, nodes().publish);
  schedule_.publications.push_back({end - nodes().publish, rank, part});
  return end;
}

Time Timetable::read(Rank rank, Rank from, const Part& part, Time earliest) {
  const Time end = end_of_reading(rank, earliest);
  book(rank, end - nodes().read, nodes().read);
  schedule_.readings.push_back({end - nodes().read, rank, from, part});
  return end;
}

Schedule Timetable::schedule(Time bound) && {
  normalise(schedule_);
  schedule_.finish = actual_finish(schedule_);
  schedule_.bound = bound;
  return std::move(schedule_);
}

}  // namespace chasqui::plan
