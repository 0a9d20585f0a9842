// SPDX-License-Identifier: MIT
// The table of collectives: kind, planner, what it takes, who offers it. A new collective is one line in collectives.cpp;
// commands, explorer, solvers and communicators read it from here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chasqui/plan/kernels.hpp"
#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

/// What is asked of a planner: a problem on a machine, and what a schedule's problem leaves open.
struct Request {
  LogP machine;
  Problem problem;
  std::optional<std::int64_t> operands{};  ///< sum: as many as these in the least time …
  std::optional<std::int64_t> time{};      ///< … or as many as fit into this time; one of the two
  std::string algorithm{};  ///< a plain tree by name; broadcast, stream: of stream_algorithms.hpp, too; empty: the best
  Nodes nodes{};            ///< a cluster: its ranks are machine.P; algorithm "leaders": one rank a node talks
  KernelTablePtr kernels{};  ///< broadcast, reduce: of K items, kernels beside the shipped ones
};

/// What only some collectives can be asked for.
enum Takes : unsigned {
  kRoot = 1,
  kItems = 2,
  kOperands = 4,
  kTime = 8,
  kNonCommutative = 16,
  kExclusive = 32,
  kAlgorithm = 64,
  kBytes = 128,
};

/// How many messages a schedule has.
enum class Messages {
  tree,      ///< k(P-1) in all
  star,      ///< the same, and all of them are the root's
  rounds,    ///< everybody sends as often as rank 0, or a little less
  exchange,  ///< k(P-1) of every rank
};

/// A row of the table. Names are those of to_string(Kind); `kitem` is a second name of broadcast.
struct Collective {
  std::string_view name;
  Kind kind;
  std::string_view summary;
  unsigned takes;  ///< the sum of its Takes
  Messages messages;
  bool called;  ///< run::Comm offers it
  bool solved;  ///< solve has an exact search for it
  PlanPtr (*plan)(const Request&);
};

/// All of them, in the order of `chasqui plan --help`.
const std::vector<Collective>& collectives();

/// Throws an Error that lists the names.
const Collective& collective(std::string_view name);

/// The names of all, or of those for which a field holds: `collective_names(&Collective::called)`.
std::vector<std::string> collective_names(bool Collective::*wanted = nullptr);

/// The kinds that run::Comm offers.
const std::vector<Kind>& called_kinds();

/// How many messages plan.schedule() would hold; an upper estimate where it goes by rounds. Saturates.
std::int64_t message_count(const Plan& plan);
/// Of those, how many plan.local(rank) would hold at least, where they grow with P or the items; 0 where they are few.
std::int64_t message_count(const Plan& plan, Rank rank);

/// The plan that the table's row of this kind makes. Throws an Error for what its planner refuses.
PlanPtr make_plan(const Request& request);

}  // namespace chasqui::plan
