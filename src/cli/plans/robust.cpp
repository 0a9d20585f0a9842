// SPDX-License-Identifier: MIT
#include "cli/plans/robust.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/kitem.hpp"
#include "chasqui/plan/stream_algorithms.hpp"
#include "chasqui/solve/robust.hpp"
#include "cli/frame/progress.hpp"
#include "plan/listed_plan.hpp"

namespace chasqui::cli {
namespace {

constexpr std::uint64_t kEffort = 400'000;  ///< a mutation costs about the number of messages times the time
constexpr std::int64_t kStreamItems = 8;    ///< a stream is judged by so many items unless --items says otherwise

std::vector<solve::Candidate> candidates(const LogP& machine, std::int64_t k, Rank root,
                                         const plan::KernelTablePtr& kernels) {
  std::vector<solve::Candidate> list = {{"best", plan::kitem(machine, k, root, {.kernels = kernels})->schedule()}};
  for (const plan::StreamAlgorithm& algorithm : plan::stream_algorithms()) {
    try {
      list.push_back({std::string(algorithm.name), algorithm.items(machine, k, root)->schedule(), algorithm.buffered});
    } catch (const Error&) {
      continue;  // this construction does not apply here
    }
  }
  for (solve::Candidate& candidate : list) candidate.schedule.bound = plan::kitem_bound(machine, k);
  return list;
}

}  // namespace

plan::PlanPtr most_robust_plan(const plan::PlanPtr& planned, const plan::Request& request) {
  const Kind kind = planned->problem().kind;
  if (kind != Kind::broadcast && kind != Kind::stream) {
    throw Error("--robust is for kitem, broadcast and stream: leave it out for {}", to_string(kind));
  }
  const LogP& machine = planned->machine();
  if (!machine.is_postal()) throw Error("--robust needs the postal machine: use -o 0 -g 1");
  const std::int64_t k = kind == Kind::stream && request.problem.items == 1 ? kStreamItems : request.problem.items;
  Progress bar("robust");
  solve::RobustOptions options;
  options.adversary.states = 200'000;
  options.adversary.plays = 4'000;
  const auto moments =
      static_cast<std::uint64_t>(k * machine.P) * static_cast<std::uint64_t>(plan::kitem_bound(machine, k).ticks);
  options.mutations = std::clamp<std::uint64_t>(kEffort / std::max<std::uint64_t>(moments, 1), 20, 1000);
  options.progress = std::ref(bar);
  const solve::RobustSchedule robust =
      solve::most_robust(candidates(machine, k, request.problem.root, request.kernels), options);
  const std::string verdict = robust.worst.exact ? "exactly" : "at least (heuristic)";
  plan::Claim claim{
      robust.schedule.finish, plan::kitem_bound(machine, k), "counting bound for exact latency",
      fmt::format("{}; worst case over latencies 1..L: {} {}{}", robust.how, verdict, robust.worst.finish().ticks,
                  robust.proved ? ", proved to be the least" : ", not proved to be the least")};
  return std::make_shared<plan::ListedPlan>(robust.schedule.machine, robust.schedule.problem, std::move(claim),
                                            robust.schedule.sends);
}

}  // namespace chasqui::cli
