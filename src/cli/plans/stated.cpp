// SPDX-License-Identifier: MIT
#include "cli/plans/stated.hpp"

#include <fmt/core.h>

#include <numeric>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/collectives.hpp"
#include "chasqui/verify/verify.hpp"

namespace chasqui::cli {
namespace {

/// What the planners prove for the same machine and problem; 0 where they do not take it.
Time proved_bound(const Schedule& schedule) {
  plan::Request request{.machine = schedule.machine, .problem = schedule.problem, .nodes = schedule.nodes};
  if (schedule.problem.kind == Kind::sum)
    request.operands = std::accumulate(schedule.operands.begin(), schedule.operands.end(), std::int64_t{0});
  try {
    return make_plan(request)->claim().bound;
  } catch (const Error&) {  // a machine or a problem that nobody plans for
  }
  return Time{0};
}

Report judged(const Schedule& schedule) {
  VerifyOptions options;
  options.most = 1;
  Report report = verify(schedule, options);
  if (report.legal() || schedule.problem.kind == Kind::stream || !schedule.nodes.empty()) return report;
  options.receptions = Receptions::buffered;  // the looser rules are rules, too
  Report buffered = verify(schedule, options);
  return buffered.legal() ? buffered : report;
}

}  // namespace

std::string illegal(const Schedule& schedule, const std::string& place) {
  const Report report = judged(schedule);
  if (report.legal()) return {};
  const std::size_t count = report.violations.size() + static_cast<std::size_t>(report.omitted);
  return fmt::format("{}: not legal: {} violation{}; `chasqui verify` names them\n", place, count,
                     count == 1 ? "" : "s");
}

Stated check_stated(Schedule& schedule, const std::string& place) {
  Stated stated;
  stated.doubts = illegal(schedule, place);
  stated.legal = stated.doubts.empty();
  const Time reached = schedule.problem.kind == Kind::stream ? schedule.delay : schedule.finish;
  if (reached != schedule.bound) return stated;
  if (const Time proved = proved_bound(schedule); proved < schedule.bound) {
    stated.doubts += fmt::format("{}: states the bound {}; proved without a search: {}\n", place, schedule.bound.ticks,
                                 proved.ticks);
    schedule.bound = proved;
  }
  return stated;
}

}  // namespace chasqui::cli
