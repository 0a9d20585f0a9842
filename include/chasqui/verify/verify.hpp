// SPDX-License-Identifier: MIT
// Is a schedule legal? Checks the rules of docs/model.md and shares no code with those who build schedules.
// Any value is judged, however absurd; nothing is assumed of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui {

inline constexpr std::int64_t kNoMessage = -1;  ///< a violation that no message caused
inline constexpr Rank kNoRank{-1};              ///< a violation of no rank in particular
/// One broken rule, with its place.
struct Violation {
  int rule = 0;                       ///< 1 .. 9
  Rank rank = kNoRank;                ///< where; kNoRank: the schedule as a whole
  Time time;                          ///< begin of the send, reception, addition, publication or reading that breaks it
  std::int64_t message = kNoMessage;  ///< index into Schedule::sends
  std::string text;                   ///< one sentence

  friend bool operator==(const Violation&, const Violation&) = default;
};

/// The name of a rule: "possession", "send gap", … REQUIRES 1 <= rule <= 9.
std::string_view rule_name(int rule);
/// All violations that were found, up to a limit.
struct Report {
  std::string_view rules;             ///< what it was checked against: "postal", "strict" or "buffered"
  std::vector<Violation> violations;  ///< by rule, then time, rank and message
  std::int64_t omitted = 0;           ///< further violations, beyond VerifyOptions::most
  Time finish;                        ///< the true one (stream: the true delay)

  bool legal() const { return violations.empty() && omitted == 0; }  ///< nothing was broken
};

/// "rule 1 (possession), rank 3, time 4, message 7: …"
std::string to_string(const Violation& violation);

/// One line a violation, then one line that sums up.
std::string to_string(const Report& report);

/// When does a reception begin?
enum class Receptions {
  exact,     ///< o + L after its send
  buffered,  ///< arrivals may wait for the port
};
/// Which rules are meant.
struct VerifyOptions {
  Receptions receptions = Receptions::exact;  ///< must a message be taken in when it arrives?
  std::int64_t buffer = 2;                    ///< buffered: how many messages may be left waiting at one processor
  unsigned rules = 0b11'1111'1110;            ///< bit r: report violations of rule r
  std::size_t most = 100'000;                 ///< violations spelt out; the others are counted
};

/// All violations of the rules. Time: O(n log n) for n messages of items, O(sum over ranks of sends x receptions)
/// for folds in the worst case; near-linear for every schedule whose ranks receive O(log P) messages.
/// Throws an Error only if asked for buffered receptions of a stream or on a cluster, which the model does not define.
Report verify(const Schedule& schedule, const VerifyOptions& options = {});

}  // namespace chasqui
