// SPDX-License-Identifier: MIT
#include "run/choose/lane_cost.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "chasqui/base/error.hpp"
#include "run/choose/all_lanes_cost.hpp"
#include "run/choose/board_cost.hpp"
#include "run/choose/board_methods.hpp"
#include "run/choose/led_cost.hpp"
#include "run/messages/brought.hpp"
#include "run/messages/lanes.hpp"
#include "run/messages/message_cost.hpp"
#include "run/messages/piped.hpp"

namespace chasqui::run {
namespace {

bool several(const Topology& topology) {
  return topology.board && topology.messages && topology.nodes > 1 && topology.smallest_node > 1;
}

/// On lanes that carry whole values folds are in any order.
bool whole_values(const Query& query, const Topology& topology) {
  if (!several(topology)) return false;
  if (query.kind == Kind::broadcast) return true;
  if (!query.commutative) return false;
  return query.kind == Kind::reduce || (symmetric(query.kind) && fits_slot(query, topology));
}

/// Boards fold shares, or exchange them, and must have room for an element of each rank.
bool all_lanes(const Query& query, const Topology& topology) {
  if (!several(topology) || query.kind > Kind::barrier) return false;
  if (query.kind == Kind::barrier || (folds(query.kind) && !query.commutative && !topology.ordered)) return false;
  if (query.kind == Kind::scan && !topology.ordered) return false;
  const Kind inside = folds(query.kind) ? Kind::reduce_scatter : query.kind;
  return staged_element(inside, query.element, topology.largest_node) <= topology.largest_element;
}

bool shares(const Query& query, const Topology& topology) {
  return all_lanes(query, topology) && (cuts_values(query.kind) || topology.smallest_node == topology.largest_node);
}

bool dealt(const Query& query, const Topology& topology) {
  return all_lanes(query, topology) && deals_nodes(query, topology);
}

/// The collective that brings the contributions of a fold whose order no style with folds on the way keeps, or none as fast where values are
/// short; nothing for others.
std::optional<Query> brought_by(const Query& query, const Topology& topology) {
  const bool in_order = folds(query.kind) && (!query.commutative || (query.kind == Kind::scan && !topology.ordered));
  if (!in_order || query.kind > Kind::barrier) return {};
  const Query bring{bringing(query.kind), query.bytes, query.element, true};
  if (!shares(bring, topology) && !dealt(bring, topology)) return {};
  return bring;
}

/// Pieces of it may have leaders of their own.
bool led(const Query& query, const Topology& topology) {
  return query.kind == Kind::allreduce && query.commutative && several(topology);
}

}  // namespace

bool takes_lanes(const Query& query, const Topology& topology) {
  return whole_values(query, topology) || shares(query, topology) || dealt(query, topology) || led(query, topology) ||
         brought_by(query, topology);
}

namespace {

std::optional<Choice> by_whole_values(const Query& query, const Topology& topology, const Profile& profile) {
  if (!whole_values(query, topology)) return {};
  const LaneCosts costs = lane_costs(query, topology, profile);
  const std::int64_t N = topology.nodes, n = topology.smallest_node;
  if (symmetric(query.kind)) {
    std::optional<LaneWindows> best;
    for (std::int64_t lanes = n; lanes >= 2; lanes /= 2) {
      LaneWindows tried = lane_windows(N, lanes, costs);
      if (tried.lanes > 1 && (!best || tried.nanoseconds < best->nanoseconds)) best = std::move(tried);
    }
    if (!best) return {};
    const std::size_t rounds = best->radices.size();
    return Choice{Method::two_level, best->nanoseconds, best->lanes,
                  fmt::format("{} lanes a node, {} round{} of radix {}", best->lanes, rounds, rounds == 1 ? "" : "s",
                              best->radices.front())};
  }
  const Nodes nodes = sizes_alike(topology);
  const std::int64_t root = nodes.first_rank(usual_node(nodes));
  const LanePlan planned = lane_plan(query.kind, nodes, static_cast<int>(root), costs);
  if (planned.plan == nullptr) return {};
  std::int64_t lanes = 0;                                  // of the root's node
  const bool whole_nodes = query.kind == Kind::broadcast;  // in the plan of a reduction they have their lanes
  const std::int64_t first = whole_nodes ? root : nodes.node_of({static_cast<std::int32_t>(root)}) * planned.lanes;
  for (std::int64_t i = 0; i < (whole_nodes ? n : planned.lanes); ++i) {
    const LocalForm form = planned.plan->local({static_cast<std::int32_t>(first + i)});
    if (!form.sends.empty() || !form.receives.empty()) ++lanes;
  }
  if (lanes < 2) return {};
  return Choice{Method::two_level, planned.nanoseconds, lanes,
                fmt::format("{} lanes a node, the tree of the cluster", lanes)};
}

}  // namespace

namespace {

/// What whoever folds the contributions of so many ranks does, one after another.
double folding_time(const Query& query, int ranks, const Profile& profile) {
  constexpr double kFold =
      30;  // nanoseconds: a step of the player and a call of the operator (6 to 51 for 16 to 1024 ranks' doubles)
  const Level* node = profile.level("node");
  const double copy = node != nullptr ? node->copy.value : 0;
  return (ranks - 1) * (kFold + static_cast<double>(query.bytes) * copy);
}

LaneWay brought_way(const Query& query, const Query& bring, const Topology& topology, const Profile& profile) {
  LaneWay way = *lane_way(bring, topology, profile);
  way.style = LaneWay::Style::brought;
  way.choice.nanoseconds += folding_time(query, topology.ranks, profile);
  way.choice.why = fmt::format("{} lanes a node, {}, then folds in order", way.choice.parts, to_string(bring.kind));
  return way;
}

/// All styles that there are; of led pieces only those that are faster than the others.
std::vector<LaneWay> lane_ways(const Query& query, const Topology& topology, const Profile& profile) {
  std::vector<LaneWay> ways;
  if (auto whole = by_whole_values(query, topology, profile))
    ways.push_back({LaneWay::Style::whole, std::move(*whole), {}, {}, {}});
  if (shares(query, topology)) ways.push_back(shares_way(query, topology, profile));
  if (dealt(query, topology)) ways.push_back(dealt_way(query, topology, profile));
  if (const auto bring = brought_by(query, topology)) ways.push_back(brought_way(query, *bring, topology, profile));
  if (led(query, topology)) {
    double limit = std::numeric_limits<double>::infinity();
    for (const LaneWay& way : ways) limit = std::min(limit, way.choice.nanoseconds);
    if (auto way = led_way(query, topology, profile, limit)) ways.push_back(std::move(*way));
  }
  return ways;
}

}  // namespace

std::optional<LaneWay> lane_way(const Query& query, const Topology& topology, const Profile& profile) {
  std::vector<LaneWay> ways = lane_ways(query, topology, profile);
  const auto fastest = std::min_element(ways.begin(), ways.end(), [](const LaneWay& a, const LaneWay& b) {
    return a.choice.nanoseconds < b.choice.nanoseconds;
  });
  if (fastest == ways.end()) return {};
  return std::move(*fastest);
}

Program program_on_lanes(const Shape& shape, const Query& query, std::int64_t lanes, const Nodes& nodes,
                         const std::vector<int>& ranks, const Topology& topology, const Profile& profile) {
  if (lanes < 2) {
    const auto piped = piped_leaders(query, topology, profile);
    if (!piped) return {};
    const double item = static_cast<double>(query.bytes) / static_cast<double>(piped->items);
    const auto busy = [&](Kind kind) {  // the other half is its readers' or its writers'
      return board_time(profile, kind, item, topology.largest_node, topology.shares_memory) / 2;
    };
    return piped_program(shape, nodes, ranks, piped->items, message_level(topology, profile), busy);
  }
  const auto way = lane_way(query, topology, profile);
  if (!way) return {};
  if (way->style == LaneWay::Style::whole)
    return lane_program(shape, lanes, nodes, ranks, lane_costs(query, topology, profile));
  if (way->style == LaneWay::Style::led) {
    const LedCosts costs = led_costs(way->pieces, query, topology, profile);
    return led_program(shape, way->pieces, led_timetable(way->pieces, costs), nodes, ranks);
  }
  if (way->style == LaneWay::Style::brought) {
    Shape bring = shape;
    bring.kind = bringing(shape.kind);
    bring.commutative = true;
    bring.exclusive = false;
    const Program brings =
        program_on_lanes(bring, *brought_by(query, topology), way->choice.parts, nodes, ranks, topology, profile);
    return brought_program(shape, ranks[static_cast<std::size_t>(shape.rank)], brings);
  }
  const OnNodes where{shape, nodes, ranks};
  if (way->style == LaneWay::Style::dealt) return dealt_program(where, way->radices);
  const Profile shared = with_shared_adapter(profile, topology, topology.smallest_node);
  return share_program(where, way->between, {message_level(topology, shared), shared, topology.nodes});
}

namespace {

/// What each number of lanes would take, where they carry whole values and every number can be had; else empty.
std::string by_number(const Query& query, const Topology& topology, const LaneCosts& costs) {
  if (!symmetric(query.kind) || !whole_values(query, topology)) return {};
  std::string text;
  for (std::int64_t lanes = 1; lanes <= topology.smallest_node; lanes *= 2) {
    const double time = lane_windows(topology.nodes, lanes, costs).nanoseconds / 1e3;
    text += lanes == 1 ? fmt::format("1 lane {:.3g} us", time)
                       : fmt::format(", {}{}: {:.3g}", lanes == 2 ? "up to " : "", lanes, time);
  }
  return text;
}

const char* name_of(LaneWay::Style style) {
  switch (style) {
    case LaneWay::Style::whole: return "whole values";
    case LaneWay::Style::shares: return "shares";
    case LaneWay::Style::dealt: return "dealt nodes";
    case LaneWay::Style::led: return "led pieces";
    case LaneWay::Style::brought: return "all values";
  }
  return "";
}

/// In microseconds, three digits or whole ones.
std::string in_microseconds(double nanoseconds) {
  const double time = nanoseconds / 1e3;
  return time < 1000 ? fmt::format("{:.3g}", time) : fmt::format("{:.0f}", time);
}

/// "shares on 4 lanes 8.34 us, dealt nodes on 3: 7.2"
std::string by_style(const Query& query, const Topology& topology, const Profile& profile) {
  std::string text;
  for (const LaneWay& way : lane_ways(query, topology, profile)) {
    const std::string time = in_microseconds(way.choice.nanoseconds);
    text += text.empty() ? fmt::format("{} on {} lanes {} us", name_of(way.style), way.choice.parts, time)
                         : fmt::format(", {} on {}: {}", name_of(way.style), way.choice.parts, time);
  }
  return text;
}

}  // namespace

std::vector<std::string> reason_for_lanes(const Query& query, const Topology& topology, const Profile& profile) {
  if (!takes_lanes(query, topology)) return {};
  const LaneCosts costs = lane_costs(query, topology, profile);
  std::vector<std::string> lines = {fmt::format("a rank can send every {:.3g} us, a node every {:.3g} us{}",
                                                costs.port / 1e3, costs.gamma / 1e3,
                                                knows_nodes(costs.network) ? "" : " (a guess)")};
  if (std::string numbers = by_number(query, topology, costs); !numbers.empty()) lines.push_back(std::move(numbers));
  if (std::string styles = by_style(query, topology, profile); !styles.empty()) lines.push_back(std::move(styles));
  if (topology.smallest_node != topology.largest_node)
    lines.push_back(fmt::format("nodes of {} to {} ranks: counted are lanes that all of them have",
                                topology.smallest_node, topology.largest_node));
  return lines;
}

}  // namespace chasqui::run
