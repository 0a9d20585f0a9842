// SPDX-License-Identifier: MIT
#include "chasqui/verify/verify.hpp"

#include "verify/rules.hpp"

namespace chasqui {
namespace verifier {

Evidence::Evidence(const Case& c) {
  if (folds_items(c)) return;  // judged on its own
  if (combines(c.problem().kind)) {
    folds.emplace(judge_folds(c));
  } else {
    holdings.emplace(c);
  }
}

std::string interval(const Case& c, const Part& part) {
  if (part.len == 1) return fmt::format("{}", part.lo);
  return fmt::format("{}..{}", part.lo, (std::int64_t{part.lo} + part.len - 1) % c.machine().P);
}

std::string named_item(const Case& c, std::int64_t item) {
  if (c.problem().kind != Kind::alltoall) return fmt::format("item {}", item);
  const std::int64_t pair = item / c.problem().items;
  return fmt::format("item {} ({} to {})", item, pair / c.machine().P, pair % c.machine().P);
}

std::string cargo(const Case& c, const Part& part, const Part& second) {
  if (names_items(c.problem()))
    return named_item(c, c.problem().kind == Kind::alltoall ? Send{{}, {}, {}, part, second}.item_number() : part.lo);
  const bool one = part.len == 1 && second.len == 0;
  return fmt::format("contribution{} {}{}", one ? "" : "s", interval(c, part),
                     second.len > 0 ? " and " + interval(c, second) : "");
}

namespace {

std::string_view rules_applied(const Schedule& schedule, const VerifyOptions& options) {
  if (options.receptions == Receptions::buffered) return "buffered";
  return schedule.machine.is_postal() ? "postal" : "strict";
}

}  // namespace
}  // namespace verifier

Report verify(const Schedule& schedule, const VerifyOptions& options) {
  using namespace verifier;
  if (options.receptions == Receptions::buffered && !schedule.nodes.empty())
    throw Error("buffered rules are not defined on a cluster: verify it without --buffered");
  if (options.receptions == Receptions::buffered && schedule.problem.kind == Kind::stream) {
    throw Error("buffered rules are not defined for a stream: verify a broadcast of its first items instead");
  }
  for (const std::size_t size :
       {schedule.sends.size(), schedule.adds.size(), schedule.publications.size(), schedule.readings.size()})
    CHASQUI_CHECK(size < UINT32_MAX, "events={}", size);
  Findings findings(options);
  const WellFormed usable = rule6_well_formed(schedule, findings);
  std::int64_t finish = 0;
  if (usable.judgeable) {
    const Case the_case(schedule, options, usable);
    const Evidence evidence(the_case);
    rule1_possession(the_case, evidence, findings);
    rule2_send_gap(the_case, findings);
    rule3_receive_gap(the_case, findings);
    rule4_one_thing(the_case, findings);
    rule5_capacity(the_case, findings);
    rule6_counted_once(the_case, evidence, findings);
    if (folds_items(the_case)) judge_folded_items(the_case, usable, findings);
    rule8_node_gap(the_case, findings);
    rule9_board(the_case, findings);
    const bool complete = usable.sends.size() == schedule.sends.size() && usable.adds.size() == schedule.adds.size() &&
                          usable.readings.size() == schedule.readings.size();
    rule7_promise(the_case, evidence, complete, findings);
    finish = the_case.finish();
  }
  Report report = std::move(findings).report();
  report.rules = rules_applied(schedule, options);
  report.finish = Time{finish};
  return report;
}

std::string_view rule_name(int rule) {
  constexpr std::string_view kNames[] = {"possession", "send gap",  "reception gap", "one thing at a time",
                                         "capacity",   "existence", "promise",       "node gap",
                                         "board"};
  CHASQUI_CHECK(rule >= 1 && rule <= 9, "rule={}", rule);
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
