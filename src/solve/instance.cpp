// SPDX-License-Identifier: MIT
#include "chasqui/solve/instance.hpp"

#include <fmt/format.h>

#include <numeric>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/collectives.hpp"

namespace chasqui::solve {
namespace {

constexpr std::int64_t kMostProcessors = 256;
constexpr std::int64_t kMostItems = 4096;
constexpr std::int64_t kMostTicks = 100'000;

void require(bool condition, const std::string& what, const std::string& remedy) {
  if (!condition) throw Error("{}: {}", what, remedy);
}

}  // namespace

std::string to_string(const Instance& instance) {
  const Problem& problem = instance.problem;
  const std::string machine =
      instance.nodes.empty() ? to_string(instance.machine) : to_string(Cluster{instance.machine, instance.nodes});
  std::string text = fmt::format("{} {}", to_string(problem.kind), machine);
  if (names_items(problem) && problem.kind != Kind::stream) text += fmt::format(" items={}", problem.items);
  if (has_root(problem.kind)) text += fmt::format(" root={}", problem.root.index);
  if (instance.single_sending) text += " single-sending";
  if (problem.kind == Kind::scan && problem.exclusive) text += " exclusive";
  if (!problem.commutative) text += " non-commutative";
  if (instance.two_values) text += " two-values";
  if (problem.kind == Kind::stream) text += fmt::format(" period={}", instance.period.ticks);
  return text;
}

void validate(const Instance& instance) {
  const Problem& problem = instance.problem;
  const LogP& machine = instance.machine;
  chasqui::validate(machine);
  chasqui::validate(problem, machine);
  const Kind kind = problem.kind;
  require(instance.nodes.empty(), "this search knows no nodes", "ask the one for clusters");
  require(plan::collective(to_string(kind)).solved, fmt::format("no exact search for {}", to_string(kind)),
          fmt::format("ask for {}", fmt::join(plan::collective_names(&plan::Collective::solved), ", ")));
  require(machine.P <= kMostProcessors, fmt::format("P={} is too large for exact search", machine.P),
          fmt::format("at most {} (use `plan`)", kMostProcessors));
  require(machine.lambda().ticks <= kMostTicks && machine.gap().ticks <= kMostTicks,
          fmt::format("{} has too many ticks for exact search", to_string(machine)),
          fmt::format("at most {} in L + 2o and in g (use a coarser unit of time)", kMostTicks));
  const std::int64_t sharers = kind == Kind::alltoall ? machine.P * machine.P : machine.P;
  require(problem.items <= kMostItems / sharers, fmt::format("items={} is too large for exact search", problem.items),
          fmt::format("at most {} items times {} (use `plan`)", kMostItems,
                      kind == Kind::alltoall ? "pairs of processors" : "processors"));
  require(!instance.single_sending || kind == Kind::broadcast, "single sending is a question about broadcasts",
          "leave it out");
  require(!instance.two_values || (combines(kind) && !names_items(problem)), "two values are a question about folds",
          "leave it out");
  require(problem.commutative || combines(kind), fmt::format("nothing is folded in {}", to_string(kind)),
          "leave out --non-commutative");
  require(problem.commutative || kind != Kind::reduce_scatter, "no exact search for a reduce-scatter in rank order",
          "leave out --non-commutative");
  require(problem.items == 1 || !combines(kind) || kind == Kind::reduce_scatter,
          fmt::format("no exact search for {} of {} items", to_string(kind), problem.items), "ask for one item");
  if (kind == Kind::stream) {
    require(instance.period.ticks >= 1 && instance.period.ticks % machine.gap().ticks == 0,
            fmt::format("period={} does not fit", instance.period.ticks),
            fmt::format("give a positive multiple of max(g, o) = {}", machine.gap().ticks));
    require(instance.period.ticks / machine.gap().ticks <= kMostItems / machine.P,
            fmt::format("period={} is too long for exact search", instance.period.ticks), "give a shorter one");
  } else {
    require(instance.period.ticks == 0, "only a stream has a period", "leave it out");
  }
}

std::int64_t scale(const Instance& instance) {
  const LogP& m = instance.machine;
  return std::gcd(std::gcd(m.L.ticks, m.o.ticks), std::gcd(m.g.ticks, instance.period.ticks));
}

Instance coarsened(const Instance& instance) {
  const std::int64_t c = scale(instance);
  Instance coarse = instance;
  for (Time* time : {&coarse.machine.L, &coarse.machine.o, &coarse.machine.g, &coarse.period}) time->ticks /= c;
  return coarse;
}

std::int64_t item_count(const Instance& instance) {
  switch (instance.problem.kind) {
    case Kind::broadcast: return instance.problem.items;
    case Kind::allgather: return instance.problem.items * instance.machine.P;
    case Kind::alltoall: return instance.problem.items * instance.machine.P * instance.machine.P;
    case Kind::stream: return instance.period.ticks / instance.machine.gap().ticks;
    default: CHASQUI_CHECK(false, "kind={}", to_string(instance.problem.kind)); return 0;
  }
}

Rank owner(const Instance& instance, std::int64_t item) {
  const std::int64_t share = item / instance.problem.items;
  if (instance.problem.kind == Kind::alltoall) return Rank{static_cast<std::int32_t>(share / instance.machine.P)};
  return instance.problem.kind == Kind::allgather ? Rank{static_cast<std::int32_t>(share)} : instance.problem.root;
}

bool wants(const Instance& instance, Rank rank, std::int64_t item) {
  if (instance.problem.kind != Kind::alltoall) return true;
  return item / instance.problem.items % instance.machine.P == rank.index;
}

Instance forwards(const Instance& instance) {
  Instance other = instance;
  if (other.problem.kind == Kind::reduce_scatter) other.problem.kind = Kind::allgather;
  return other;
}

Time birth(const Instance& instance, std::int64_t item) {
  return instance.problem.kind == Kind::stream ? item * instance.machine.gap() : Time{0};
}

}  // namespace chasqui::solve
