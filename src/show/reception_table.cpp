// SPDX-License-Identifier: MIT
#include "chasqui/show/reception_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <tuple>

#include "chasqui/schedule/unroll.hpp"
#include "chasqui/show/timeline.hpp"
#include "show/drawable.hpp"

namespace chasqui::show {
namespace {

struct Arrival {
  Rank rank;
  Time time;  ///< when its reception could begin
  bool active;
  Part part;
};

std::vector<Arrival> arrivals_of(const Schedule& schedule) {
  std::set<std::pair<std::int32_t, std::int32_t>> forwarded;  // (rank, item)
  const bool combining = carries_folds(schedule.problem);
  for (const Send& send : schedule.sends) forwarded.emplace(send.from.index, send.part.lo);
  std::vector<Arrival> arrivals;
  for (const Send& send : schedule.sends) {
    if (!drawable(schedule, send)) continue;
    const bool active = !combining && forwarded.contains({send.to.index, send.part.lo});
    arrivals.push_back({send.to, reception_begin(schedule.machine, send), active, send.part});
  }
  std::sort(arrivals.begin(), arrivals.end(), [](const Arrival& a, const Arrival& b) {
    return std::tie(a.rank, a.time, b.active, a.part) < std::tie(b.rank, b.time, a.active, b.part);
  });
  return arrivals;
}

/// Plays the port of one rank: an active item as soon as it is there, waiting ones in the order of arrival.
/// REQUIRES arrivals by time. Time: O(arrivals).
void receive(const LogP& machine, std::span<const Arrival> arrivals, std::vector<Reception>& receptions) {
  std::vector<Arrival> queues[2];  // inactive, active
  for (const Arrival& arrival : arrivals) queues[arrival.active ? 1 : 0].push_back(arrival);
  std::size_t next[2] = {0, 0};
  Time free = arrivals.front().time;
  for (std::size_t taken = 0; taken < arrivals.size(); ++taken) {
    const bool any[2] = {next[0] < queues[0].size(), next[1] < queues[1].size()};
    Time now = free;
    if (!any[1] || (any[0] && queues[0][next[0]].time < queues[1][next[1]].time)) {
      now = std::max(free, queues[0][next[0]].time);
    } else {
      now = std::max(free, queues[1][next[1]].time);
    }
    const std::size_t which = any[1] && queues[1][next[1]].time <= now ? 1 : 0;
    const Arrival& chosen = queues[which][next[which]++];
    receptions.push_back({chosen.rank, now + machine.o, chosen.part, chosen.active, chosen.time < now});
    free = now + machine.gap();
  }
}

}  // namespace

std::string cell_text(const Reception& reception, bool combining) {
  return combining ? fmt::format("+{}", reception.part.len) : fmt::format("{}", reception.part.lo);
}

ReceptionTable reception_table(const Schedule& listed) {
  const Schedule schedule = unroll_first_items(listed);
  ReceptionTable table;
  table.title = title_of(listed);
  table.P = schedule.machine.P;
  table.combining = carries_folds(schedule.problem);
  const std::vector<Arrival> arrivals = arrivals_of(schedule);
  for (auto first = arrivals.begin(); first != arrivals.end();) {
    const auto last = std::find_if(first, arrivals.end(), [&](const Arrival& a) { return a.rank != first->rank; });
    receive(schedule.machine, std::span<const Arrival>(&*first, static_cast<std::size_t>(last - first)),
            table.receptions);
    first = last;
  }
  for (const Reception& reception : table.receptions) table.times.push_back(reception.time);
  std::sort(table.times.begin(), table.times.end());
  table.times.erase(std::unique(table.times.begin(), table.times.end()), table.times.end());
  return table;
}

}  // namespace chasqui::show
