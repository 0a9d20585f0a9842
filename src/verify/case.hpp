// SPDX-License-Identifier: MIT
// The case before the court: a schedule prepared for the rules. Malformed messages are left out (rule 6
// reports them), events are grouped by processor, receptions of the buffered model are played once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/model/units.hpp"
#include "chasqui/verify/verify.hpp"

namespace chasqui::verifier {

// Events grouped by processor, each group in order of time: flat arrays, no table of size P unless P is small compared with
// the number of events.

/// The processors that take part, numbered 0 .. count()-1 in rank order.
class Directory {
 public:
  Directory() = default;

  /// `mentioned` in any order, with repetitions. All P ranks are listed when P <= 4 * mentioned + 4096.
  Directory(std::int64_t P, std::vector<std::int32_t> mentioned) : P_(P) {
    dense_ = P / 4 <= static_cast<std::int64_t>(mentioned.size()) + 1024;
    if (dense_) return;
    std::sort(mentioned.begin(), mentioned.end());
    mentioned.erase(std::unique(mentioned.begin(), mentioned.end()), mentioned.end());
    for (const std::int32_t rank : mentioned) listed_.push_back(Rank{rank});
  }

  std::size_t count() const { return dense_ ? static_cast<std::size_t>(P_) : listed_.size(); }
  Rank rank(std::size_t id) const { return dense_ ? Rank{static_cast<std::int32_t>(id)} : listed_[id]; }

  /// REQUIRES: the rank was mentioned, or all are listed.
  std::size_t id(Rank rank) const {
    if (dense_) return static_cast<std::size_t>(rank.index);
    return static_cast<std::size_t>(std::lower_bound(listed_.begin(), listed_.end(), rank) - listed_.begin());
  }

 private:
  std::int64_t P_ = 0;
  bool dense_ = true;
  std::vector<Rank> listed_;
};

struct Event {
  std::int64_t time = 0;
  std::uint32_t index = 0;  ///< into Schedule::sends or ::adds
};

/// Events by processor id, in order of (time, index) within each.
class Lanes {
 public:
  Lanes() = default;
  Lanes(std::size_t lanes, const std::vector<std::uint32_t>& lane_of, std::vector<Event> events)
      : first_(lanes + 1, 0), events_(events.size()) {
    for (const std::uint32_t lane : lane_of) ++first_[lane + 1];
    for (std::size_t lane = 0; lane < lanes; ++lane) first_[lane + 1] += first_[lane];
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (std::size_t i = 0; i < events.size(); ++i) events_[next[lane_of[i]]++] = events[i];
    // Schedules come in order of time as a rule, and then so do the lanes.
    const auto earlier = [](const Event& a, const Event& b) {
      return a.time != b.time ? a.time < b.time : a.index < b.index;
    };
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const auto begin = events_.begin() + static_cast<std::ptrdiff_t>(first_[lane]);
      const auto end = events_.begin() + static_cast<std::ptrdiff_t>(first_[lane + 1]);
      if (!std::is_sorted(begin, end, earlier)) std::sort(begin, end, earlier);
    }
  }

  std::size_t count() const { return first_.empty() ? 0 : first_.size() - 1; }
  std::span<const Event> of(std::size_t lane) const {
    return {events_.data() + first_[lane], first_[lane + 1] - first_[lane]};
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<Event> events_;
};

/// Gathers violations; knows which rules are asked for and when to stop spelling out.
class Findings {
 public:
  explicit Findings(const VerifyOptions& options) : options_(options) {}

  template <typename... Args>
  void add(int rule, Rank rank, std::int64_t time, std::int64_t message, fmt::format_string<Args...> text,
           Args&&... args) {
    if (!wants(rule)) return;
    if (found_.size() >= options_.most) {
      ++omitted_;
      return;
    }
    found_.push_back({rule, rank, Time{time}, message, fmt::format(text, std::forward<Args>(args)...)});
  }
  bool wants(int rule) const { return (options_.rules >> rule & 1U) != 0; }
  bool full() const { return found_.size() >= options_.most; }
  void omit(int rule, std::int64_t violations) { omitted_ += wants(rule) ? violations : 0; }

  Report report() &&;

 private:
  const VerifyOptions& options_;
  std::vector<Violation> found_;
  std::int64_t omitted_ = 0;
};

/// What rule 6 lets through to the other rules: indices into the lists of the schedule.
struct WellFormed {
  bool judgeable = true;  ///< machine and problem make sense
  std::vector<std::uint32_t> sends, adds, publications, readings;
};

class Case {
 public:
  /// REQUIRES: rule 6 found nothing wrong with machine and problem.
  Case(const Schedule& schedule, const VerifyOptions& options, const WellFormed& usable);

  const Schedule& schedule() const { return schedule_; }
  const LogP& machine() const { return schedule_.machine; }
  const Nodes& nodes() const { return schedule_.nodes; }  ///< empty on a plain LogP machine
  const Problem& problem() const { return schedule_.problem; }
  const VerifyOptions& options() const { return options_; }
  bool buffered() const { return options_.receptions == Receptions::buffered; }

  const Directory& ranks() const { return ranks_; }
  const Lanes& sends() const { return sends_; }            ///< by sender; time is the begin
  const Lanes& receptions() const { return receptions_; }  ///< by receiver; time is when the receive overhead begins
  const Lanes& adds() const { return adds_; }              ///< by rank; time is the begin

  const Lanes& publications() const { return publications_; }  ///< by rank; time is the begin
  const Lanes& readings() const { return readings_; }          ///< by reader; time is the begin

  const Send& message(std::uint32_t index) const { return schedule_.sends[index]; }

  /// Streams repeat: events are given modulo period(). 0: no stream.
  std::int64_t period() const { return period_; }

  /// The item a message carries (stream: of the first period), and when it is sent and becomes available on
  /// the clock of that item. For all kinds but streams the clock of an item is the clock.
  std::int64_t item(std::uint32_t index) const;
  /// The item of a publication or reading.
  template <typename OnBoard>
  std::int64_t item(const OnBoard& event) const {
    return problem().kind == Kind::alltoall ? Send{{}, {}, {}, event.part, event.second}.item_number() : event.part.lo;
  }
  std::int64_t begin(std::uint32_t index) const;
  std::int64_t available(std::uint32_t index) const;

  /// How many items there are, and those that a rank has at the start or must have at the end: [first, second).
  using Items = std::pair<std::int64_t, std::int64_t>;
  std::int64_t item_count() const;
  Items owned(Rank rank) const;
  Items promised(Rank rank) const;  ///< REQUIRES no all-to-all: its promise is no interval

  /// The last availability, end of an addition or end of a reading; 0 if nothing happens.
  std::int64_t finish() const { return finish_; }

 private:
  std::int64_t last_event() const;
  Items share(Rank rank) const;

  const Schedule& schedule_;
  const VerifyOptions& options_;
  std::int64_t period_ = 0;
  std::int64_t finish_ = 0;
  Directory ranks_;
  Lanes sends_, receptions_, adds_, publications_, readings_;
  std::vector<std::int64_t> received_;  ///< buffered: begin of the reception of each message
};

/// Plays the ports of all receivers (docs/model.md, "buffered"): the begin of each message's reception.
/// `arrivals` are lanes of arrival times by receiver.
std::vector<std::int64_t> play_ports(const Case& the_case, const Lanes& arrivals);

}  // namespace chasqui::verifier
