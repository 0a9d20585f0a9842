// SPDX-License-Identifier: MIT
#include "chasqui/schedule/metrics.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"

namespace chasqui {
namespace {

/// Depth of every rank: sends in order of time, and before each send the arrivals up to then. Arrivals come
/// in the order of the sends, since all messages take equally long.
void count_depths(const LogP& machine, const std::vector<Send>& sends, std::vector<RankMetrics>& ranks) {
  std::vector<std::int64_t> depth_of_message(sends.size());
  const auto deliver = [&](std::size_t i) {
    RankMetrics& to = ranks[static_cast<std::size_t>(sends[i].to.index)];
    to.depth = std::max(to.depth, depth_of_message[i]);
  };
  std::size_t arrived = 0;
  for (std::size_t i = 0; i < sends.size(); ++i) {
    while (arrived < i && available(machine, sends[arrived]) <= sends[i].begin) deliver(arrived++);
    depth_of_message[i] = ranks[static_cast<std::size_t>(sends[i].from.index)].depth + 1;
  }
  while (arrived < sends.size()) deliver(arrived++);
}

}  // namespace

Time actual_finish(const Schedule& schedule) {
  Time last{0};
  for (const Send& send : schedule.sends) last = std::max(last, available(schedule.machine, send));
  for (const Add& add : schedule.adds) last = std::max(last, add.begin + Time{add.count});
  return last;
}

double Metrics::utilisation() const {
  if (finish <= Time{0} || ranks.empty()) return 0;
  return static_cast<double>(busy.ticks) / (static_cast<double>(finish.ticks) * static_cast<double>(ranks.size()));
}

Metrics measure(const Schedule& schedule) {
  const auto earlier = [](const Send& a, const Send& b) { return a.begin < b.begin; };
  if (!std::is_sorted(schedule.sends.begin(), schedule.sends.end(), earlier)) {
    Schedule sorted = schedule;
    normalise(sorted);
    return measure(sorted);
  }
  Metrics metrics;
  metrics.finish = actual_finish(schedule);
  metrics.messages = static_cast<std::int64_t>(schedule.sends.size());
  metrics.ranks.resize(static_cast<std::size_t>(schedule.machine.P));
  const auto of = [&](Rank rank) -> RankMetrics& {
    CHASQUI_CHECK(rank.index >= 0 && rank.index < schedule.machine.P, "rank={} P={}", rank.index, schedule.machine.P);
    return metrics.ranks[static_cast<std::size_t>(rank.index)];
  };
  for (const Send& send : schedule.sends) {
    ++of(send.from).sends;
    RankMetrics& to = of(send.to);
    ++to.receptions;
    to.ready = std::max(to.ready, available(schedule.machine, send));
  }
  for (const Add& add : schedule.adds) {
    RankMetrics& rank = of(add.rank);
    rank.additions += add.count;
    rank.ready = std::max(rank.ready, add.begin + Time{add.count});
    metrics.additions += add.count;
  }
  count_depths(schedule.machine, schedule.sends, metrics.ranks);
  for (const RankMetrics& rank : metrics.ranks) {
    metrics.most_sends = std::max(metrics.most_sends, rank.sends);
    metrics.most_receptions = std::max(metrics.most_receptions, rank.receptions);
    metrics.depth = std::max(metrics.depth, rank.depth);
  }
  metrics.busy = 2 * metrics.messages * schedule.machine.o + Time{metrics.additions};
  return metrics;
}

}  // namespace chasqui
