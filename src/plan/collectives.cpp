// SPDX-License-Identifier: MIT
#include "chasqui/plan/collectives.hpp"

#include <fmt/format.h>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/plan/allgather.hpp"
#include "chasqui/plan/allreduce.hpp"
#include "chasqui/plan/alltoall.hpp"
#include "chasqui/plan/barrier.hpp"
#include "chasqui/plan/broadcast.hpp"
#include "chasqui/plan/clusters.hpp"
#include "chasqui/plan/kitem.hpp"
#include "chasqui/plan/plain_trees.hpp"
#include "chasqui/plan/reduce.hpp"
#include "chasqui/plan/reduce_scatter.hpp"
#include "chasqui/plan/scan.hpp"
#include "chasqui/plan/scatter.hpp"
#include "chasqui/plan/stream.hpp"
#include "chasqui/plan/stream_algorithms.hpp"
#include "chasqui/plan/sum.hpp"
#include "plan/listed_plan.hpp"
#include "plan/single_ranks.hpp"

namespace chasqui::plan {
namespace {

PlanPtr plan_broadcast(const Request& r) {
  const std::int64_t k = r.problem.items;
  const Rank root = r.problem.root;
  if (!r.algorithm.empty()) return stream_algorithm(r.algorithm).items(r.machine, k, root);
  return k == 1 ? broadcast(r.machine, root) : or_listed(kitem(r.machine, k, root, {.kernels = r.kernels}));
}

PlanPtr plan_stream(const Request& r) {
  if (r.algorithm.empty()) return stream(r.machine, r.problem.root);
  const StreamAlgorithm& algorithm = stream_algorithm(r.algorithm);
  if (algorithm.stream == nullptr) {
    throw Error("--algorithm {} is for a finite number of items: plan broadcast with --items K", r.algorithm);
  }
  return algorithm.stream(r.machine, r.problem.root);
}

PlanPtr plan_sum(const Request& r) {
  if (r.operands.has_value() == r.time.has_value()) {
    throw Error("sum needs one of --operands N (in the least time) and --time TICKS (the most operands)");
  }
  if (r.operands) return sum_operands(r.machine, *r.operands, r.problem.commutative);
  return sum(r.machine, Time{*r.time}, r.problem.commutative);
}

/// What needs no planner, beside the bound of what does.
PlanPtr plan_plain(PlainTree tree, const Request& r, const Collective& row) {
  Request best = r;
  best.algorithm.clear();
  Claim claim = row.plan(best)->claim();
  const PlainSchedule made = plain_schedule(tree, r.machine, r.problem, 10'000'000);
  if (const auto* why_not = std::get_if<std::string_view>(&made))
    throw Error("--algorithm {}: {}", r.algorithm, *why_not);
  const auto& schedule = std::get<Schedule>(made);
  claim.finish = schedule.finish;
  claim.construction = fmt::format("{}: {}", to_string(tree), summary(tree));
  return std::make_shared<ListedPlan>(r.machine, r.problem, std::move(claim), schedule.sends);
}

constexpr bool kCalled = true, kSolved = true, kNot = false;

}  // namespace

const std::vector<Collective>& collectives() {
  static const std::vector<Collective> table = {
      {"broadcast", Kind::broadcast, "K items from the root to all", kRoot | kItems | kAlgorithm | kBytes,
       Messages::tree, kCalled, kSolved, &plan_broadcast},
      {"stream", Kind::stream, "a new item from the root to all every step, for ever", kRoot | kAlgorithm,
       Messages::tree, kNot, kSolved, &plan_stream},
      {"kitem", Kind::broadcast, "the same as broadcast", kRoot | kItems | kAlgorithm | kBytes, Messages::tree, kNot,
       kNot, &plan_broadcast},
      {"scatter", Kind::scatter, "one item from the root to each rank", kRoot | kAlgorithm, Messages::star, kCalled,
       kNot, [](const Request& r) { return scatter(r.machine, r.problem.root); }},
      {"gather", Kind::gather, "one item from each rank to the root", kRoot | kAlgorithm, Messages::star, kCalled, kNot,
       [](const Request& r) { return gather(r.machine, r.problem.root); }},
      {"allgather", Kind::allgather, "K items from each rank to all", kItems | kAlgorithm, Messages::exchange, kCalled,
       kSolved, [](const Request& r) { return allgather(r.machine, r.problem.items); }},
      {"alltoall", Kind::alltoall, "K items from each rank to each", kItems | kAlgorithm, Messages::exchange, kCalled,
       kSolved, [](const Request& r) { return alltoall(r.machine, r.problem.items); }},
      {"reduce", Kind::reduce, "the fold of all contributions to each of K items, at the root",
       kRoot | kItems | kNonCommutative | kAlgorithm, Messages::tree, kCalled, kSolved,
       [](const Request& r) {
         return or_listed(
             kitem_reduce(r.machine, r.problem.items, r.problem.root, r.problem.commutative, {.kernels = r.kernels}));
       }},
      {"allreduce", Kind::allreduce, "the fold of all contributions to each of K items, at every rank",
       kItems | kNonCommutative | kAlgorithm, Messages::rounds, kCalled, kSolved,
       [](const Request& r) { return allreduce_items(r.machine, r.problem.items, r.problem.commutative); }},
      {"reduce-scatter", Kind::reduce_scatter, "at each rank the folds of all contributions to K items of its own",
       kItems | kNonCommutative | kAlgorithm, Messages::exchange, kCalled, kSolved,
       [](const Request& r) { return reduce_scatter(r.machine, r.problem.items, r.problem.commutative); }},
      {"scan", Kind::scan, "at rank i the fold of ranks 0..i", kExclusive | kAlgorithm, Messages::rounds, kCalled,
       kSolved, [](const Request& r) { return or_listed(scan(r.machine, r.problem.exclusive)); }},
      {"barrier", Kind::barrier, "nobody goes on before all have come", kAlgorithm, Messages::rounds, kCalled, kNot,
       [](const Request& r) { return barrier(r.machine); }},
      {"sum", Kind::sum, "N operands, placed by the plan, folded at the root; an addition takes a tick",
       kOperands | kTime | kNonCommutative, Messages::tree, kNot, kNot, &plan_sum},
  };
  return table;
}

const Collective& collective(std::string_view name) {
  for (const Collective& candidate : collectives()) {
    if (candidate.name == name) return candidate;
  }
  throw Error("'{}' is not a collective: choose one of {}", name, fmt::join(collective_names(), ", "));
}

std::vector<std::string> collective_names(bool Collective::*wanted) {
  std::vector<std::string> names;
  for (const Collective& collective : collectives()) {
    if (wanted == nullptr || collective.*wanted) names.emplace_back(collective.name);
  }
  return names;
}

const std::vector<Kind>& called_kinds() {
  static const std::vector<Kind> kinds = [] {
    std::vector<Kind> called;
    for (const Collective& collective : collectives()) {
      if (collective.called) called.push_back(collective.kind);
    }
    return called;
  }();
  return kinds;
}

std::int64_t message_count(const Plan& plan) {
  const std::int64_t P = plan.machine().P;
  const std::int64_t one_tree = saturating_multiply(P - 1, plan.problem().items);
  if (plan.problem().kind == Kind::allreduce && plan.problem().items > 1) return saturating_multiply(2, one_tree);
  switch (collective(to_string(plan.problem().kind)).messages) {
    case Messages::exchange: return saturating_multiply(one_tree, P);
    case Messages::rounds: {
      const Rank last{static_cast<std::int32_t>(P - 1)};
      const LocalForm first = plan.local(Rank{0});
      const std::size_t rounds = std::max(first.sends.size() + first.readings.size(), plan.local(last).receives.size());
      return saturating_multiply(P, static_cast<std::int64_t>(rounds));
    }
    default: return one_tree;
  }
}

std::int64_t message_count(const Plan& plan, Rank rank) {
  if (plan.problem().kind == Kind::allreduce && plan.problem().items > 1) return message_count(plan) / plan.machine().P;
  const Messages messages = collective(to_string(plan.problem().kind)).messages;
  const bool all = messages == Messages::exchange || (messages == Messages::star && rank == plan.problem().root);
  if (all) return saturating_multiply(plan.machine().P - 1, plan.problem().items);
  return plan.machine().P > 1 && plan.problem().items > 1 ? plan.problem().items : 0;
}

PlanPtr make_plan(const Request& request) {
  if (!request.nodes.empty()) {
    if (!request.algorithm.empty() && request.algorithm != "leaders")
      throw Error("algorithm '{}' is unknown on clusters; there is leaders", request.algorithm);
    const Lanes lanes = request.algorithm.empty() ? Lanes::all : Lanes::leaders;
    return on_cluster({request.machine, request.nodes}, request.problem, lanes);
  }
  const Collective& row = collective(to_string(request.problem.kind));
  if (const auto tree = plain_tree_from(request.algorithm)) return plan_plain(*tree, request, row);
  if (!request.algorithm.empty() && row.kind != Kind::broadcast && row.kind != Kind::stream)
    throw Error("algorithm '{}' is unknown; for {} there are binomial, chain and flat", request.algorithm, row.name);
  return row.plan(request);
}

}  // namespace chasqui::plan
