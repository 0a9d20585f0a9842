// SPDX-License-Identifier: MIT
#include "simulate/critical_path.hpp"

#include <algorithm>
#include <optional>

namespace chasqui::simulate {
namespace {

using Reason = CriticalStep::Reason;

class Explainer {
 public:
  Explainer(const Trace& trace, const Latency& latency, const Options& options)
      : trace_(trace), latency_(latency), options_(options),
        first_(static_cast<std::size_t>(trace.schedule.machine.P) + 1, 0) {
    const auto& sends = trace_.schedule.sends;
    for (const Send& send : sends) {
      ++first_[index(send.from) + 1];
      ++first_[index(send.to) + 1];
    }
    for (std::size_t r = 1; r < first_.size(); ++r) first_[r] += first_[r - 1];
    of_rank_.resize(2 * sends.size());
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    for (std::uint32_t m = 0; m < sends.size(); ++m) {
      of_rank_[next[index(sends[m].from)]++] = m;
      of_rank_[next[index(sends[m].to)]++] = m;
    }
    for (Rank rank{0}; index(rank) + 1 < first_.size(); ++rank.index) {
      std::stable_sort(of_rank_.begin() + first_[index(rank)], of_rank_.begin() + first_[index(rank) + 1],
                       [&](std::uint32_t a, std::uint32_t b) { return time_at(a, rank) < time_at(b, rank); });
    }
  }

  std::vector<CriticalStep> path() const {
    std::vector<CriticalStep> steps;
    std::optional<Place> at = last();
    while (at && steps.size() <= 2 * trace_.times.size()) {
      const Cause cause = at->reception ? cause_of_reception(at->message) : cause_of_send(at->message);
      using Event = CriticalStep::Event;
      steps.push_back({at->message, at->reception ? Event::reception : Event::send, cause.reason, time_of(*at)});
      at = cause.place;
    }
    return steps;
  }

 private:
  struct Place {
    std::uint32_t message;
    bool reception;
  };
  struct Cause {
    Reason reason;
    std::optional<Place> place;
  };

  static std::size_t index(Rank rank) { return static_cast<std::size_t>(rank.index); }
  Time time_of(const Place& place) const {
    const MessageTimes& times = trace_.times[place.message];
    return place.reception ? times.reception : times.send;
  }
  Place place_at(std::uint32_t message, Rank rank) const {
    return {message, trace_.schedule.sends[message].to == rank};
  }
  Time time_at(std::uint32_t message, Rank rank) const { return time_of(place_at(message, rank)); }

  const Straggler* straggler(Rank rank) const {
    for (const Straggler& candidate : options_.stragglers) {
      if (candidate.rank == rank) return &candidate;
    }
    return nullptr;
  }
  Time overhead(Rank rank) const { return straggler(rank) ? straggler(rank)->o : trace_.schedule.machine.o; }
  Time gap(Rank rank) const {
    return straggler(rank) ? std::max(straggler(rank)->g, straggler(rank)->o) : trace_.schedule.machine.gap();
  }

  /// The event that made the finish time: a reception, or the last reception before the additions that ended it.
  std::optional<Place> last() const {
    for (std::uint32_t m = 0; m < trace_.times.size(); ++m) {
      if (trace_.times[m].reception + overhead(trace_.schedule.sends[m].to) == trace_.finish) return Place{m, true};
    }
    for (std::size_t a = 0; a < trace_.add_begins.size(); ++a) {
      const Add& add = trace_.schedule.adds[a];
      if (trace_.add_begins[a] + Time{add.count} == trace_.finish) return before_additions(add.rank, trace_.finish);
    }
    return std::nullopt;
  }

  /// An event of `rank` at `time` for which the condition holds. Time: O(log of the rank's events).
  template <typename Condition>
  std::optional<Place> find(Rank rank, Time time, Condition condition) const {
    const auto end = of_rank_.begin() + first_[index(rank) + 1];
    auto at = std::partition_point(of_rank_.begin() + first_[index(rank)], end,
                                   [&](std::uint32_t m) { return time_at(m, rank) < time; });
    for (; at != end && time_at(*at, rank) == time; ++at) {
      if (const Place place = place_at(*at, rank); condition(place)) return place;
    }
    return std::nullopt;
  }
  std::optional<Place> reception(Rank rank, Time time) const {
    return find(rank, time, [](const Place& place) { return place.reception; });
  }

  /// Back through additions that follow each other without a pause to the reception that let them begin. The additions of a
  /// trace lie rank by rank in the order of their times.
  std::optional<Place> before_additions(Rank rank, Time end) const {
    const auto& adds = trace_.schedule.adds;
    const auto ended = [&](const Add& add) {
      const Time begin = trace_.add_begins[static_cast<std::size_t>(&add - adds.data())];
      return add.rank < rank || (add.rank == rank && begin + Time{add.count} <= end);
    };
    auto a = static_cast<std::size_t>(std::partition_point(adds.begin(), adds.end(), ended) - adds.begin());
    for (; a > 0 && adds[a - 1].rank == rank && trace_.add_begins[a - 1] + Time{adds[a - 1].count} == end; --a) {
      end = trace_.add_begins[a - 1];
      if (const auto found = reception(rank, end - overhead(rank))) return found;
    }
    return std::nullopt;
  }

  Cause cause_of_reception(std::uint32_t message) const {
    const Send& send = trace_.schedule.sends[message];
    const Time time = trace_.times[message].reception;
    const Time arrival = trace_.times[message].send + overhead(send.from) + latency_(send, message);
    if (arrival == time) return {Reason::latency, Place{message, false}};
    if (const auto other = reception(send.to, time - gap(send.to))) return {Reason::receive_gap, other};
    return busy(send.to, time, message);
  }

  Cause cause_of_send(std::uint32_t message) const {
    const Send& send = trace_.schedule.sends[message];
    const Time time = trace_.times[message].send;
    if (const auto data = reception(send.from, time - overhead(send.from))) return {Reason::data, data};
    const auto is_send = [](const Place& place) { return !place.reception; };
    if (const auto other = find(send.from, time - gap(send.from), is_send)) return {Reason::send_gap, other};
    if (options_.mode == Mode::timed && time == send.begin && trace_.schedule.adds.empty()) {
      return {Reason::planned, std::nullopt};
    }
    return busy(send.from, time, message);
  }

  /// What kept the processor busy until `time`.
  Cause busy(Rank rank, Time time, std::uint32_t message) const {
    const auto is_other = [&](const Place& place) { return place.message != message; };
    if (const auto other = find(rank, time - overhead(rank), is_other)) return {Reason::busy, other};
    if (const auto other = before_additions(rank, time)) return {Reason::busy, other};
    return {Reason::start, std::nullopt};
  }

  const Trace& trace_;
  const Latency& latency_;
  const Options& options_;
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> of_rank_;  // messages of each rank by the time at which it sends or receives them
};

}  // namespace

std::vector<CriticalStep> critical_path(const Trace& trace, const Latency& latency, const Options& options) {
  return Explainer(trace, latency, options).path();
}

}  // namespace chasqui::simulate
