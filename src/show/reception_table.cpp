// SPDX-License-Identifier: MIT
#include "chasqui/show/reception_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "chasqui/show/timeline.hpp"
#include "show/unroll.hpp"

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
  const bool combining = combines(schedule.problem.kind);
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
void receive(const LogP& machine, std::vector<Arrival> queue, std::vector<Reception>& receptions) {
  Time free = queue.front().time;
  while (!queue.empty()) {
    const Time now = std::max(free, queue.front().time);
    auto taken = queue.begin();
    for (auto other = queue.begin(); other != queue.end() && other->time <= now; ++other) {
      if (other->active) {
        taken = other;
        break;
      }
    }
    receptions.push_back({taken->rank, now + machine.o, taken->part, taken->active, taken->time < now});
    free = now + machine.gap();
    queue.erase(taken);
  }
}

}  // namespace

std::string cell_text(const Reception& reception, bool combining) {
  return combining ? fmt::format("+{}", reception.part.len) : fmt::format("{}", reception.part.lo);
}

ReceptionTable reception_table(const Schedule& listed) {
  const Schedule schedule = unrolled(listed);
  ReceptionTable table;
  table.title = title_of(listed);
  table.P = schedule.machine.P;
  table.combining = combines(schedule.problem.kind);
  const std::vector<Arrival> arrivals = arrivals_of(schedule);
  for (auto first = arrivals.begin(); first != arrivals.end();) {
    const auto last = std::find_if(first, arrivals.end(), [&](const Arrival& a) { return a.rank != first->rank; });
    receive(schedule.machine, {first, last}, table.receptions);
    first = last;
  }
  for (const Reception& reception : table.receptions) table.times.push_back(reception.time);
  std::sort(table.times.begin(), table.times.end());
  table.times.erase(std::unique(table.times.begin(), table.times.end()), table.times.end());
  return table;
}

}  // namespace chasqui::show
