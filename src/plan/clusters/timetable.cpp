// SPDX-License-Identifier: MIT
#include "plan/clusters/timetable.hpp"

#include <algorithm>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"

namespace chasqui::plan {

Timetable::Timetable(const Cluster& cluster, const Problem& problem, std::int64_t events)
    : schedule_{cluster.base, problem, {}, {}, {}, {}, {}, {}, {}, cluster.nodes}, where_(cluster.nodes) {
  require_listable(cluster, problem, events);
  const auto P = static_cast<std::size_t>(cluster.base.P);
  processors_.resize(P);
  adapters_.resize(static_cast<std::size_t>(cluster.nodes.count()));
  node_of_.reserve(P);
  std::int64_t node = 0;
  for (const Nodes::Run& run : cluster.nodes.runs) {
    for (std::int64_t i = 0; i < run.count; ++i, ++node)
      node_of_.insert(node_of_.end(), static_cast<std::size_t>(run.size), node);
  }
}

void Timetable::Blocked::add(std::int64_t from, std::int64_t to) {
  if (from >= to) return;
  const auto next = stretches_.begin() + static_cast<std::ptrdiff_t>(begun_by(from));
  const bool touches = next != stretches_.begin() && std::prev(next)->end >= from;
  auto grown = touches ? std::prev(next) : next;
  if (!touches && (next == stretches_.end() || next->begin > to)) {
    stretches_.insert(next, {from, to});
    return;
  }
  grown->begin = std::min(grown->begin, from);
  grown->end = std::max(grown->end, to);
  auto last = std::next(grown);
  while (last != stretches_.end() && last->begin <= grown->end) {
    grown->end = std::max(grown->end, last->end);
    ++last;
  }
  stretches_.erase(std::next(grown), last);
}

std::int64_t Timetable::Blocked::first_free(std::int64_t earliest) const {
  const std::size_t begun = begun_by(earliest);
  return begun == 0 ? earliest : std::max(earliest, stretches_[begun - 1].end);
}

std::size_t Timetable::Blocked::begun_by(std::int64_t time) const {
  if (stretches_.empty() || stretches_.back().begin <= time) return stretches_.size();  // most ask for the end
  const auto next = std::upper_bound(stretches_.begin(), stretches_.end(), time,
                                     [](std::int64_t at, const Stretch& stretch) { return at < stretch.begin; });
  return static_cast<std::size_t>(next - stretches_.begin());
}

void Timetable::book(Rank rank, Time begin, Time length) {
  if (length == Time{0}) return;
  Processor& busy = processor(rank);
  const std::int64_t from = begin.ticks, to = (begin + length).ticks, o = schedule_.machine.o.ticks;
  const auto block = [&](Blocked& kind, std::int64_t ticks) {
    if (ticks > 0) kind.add(from - ticks + 1, to);  // what takes no time fits anywhere (rule 4)
  };
  block(busy.sends, o);
  block(busy.receptions, o);
  block(busy.publications, nodes().publish.ticks);
  block(busy.readings, nodes().read.ticks);
}

Time Timetable::end_of_send(Rank from, Rank to, Time earliest) const {
  const std::int64_t flight = (schedule_.machine.o + schedule_.machine.L).ticks;
  for (std::int64_t t = earliest.ticks;;) {
    const std::int64_t before = t;
    t = adapter(from).sends.first_free(processor(from).sends.first_free(t));
    t = adapter(to).receptions.first_free(processor(to).receptions.first_free(t + flight)) - flight;
    if (t == before) return Time{t} + schedule_.machine.lambda();
  }
}

Time Timetable::send(Rank from, Rank to, const Part& part, Time earliest, const Part& second) {
  const LogP& m = schedule_.machine;
  const Time end = end_of_send(from, to, earliest);
  const Time begin = end - m.lambda(), there = end - m.o;
  const auto keep_apart = [](Blocked& kind, Time at, Time gap) { kind.add((at - gap).ticks + 1, (at + gap).ticks); };
  keep_apart(processor(from).sends, begin, m.gap());
  keep_apart(processor(to).receptions, there, m.gap());
  keep_apart(adapter(from).sends, begin, nodes().gamma);
  keep_apart(adapter(to).receptions, there, nodes().gamma);
  book(from, begin, m.o);
  book(to, there, m.o);
  schedule_.sends.push_back({begin, from, to, part, second});
  return end;
}

Time Timetable::publish(Rank rank, const Part& part, Time earliest, const Part& second) {
  const Time end = end_of_publication(rank, earliest);
  book(rank, end - nodes().publish, nodes().publish);
  schedule_.publications.push_back({end - nodes().publish, rank, part, second});
  return end;
}

Time Timetable::read(Rank rank, Rank from, const Part& part, Time earliest, const Part& second) {
  const Time end = end_of_reading(rank, earliest);
  book(rank, end - nodes().read, nodes().read);
  schedule_.readings.push_back({end - nodes().read, rank, from, part, second});
  return end;
}

Schedule Timetable::schedule(Time bound) && {
  normalise(schedule_);
  schedule_.finish = actual_finish(schedule_);
  schedule_.bound = bound;
  return std::move(schedule_);
}

}  // namespace chasqui::plan
