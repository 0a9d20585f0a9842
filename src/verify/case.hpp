// SPDX-License-Identifier: MIT
// The case before the court: a schedule prepared for the rules. Malformed messages are left out (rule 6
// reports them), events are grouped by processor, receptions of the buffered model are played once.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/verify/verify.hpp"
#include "verify/lanes.hpp"

namespace chasqui::verifier {

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

class Case {
 public:
  /// REQUIRES: rule 6 found nothing wrong with machine and problem.
  Case(const Schedule& schedule, const VerifyOptions& options, const std::vector<std::uint32_t>& usable_sends,
       const std::vector<std::uint32_t>& usable_adds);

  const Schedule& schedule() const { return schedule_; }
  const LogP& machine() const { return schedule_.machine; }
  const Problem& problem() const { return schedule_.problem; }
  const VerifyOptions& options() const { return options_; }
  bool buffered() const { return options_.receptions == Receptions::buffered; }

  const Directory& ranks() const { return ranks_; }
  const Lanes& sends() const { return sends_; }            ///< by sender; time is the begin
  const Lanes& receptions() const { return receptions_; }  ///< by receiver; time is when the receive overhead begins
  const Lanes& adds() const { return adds_; }              ///< by rank; time is the begin

  const Send& message(std::uint32_t index) const { return schedule_.sends[index]; }

  /// Streams repeat: events are given modulo period(). 0: no stream.
  std::int64_t period() const { return period_; }

  /// The item a message carries (stream: of the first period), and when it is sent and becomes available on
  /// the clock of that item. For all kinds but streams the clock of an item is the clock.
  std::int64_t item(std::uint32_t index) const;
  std::int64_t begin(std::uint32_t index) const;
  std::int64_t available(std::uint32_t index) const;

  /// How many items there are, and those that a rank has at the start or must have at the end: [first, second).
  using Items = std::pair<std::int64_t, std::int64_t>;
  std::int64_t item_count() const;
  Items owned(Rank rank) const;
  Items promised(Rank rank) const;

  /// The last availability or end of an addition; 0 if nothing happens.
  std::int64_t finish() const { return finish_; }

 private:
  std::int64_t last_event() const;
  Items share(Rank rank) const;

  const Schedule& schedule_;
  const VerifyOptions& options_;
  std::int64_t period_ = 0;
  std::int64_t finish_ = 0;
  Directory ranks_;
  Lanes sends_, receptions_, adds_;
  std::vector<std::int64_t> received_;  ///< buffered: begin of the reception of each message
};

/// Plays the ports of all receivers (docs/model.md, "buffered"): the begin of each message's reception.
/// `arrivals` are lanes of arrival times by receiver.
std::vector<std::int64_t> play_ports(const Case& the_case, const Lanes& arrivals);

}  // namespace chasqui::verifier
