// SPDX-License-Identifier: MIT
#include "chasqui/show/summary.hpp"

#include <algorithm>
#include <unordered_map>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/show/timeline.hpp"

namespace chasqui::show {

Summary summarise(const Schedule& schedule, int buckets) {
  Summary summary;
  summary.title = title_of(schedule);
  summary.P = schedule.machine.P;
  summary.messages = static_cast<std::int64_t>(schedule.sends.size());
  for (const Add& add : schedule.adds) {
    summary.additions = saturating_add(summary.additions, std::max<std::int64_t>(0, add.count));
  }
  if (schedule.sends.empty()) return summary;

  std::unordered_map<std::int32_t, std::int64_t> sent;
  std::unordered_map<std::int32_t, std::int64_t> received;
  Time first = available(schedule.machine, schedule.sends.front());
  Time last = first;
  for (const Send& send : schedule.sends) {
    summary.most_sent = std::max(summary.most_sent, ++sent[send.from.index]);
    summary.most_received = std::max(summary.most_received, ++received[send.to.index]);
    first = std::min(first, available(schedule.machine, send));
    last = std::max(last, available(schedule.machine, send));
  }
  const std::int64_t span = last.ticks - first.ticks + 1;
  const std::int64_t width = std::max<std::int64_t>(1, (span + buckets - 1) / buckets);
  for (Time from = first; from <= last; from += Time{width}) {
    summary.histogram.push_back({from, std::min(from + Time{width}, last + Time{1})});
  }
  for (const Send& send : schedule.sends) {
    const std::int64_t offset = available(schedule.machine, send).ticks - first.ticks;
    ++summary.histogram[static_cast<std::size_t>(offset / width)].receptions;
  }
  return summary;
}

}  // namespace chasqui::show
