// SPDX-License-Identifier: MIT
#include "chasqui/verify/report.hpp"

#include "chasqui/base/error.hpp"

namespace chasqui {

std::string_view rule_name(int rule) {
  constexpr std::string_view kNames[] = {"possession", "send gap",  "reception gap", "one thing at a time",
                                         "capacity",   "existence", "promise"};
  CHASQUI_CHECK(rule >= 1 && rule <= 7, "rule={}", rule);
  return kNames[rule - 1];
}

std::string to_string(const Violation& v) {
  std::string line = fmt::format("rule {} ({})", v.rule, rule_name(v.rule));
  if (v.rank != kNoRank) line += fmt::format(", rank {}, time {}", v.rank.index, v.time.ticks);
  if (v.message != kNoMessage) line += fmt::format(", message {}", v.message);
  return line + ": " + v.text;
}

std::string to_string(const Report& report) {
  std::string text;
  for (const Violation& violation : report.violations) text += to_string(violation) + "\n";
  if (report.legal())
    return text + fmt::format("legal under the {} rules, finish {}\n", report.rules, report.finish.ticks);
  const auto count = static_cast<std::int64_t>(report.violations.size()) + report.omitted;
  if (report.omitted > 0) text += fmt::format("and {} more\n", report.omitted);
  return text + fmt::format("illegal: {} violation{} of the {} rules\n", count, count == 1 ? "" : "s", report.rules);
}

}  // namespace chasqui
