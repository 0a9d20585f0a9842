// SPDX-License-Identifier: MIT
#include "run/messages/local_plan.hpp"

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

LocalPlan circulant(std::int64_t ranks, int rank, int radix) {
  LocalPlan local;
  local.machine = LogP{ranks, Time{1}, Time{0}, Time{1}};
  local.form.rank = {rank};
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
      local.form.sends.push_back({Time{time}, {rank}, {to}, {wrap(rank - more + 1), more}});
      local.form.receives.push_back({Time{time}, {from}, {rank}, {wrap(from - more + 1), more}});
      have += more;
    }
    ++time;
  }
  return local;
}

LocalPlan by_distance(std::int64_t ranks, int rank, std::int64_t radix) {
  LocalPlan local;
  local.machine = LogP{ranks, Time{1}, Time{0}, Time{1}};
  local.form.rank = {rank};
  std::int64_t time = 0;
  for (std::int64_t weight = 1; weight < ranks; weight *= radix, ++time) {
    for (std::int64_t shift = weight; shift < std::min(ranks, weight * radix); shift += weight) {
      const std::int64_t cycle = weight * radix;
      const std::int64_t blocks = ranks / cycle * weight + std::clamp(ranks % cycle - shift, std::int64_t{0}, weight);
      const Part part{static_cast<std::int32_t>(shift), static_cast<std::int32_t>(blocks)};
      const auto to = static_cast<std::int32_t>((rank + shift) % ranks);
      const auto from = static_cast<std::int32_t>((rank - shift + ranks) % ranks);
      local.form.sends.push_back({Time{time}, {rank}, {to}, part});
      local.form.receives.push_back({Time{time}, {from}, {rank}, part});
    }
  }
  return local;
}

namespace {

constexpr std::int64_t kWindowTicks = 256;  ///< windows are planned by search: coarse ticks

/// A program that runs does not wait for its plan.
plan::PlanPtr item_plan(const LogP& machine, std::int64_t items, Rank root) {
  return items == 1 ? plan::broadcast(machine, root) : plan::kitem(machine, items, root, {.quick = true});
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

LocalPlan local_items(const plan::Plan& plan, const SizedMachine& sized, const Level& level, double bytes, int rank) {
  const double tick = level.shares_bandwidth ? sized.tick : 0;
  return {plan.local({rank}), sized.machine, false, {tick, flight_time(level, bytes), plan.claim().finish}};
}

LocalPlan local_plan(const Shape& shape, Method method, std::int64_t parts, const Level& level) {
  const Kind kind = shape.kind;
  const auto bytes = static_cast<double>(shape.bytes());
  if (method == Method::items) {
    const double item = bytes / static_cast<double>(parts);
    const SizedMachine sized =
        parts == 1 ? machine_for(level, shape.size, bytes, kTreeTicks) : item_machine(level, shape.size, item);
    const int from = kind == Kind::allreduce ? 0 : shape.root;
    const auto plan = shared_plan(method, Kind::broadcast, sized.machine, {from}, parts, true, false);
    LocalPlan local = local_items(*plan, sized, level, item, shape.rank);
    local.reversed = kind != Kind::broadcast;
    return local;
  }
  if (method == Method::messages && kind == Kind::allgather && level.shares_bandwidth) {
    // One message at a time on the link, a little early so that it never idles; its receiver looks a step later.
    constexpr double kEarly = 0.998;
    const double step = std::max(1e-6, spread_step(level, bytes));
    const auto flight = static_cast<std::int64_t>(std::ceil(std::min(1e9, flight_time(level, bytes) / step)));
    const LogP machine = LogP::postal(shape.size, Time{flight + 1});
    const auto plan = shared_plan(method, kind, machine, {shape.root}, 1, true, false);
    const Pace pace{kEarly * step, flight_time(level, bytes), plan->claim().finish};
    return {plan->local({shape.rank}), machine, false, pace};
  }
  const bool blocks = kind == Kind::gather || kind == Kind::scatter || kind == Kind::allgather;
  const bool symmetric =
      kind == Kind::allreduce || kind == Kind::allgather || kind == Kind::scan || kind == Kind::barrier;
  const bool receives = kind == Kind::reduce || (kind == Kind::gather && method == Method::messages);
  const SizedMachine sized = (receives ? receiving_machine_for : machine_for)(
      level, shape.size, blocks && method != Method::messages ? 0 : bytes, symmetric ? kWindowTicks : kTreeTicks);
  const auto plan = shared_plan(method, kind, sized.machine, {shape.root}, 1, shape.commutative, shape.exclusive);
  LocalPlan local{plan->local({shape.rank}), sized.machine, kind == Kind::scatter && method == Method::tree, {}};
  // Contributions that all went at once would share the link of the rank that folds them, and the first be as late as the last.
  if (kind == Kind::reduce && level.shares_bandwidth)
    local.pace = {sized.tick, flight_time(level, bytes), plan->claim().finish};
  return local;
}

std::vector<Step> steps_of(const LocalPlan& plan) {
  std::vector<Step> steps;
  steps.reserve(plan.form.sends.size() + plan.form.receives.size());
  const auto sign = plan.reversed ? -1 : 1;
  for (const Send& send : plan.form.sends) {
    steps.push_back({sign * send.begin, plan.reversed, send.to.index, send.part, send.second});
  }
  for (const Send& send : plan.form.receives) {
    steps.push_back({sign * available(plan.machine, send), !plan.reversed, send.from.index, send.part, send.second});
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) { return a.at != b.at ? a.at < b.at : a.receives > b.receives; });
  return steps;
}

}  // namespace chasqui::run
