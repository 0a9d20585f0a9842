// SPDX-License-Identifier: MIT
#include "run/messages/script_of_plan.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <tuple>

#include "chasqui/plan/broadcast.hpp"
#include "chasqui/plan/collectives.hpp"
#include "chasqui/plan/kitem.hpp"
#include "run/messages/message_cost.hpp"

namespace chasqui::run {

Script circulant(std::int64_t ranks, int rank, int radix) {
  Script script;
  script.machine = LogP{ranks, Time{1}, Time{0}, Time{1}};
  script.form.rank = {rank};
  // Window sizes from the last round backwards: w = P, ceil(P/r), ceil(P/r^2), …, 1.
  std::vector<std::int64_t> windows = {ranks};
  while (windows.back() > 1) windows.push_back((windows.back() + radix - 1) / radix);
  std::reverse(windows.begin(), windows.end());
  const auto wrap = [&](std::int64_t r) { return static_cast<std::int32_t>(((r % ranks) + ranks) % ranks); };
  std::int64_t time = 0;
  for (std::size_t round = 0; round + 1 < windows.size(); ++round) {
    const std::int64_t w = windows[round];
    std::int64_t have = w;
    for (std::int64_t k = 1; have < windows[round + 1]; ++k) {
      const std::int32_t more = static_cast<std::int32_t>(std::min(w, windows[round + 1] - have));
      const std::int32_t to = wrap(rank + k * w);
      const std::int32_t from = wrap(rank - k * w);
      script.form.sends.push_back({Time{time}, {rank}, {to}, {wrap(rank - more + 1), more}});
      script.form.receives.push_back({Time{time}, {from}, {rank}, {wrap(from - more + 1), more}});
      have += more;
    }
    ++time;
  }
  return script;
}

namespace {

constexpr std::int64_t kTreeTicks = 1'000'000'000;  ///< trees are planned by arithmetic: any resolution will do
constexpr std::int64_t kWindowTicks = 256;          ///< windows are planned by search: coarse ticks

/// A program that runs does not wait for a search.
plan::PlanPtr item_plan(const LogP& machine, std::int64_t items, Rank root) {
  return items == 1 ? plan::broadcast(machine, root) : plan::kitem_without_search(machine, items, root);
}

/// Plans of this process, shared by its communicators (and by the ranks of a simulation).
plan::PlanPtr shared_plan(Method method, Kind kind, const LogP& machine, Rank root, std::int64_t parts,
                          bool commutative, bool exclusive) {
  using Key =
      std::tuple<Method, Kind, std::int64_t, std::int64_t, std::int64_t, std::int64_t, int, std::int64_t, bool, bool>;
  static std::mutex mutex;
  static std::map<Key, plan::PlanPtr> plans;
  constexpr std::size_t kMost = 1024;
  const Key key{method,          kind,       machine.P, machine.L.ticks, machine.o.ticks,
                machine.g.ticks, root.index, parts,     commutative,     exclusive};
  const std::lock_guard lock(mutex);
  if (const auto found = plans.find(key); found != plans.end()) return found->second;
  if (plans.size() >= kMost) plans.clear();
  plan::PlanPtr plan;
  if (method == Method::items) {
    plan = item_plan(machine, parts, root);
  } else {
    Problem problem{.kind = kind, .root = root, .commutative = commutative, .exclusive = exclusive};
    if (method == Method::windows) problem = {.kind = Kind::allreduce};
    // Along a tree, blocks go the ways of a fold.
    const bool blocks = kind == Kind::gather || kind == Kind::scatter;
    if (method != Method::messages && blocks) problem = {.kind = Kind::reduce, .root = root};
    plan = plan::make_plan({.machine = machine, .problem = problem});
  }
  plans.emplace(key, plan);
  return plan;
}

}  // namespace

Script item_script(const plan::Plan& plan, const SizedMachine& sized, const Level& level, double bytes, int rank) {
  Script script{plan.local({rank}), sized.machine, false, {}};
  if (level.shares_bandwidth) script.pace = {sized.tick, flight_time(level, bytes), plan.claim().finish};
  return script;
}

Script plan_script(const Choice& choice, Kind kind, const Level& level, int ranks, int root, std::size_t bytes,
                   bool commutative, bool exclusive, int rank) {
  const auto size = static_cast<double>(bytes);
  if (choice.method == Method::items) {
    const SizedMachine sized = choice.parts == 1 ? machine_for(level, ranks, size, kTreeTicks)
                                                 : item_machine(level, ranks, size / static_cast<double>(choice.parts));
    const int from = kind == Kind::allreduce ? 0 : root;
    const auto plan = shared_plan(choice.method, Kind::broadcast, sized.machine, {from}, choice.parts, true, false);
    Script script = item_script(*plan, sized, level, size / static_cast<double>(choice.parts), rank);
    script.reversed = kind != Kind::broadcast;
    return script;
  }
  if (choice.method == Method::messages && kind == Kind::allgather && level.shares_bandwidth) {
    // One message at a time on the link, a little early so that it never idles; its receiver looks a step later.
    constexpr double kEarly = 0.998;
    const double step = std::max(1e-6, spread_step(level, size));
    const auto flight = static_cast<std::int64_t>(std::ceil(std::min(1e9, flight_time(level, size) / step)));
    const LogP machine = LogP::postal(ranks, Time{flight + 1});
    const auto plan = shared_plan(choice.method, kind, machine, {root}, 1, true, false);
    return {plan->local({rank}), machine, false, {kEarly * step, flight_time(level, size), plan->claim().finish}};
  }
  const bool blocks = kind == Kind::gather || kind == Kind::scatter || kind == Kind::allgather;
  const bool symmetric =
      kind == Kind::allreduce || kind == Kind::allgather || kind == Kind::scan || kind == Kind::barrier;
  const bool receives = kind == Kind::reduce || (kind == Kind::gather && choice.method == Method::messages);
  const LogP machine =
      (receives ? receiving_machine_for : machine_for)(
          level, ranks, blocks && choice.method != Method::messages ? 0 : size, symmetric ? kWindowTicks : kTreeTicks)
          .machine;
  const auto plan = shared_plan(choice.method, kind, machine, {root}, 1, commutative, exclusive);
  return {plan->local({rank}), machine, kind == Kind::scatter && choice.method == Method::tree, {}};
}

}  // namespace chasqui::run
