// SPDX-License-Identifier: MIT
// What tests with random schedules share.
#pragma once

#include <rapidcheck.h>

#include "chasqui/verify/verify.hpp"

namespace chasqui {

inline int any(int lo, int hi) { return *rc::gen::resize(100, rc::gen::inRange(lo, hi)); }

/// Bit r: the report says that rule r is broken.
inline unsigned rules_in(const Report& report) {
  unsigned rules = 0;
  for (const Violation& violation : report.violations) rules |= 1U << violation.rule;
  return rules;
}

}  // namespace chasqui
