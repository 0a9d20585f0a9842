// SPDX-License-Identifier: MIT
// What the verifier found: every violation, by the number of the rule in docs/model.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chasqui/model/units.hpp"

namespace chasqui {

inline constexpr std::int64_t kNoMessage = -1;  ///< a violation that no message caused
inline constexpr Rank kNoRank{-1};              ///< a violation of no rank in particular
/// One broken rule, with its place.
struct Violation {
  int rule = 0;                       ///< 1 .. 7
  Rank rank = kNoRank;                ///< where; kNoRank: the schedule as a whole
  Time time;                          ///< begin of the send, reception or addition that breaks it
  std::int64_t message = kNoMessage;  ///< index into Schedule::sends
  std::string text;                   ///< one sentence

  friend bool operator==(const Violation&, const Violation&) = default;
};

/// The name of a rule: "possession", "send gap", … REQUIRES 1 <= rule <= 7.
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

}  // namespace chasqui
