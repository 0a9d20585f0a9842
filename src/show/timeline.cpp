// SPDX-License-Identifier: MIT
#include "chasqui/show/timeline.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "chasqui/schedule/unroll.hpp"
#include "chasqui/show/draw.hpp"
#include "show/drawable.hpp"

namespace chasqui::show {
namespace {

std::string interval(const Part& part, std::int64_t P) {
  if (part.len == 1) return fmt::format("{}", part.lo);
  return fmt::format("{}..{}", part.lo, (std::int64_t{part.lo} + part.len - 1) % P);
}

void add_message(Timeline& timeline, const LogP& machine, const Send& send, Time arrives) {
  const auto index = static_cast<std::int64_t>(timeline.messages.size());
  timeline.messages.push_back({send.from, send.to, send.begin + machine.o, arrives, send.part, send.second});
  timeline.activities.push_back({send.from, Doing::send, send.begin, send.begin + machine.o, index});
  timeline.activities.push_back({send.to, Doing::receive, arrives, arrives + machine.o, index});
}

void add_addition(Timeline& timeline, const Add& add) {
  if (add.rank.index < 0 || add.rank.index >= timeline.P || add.count < 0) return;
  const Time end = std::max(add.begin, std::min(add.begin + Time{add.count}, Time{kMaxTime}));
  timeline.activities.push_back({add.rank, Doing::compute, add.begin, end, -1, add.count});
}

/// Publications and readings at the begins of the plan, or as they were played.
void add_board(Timeline& timeline, const Schedule& schedule, const Trace* played = nullptr) {
  if (schedule.nodes.empty() || schedule.nodes.ranks() != timeline.P) return;
  const auto exists = [&](Rank rank) { return rank.index >= 0 && rank.index < timeline.P; };
  for (std::int64_t node = 0; timeline.P <= kLargestPicture && node < schedule.nodes.count(); ++node)
    timeline.nodes.push_back(schedule.nodes.first_rank(node));
  const auto add = [&](const auto& list, const std::vector<Time>* begins, Doing doing, Time length) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Time begin = begins == nullptr ? list[i].begin : begins->at(i);
      if (exists(list[i].rank) && begin != kNever)
        timeline.activities.push_back({list[i].rank, doing, begin, begin + length, -1});
    }
  };
  add(schedule.publications, played ? &played->publication_begins : nullptr, Doing::publish, schedule.nodes.publish);
  add(schedule.readings, played ? &played->reading_begins : nullptr, Doing::read, schedule.nodes.read);
}

Timeline empty_timeline(const Schedule& schedule) {
  Timeline timeline;
  timeline.title = title_of(schedule);
  timeline.P = schedule.machine.P;
  timeline.combining = !names_items(schedule.problem);
  return timeline;
}

void settle_end(Timeline& timeline, Time least) {
  timeline.end = least;
  for (const Activity& activity : timeline.activities) timeline.end = std::max(timeline.end, activity.end);
  normalise(timeline);
}

}  // namespace

std::string carried(const Message& message, const Timeline& timeline) {
  if (timeline.measured) return fmt::format("{} bytes", message.part.lo);
  if (!timeline.combining) return fmt::format("item {}", message.part.lo);
  if (message.part.len == 0 && message.second.len == 0) return "signal";
  std::string text = interval(message.part, timeline.P);
  if (message.second.len > 0) text.append(",").append(interval(message.second, timeline.P));
  return text;
}

void normalise(Timeline& timeline) {
  std::sort(timeline.activities.begin(), timeline.activities.end(), [](const Activity& a, const Activity& b) {
    return std::tie(a.rank, a.begin, a.doing, a.message) < std::tie(b.rank, b.begin, b.doing, b.message);
  });
}

std::string unit_of(const Timeline& timeline) {
  if (!timeline.measured) return "ticks";
  return timeline.ticks_per_microsecond == 1000 ? "ns" : timeline.ticks_per_microsecond == 1 ? "us" : "ticks";
}

std::string title_of(const Schedule& schedule) {
  const Problem& problem = schedule.problem;
  std::string title{to_string(problem.kind)};
  if (problem.items != 1) title += fmt::format(" of {} items", problem.items);
  if (problem.exclusive) title = "exclusive " + title;
  title += " on " + (schedule.nodes.empty() ? to_string(schedule.machine)
                                            : to_string(Cluster{schedule.machine, schedule.nodes}));
  const bool stream = problem.kind == Kind::stream;
  const Time reached = stream ? schedule.delay : schedule.finish;
  title += fmt::format(", {} {}", stream ? "delay" : "finish", reached.ticks);
  if (reached == schedule.bound) return title + " (optimal)";
  return title + fmt::format(" (bound {})", schedule.bound.ticks);
}

Timeline timeline_of(const Schedule& listed) {
  const Schedule schedule = unroll_first_items(listed);
  Timeline timeline = empty_timeline(listed);
  for (const Send& send : schedule.sends) {
    if (drawable(schedule, send)) {
      add_message(timeline, schedule.machine, send, reception_begin(schedule.machine, send));
    } else {
      ++timeline.left_out;
    }
  }
  for (const Add& add : schedule.adds) add_addition(timeline, add);
  add_board(timeline, schedule);
  settle_end(timeline, schedule.problem.kind == Kind::stream ? Time{0} : schedule.finish);
  return timeline;
}

Timeline timeline_of(const Trace& trace) {
  const Schedule& schedule = trace.schedule;
  Timeline timeline = empty_timeline(schedule);
  timeline.title += trace.finish == kNever ? "; played: stuck" : fmt::format("; played: {}", trace.finish.ticks);
  for (std::size_t i = 0; i < schedule.sends.size() && i < trace.times.size(); ++i) {
    Send send = schedule.sends[i];
    send.begin = trace.times[i].send;
    if (drawable(schedule, send) && send.begin != kNever && trace.times[i].reception != kNever) {
      add_message(timeline, schedule.machine, send, trace.times[i].reception);
    } else {
      ++timeline.left_out;
    }
  }
  for (std::size_t i = 0; i < schedule.adds.size() && i < trace.add_begins.size(); ++i) {
    Add add = schedule.adds[i];
    add.begin = trace.add_begins[i];
    if (add.begin != kNever) add_addition(timeline, add);
  }
  add_board(timeline, schedule, &trace);
  settle_end(timeline, trace.finish == kNever ? Time{0} : trace.finish);
  return timeline;
}

}  // namespace chasqui::show
