// SPDX-License-Identifier: MIT
// One function per rule of docs/model.md.
#pragma once

#include "verify/case.hpp"
#include "verify/folds.hpp"
#include "verify/holdings.hpp"

namespace chasqui::verifier {

/// What rule 6 lets through to the other rules.
struct WellFormed {
  bool judgeable = true;  ///< machine and problem make sense
  std::vector<std::uint32_t> sends, adds;
};
WellFormed rule6_well_formed(const Schedule& schedule, Findings& findings);

/// The evidence that rules 1, 6 and 7 share: who holds which item, or who can make which fold.
struct Evidence {
  explicit Evidence(const Case& the_case);
  std::optional<Holdings> holdings;
  std::optional<Folds> folds;
};

void rule1_possession(const Case& the_case, const Evidence& evidence, Findings& findings);
void rule2_send_gap(const Case& the_case, Findings& findings);
void rule3_receive_gap(const Case& the_case, Findings& findings);
void rule4_one_thing(const Case& the_case, Findings& findings);
void rule5_capacity(const Case& the_case, Findings& findings);
void rule6_counted_once(const Case& the_case, const Evidence& evidence, Findings& findings);
/// `complete`: no message was left out as malformed, so the claimed finish can be compared.
void rule7_promise(const Case& the_case, const Evidence& evidence, bool complete, Findings& findings);

/// Reductions of several items: what is sent and kept is judged by playing each item, for rules 1, 6 and 7.
inline bool handed_over(const Case& c) { return c.problem().kind == Kind::reduce && names_items(c.problem()); }
void judge_handed_over(const Case& the_case, const std::vector<std::uint32_t>& usable, Findings& findings);

/// "item 3", "contributions 2..5", "contributions 6..0 and 1..3".
std::string cargo(const Case& the_case, const Send& send);
std::string interval(const Case& the_case, const Part& part);

}  // namespace chasqui::verifier
