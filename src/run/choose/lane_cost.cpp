// SPDX-License-Identifier: MIT
#include "run/choose/lane_cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/plan/clusters.hpp"
#include "run/board/shape.hpp"
#include "run/choose/board_cost.hpp"
#include "run/choose/by_messages.hpp"
#include "run/messages/message_cost.hpp"
#include "run/messages/piped.hpp"
#include "run/messages/sized_machine.hpp"

namespace chasqui::run {
namespace {

/// Where not, the bytes of one rank are taken to fill its adapter.
bool knows_nodes(const Level& network) { return network.node_g.high > 0 || network.node_G.high > 0; }

double node_gap(const Level& network, double bytes) {
  const double gap = network.node_gap(port_time(network, 0));
  return std::min(port_time(network, bytes), std::max(gap, node_gap_per_byte(network) * bytes));
}

bool symmetric(Kind kind) { return kind == Kind::allreduce || kind == Kind::barrier; }

bool several(const Topology& topology) {
  return topology.board && topology.messages && topology.nodes > 1 && topology.smallest_node > 1;
}

/// What the lanes of a node tell it lies in slots; those of larger boards may be shorter.
bool fits_slot(const Query& query, const Topology& topology) {
  return query.bytes <= std::max(kSlotPayload, BoardShape::for_ranks(topology.largest_node).wide);
}

/// On lanes that carry whole values folds are in any order.
bool whole_values(const Query& query, const Topology& topology) {
  if (!several(topology)) return false;
  if (query.kind == Kind::broadcast) return true;
  if (!query.commutative) return false;
  return query.kind == Kind::reduce || (symmetric(query.kind) && fits_slot(query, topology));
}

/// Boards fold shares, or exchange them, and must have room for an element of each rank.
bool shares(const Query& query, const Topology& topology) {
  if (!several(topology) || topology.smallest_node != topology.largest_node || query.kind > Kind::barrier) return false;
  if (query.kind == Kind::barrier || (folds(query.kind) && !query.commutative && !topology.ordered)) return false;
  if (query.kind == Kind::scan && !topology.ordered) return false;
  const Kind inside = folds(query.kind) ? Kind::reduce_scatter : query.kind;
  return staged_element(inside, query.element, topology.largest_node) <= topology.largest_element;
}

/// Pieces of it may have leaders of their own.
bool led(const Query& query, const Topology& topology) {
  return query.kind == Kind::allreduce && query.commutative && several(topology);
}

/// The machine as the ranks of one place see it while those of all places send: each has a part of the adapter, and with every lane at
/// work messages cost what was measured with as many.
Profile with_shared_adapter(const Profile& profile, const Topology& topology) {
  Profile shared = profile;
  const Level& network = message_level(topology, profile);
  for (Level& level : shared.levels) {
    if (level.name != network.name) continue;
    const double lanes = topology.largest_node;
    level.G.value = std::max(level.G.value, lanes * node_gap_per_byte(network));
    level.g.value = std::max(level.g.value, lanes * node_gap(network, 0));
    if (level.lane_gaps.empty()) continue;
    const Level busy = with_everybody_sending(network, profile, {topology.nodes, topology.largest_node});
    level.lane_gaps = {{1, busy.g, busy.G}};
  }
  return shared;
}

/// What the styles with a lane for each rank cost.
class AllLanes {
 public:
  AllLanes(const Query& query, const Topology& topology, const Profile& profile)
      : query_(query), topology_(topology), profile_(profile), n_(topology.largest_node), N_(topology.nodes),
        bytes_(static_cast<double>(query.bytes)) {}

  LaneWay shares() const {
    const Choice between = fastest_between();
    const auto share = static_cast<double>(share_of().bytes);
    LaneWay way{LaneWay::Style::shares,
                {Method::two_level, between.nanoseconds, n_, {}},
                {between.method, between.parts},
                {},
                {}};
    way.choice.nanoseconds += inside(share);
    way.choice.why = fmt::format("{} lanes a node, a share each by {}", n_, to_string(way.between.method));
    return way;
  }

  std::optional<LaneWay> dealt() const {
    if (N_ == 2) return {};  // one message
    LaneWay way{LaneWay::Style::dealt, {Method::two_level, 0, std::min(n_, N_ - 1), {}}, {}, {}, {}};
    const double m = static_cast<double>(dealt_messages(N_, n_)), each = m * n_ + 1;
    const double node = n_ * bytes_;
    switch (query_.kind) {
      case Kind::gather:
        way.choice.nanoseconds = board(Kind::gather, bytes_) + straight(m, node) + board(Kind::gather, each * bytes_);
        break;
      case Kind::scatter:
        way.choice.nanoseconds = board(Kind::scatter, each * bytes_) + straight(m, node) + board(Kind::scatter, bytes_);
        break;
      case Kind::alltoall:
        way.choice.nanoseconds =
            board(Kind::alltoall, each * bytes_) + straight(m, n_ * node) + board(Kind::alltoall, m * node);
        break;
      case Kind::reduce_scatter:
        if (!query_.commutative) return {};
        way.choice.nanoseconds =
            board(Kind::reduce_scatter, m * node) + straight(m, node) + board(Kind::reduce_scatter, bytes_);
        break;
      case Kind::allgather: break;
      case Kind::scan:
        if (query_.commutative && fits_slot(query_, topology_)) break;
        [[fallthrough]];
      default: return {};
    }
    if (way.choice.nanoseconds == 0) choose_rounds(way);
    way.choice.why = way.radices.empty()
                         ? fmt::format("{} lanes a node, nodes dealt to them", way.choice.parts)
                         : fmt::format("{} lanes a node, {} round{} of radix {}", way.choice.parts, way.radices.size(),
                                       way.radices.size() == 1 ? "" : "s", way.radices.front());
    return way;
  }

 private:
  double board(Kind kind, double bytes) const { return board_time(profile_, kind, bytes, n_, topology_.shares_memory); }

  /// What a rank carries of it.
  Query share_of() const {
    const std::size_t ranks = static_cast<std::size_t>(n_), count = query_.bytes / query_.element;
    Query lane = query_;
    const bool cuts = query_.kind == Kind::broadcast || folds(query_.kind);
    if (cuts && query_.kind != Kind::reduce_scatter) lane.bytes = (count + ranks - 1) / ranks * query_.element;
    if (query_.kind == Kind::alltoall) lane.bytes *= ranks;
    return lane;
  }
  /// How it may get to the other nodes.
  Choice fastest_between() const {
    const Profile shared = with_shared_adapter(profile_, topology_);
    return fastest(choices_by_messages(share_of(), message_level(topology_, shared), N_, N_, shared));
  }

  /// What shares cost on the boards, before and after the messages.
  double inside(double share) const {
    switch (query_.kind) {
      case Kind::broadcast: return board(Kind::broadcast, bytes_) + board(Kind::allgather, share);
      case Kind::reduce: return board(Kind::reduce_scatter, share) + board(Kind::gather, share);
      case Kind::allreduce: return board(Kind::reduce_scatter, share) + board(Kind::allgather, share);
      case Kind::scan:
        return board(Kind::scan, bytes_) + board(Kind::reduce_scatter, share) + board(Kind::allgather, share);
      case Kind::alltoall: return board(Kind::alltoall, N_ * bytes_);
      default: return board(query_.kind, N_ * bytes_);
    }
  }

  /// `messages` of every lane, all lanes at once: first it sends, then it receives.
  double straight(double messages, double bytes) const {
    const int lanes = std::min(n_, N_ - 1);
    const Level level = with_everybody_sending(message_level(topology_, profile_), profile_, {N_, lanes});
    const double gamma = node_gap(level, bytes), o_r = level.o_r.value;
    const double gap = std::max({port_time(level, bytes), o_r, lanes * gamma});
    return std::max(flight_time(level, bytes) + (messages - 1) * gap, messages * (level.o_s.value + o_r)) +
           (lanes - 1) * gamma;
  }

  void choose_rounds(LaneWay& way) const {
    const bool scans = query_.kind == Kind::scan;
    const LaneCosts costs = lane_costs(query_, topology_, profile_);
    for (std::int64_t rounds = 1;; ++rounds) {
      auto radices = plan::equal_radices(N_, rounds);
      double time = scans ? board(Kind::scan, bytes_) + costs.allreduce : board(Kind::allgather, bytes_);
      double window = 1;
      for (const std::int64_t radix : radices) {
        const double lanes = static_cast<double>(std::min<std::int64_t>(n_, radix - 1));
        const double each = static_cast<double>(divide_up(radix - 1, std::min<std::int64_t>(n_, radix - 1)));
        const double message = scans ? bytes_ : window * n_ * bytes_;
        time += straight(each, message);
        time += scans ? costs.one_read + (lanes - 1) * costs.more_reads : board(Kind::allgather, each * message);
        window = std::min<double>(N_, window * static_cast<double>(radix));
      }
      if (radices.front() == 2) return;  // one lane
      if (way.radices.empty() || time < way.choice.nanoseconds) {
        way.choice.nanoseconds = time;
        way.choice.parts = std::min<std::int64_t>(n_, radices.front() - 1);
        way.radices = std::move(radices);
      }
    }
  }

  const Query& query_;
  const Topology& topology_;
  const Profile& profile_;
  int n_, N_;
  double bytes_;
};

}  // namespace

double node_gap_per_byte(const Level& network) { return knows_nodes(network) ? network.node_G.value : network.G.value; }

bool takes_lanes(const Query& query, const Topology& topology) {
  return whole_values(query, topology) || shares(query, topology) || led(query, topology);
}

LaneCosts lane_costs(const Query& query, const Topology& topology, const Profile& profile) {
  LaneCosts costs;
  costs.network = message_level(topology, profile);
  costs.bytes = static_cast<double>(query.bytes);
  const int ranks = topology.largest_node;
  if (symmetric(query.kind) && !costs.network.lane_gaps.empty()) {
    costs.network = with_everybody_sending(costs.network, profile, {topology.nodes, ranks});
    costs.port = crowded_port_time(costs.network, costs.bytes);
    costs.gamma = costs.port / ranks;
  } else {
    costs.port = port_time(costs.network, costs.bytes);
    costs.gamma = node_gap(costs.network, costs.bytes);
  }
  const auto on_board = [&](Kind kind) {
    return board_time(profile, kind, costs.bytes, ranks, topology.shares_memory);
  };
  costs.broadcast = on_board(Kind::broadcast);
  if (const Level* node = profile.level("node")) costs.read_share = node->read_share();
  costs.reduce = on_board(Kind::reduce);
  costs.allreduce = on_board(symmetric(query.kind) ? query.kind : Kind::allreduce);
  const LineCosts lines = line_costs(profile, ranks);
  const bool beside = query.bytes > kSlotPayload;
  const double further = query.bytes > kLinePayload ? kTwoLines : 1;
  costs.one_read = beside ? costs.broadcast : further * lines.publish;
  const double all = beside_lines_time(lines, Method::slots, Kind::allreduce, costs.bytes) - lines.publish;
  costs.more_reads = beside ? all / (ranks - 1) : further * lines.each;
  costs.in_slots = fits_slot(query, topology);
  return costs;
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
  Nodes nodes;
  nodes.add(n, N);
  const LanePlan planned = lane_plan(query.kind, nodes, 0, costs);
  if (planned.plan == nullptr) return {};
  std::int64_t lanes = 0;
  for (std::int32_t rank = 0; rank < planned.lanes; ++rank) {
    const LocalForm form = planned.plan->local({rank});
    if (!form.sends.empty() || !form.receives.empty()) ++lanes;
  }
  if (lanes < 2) return {};
  return Choice{Method::two_level, planned.nanoseconds, lanes,
                fmt::format("{} lanes a node, the tree of the cluster", lanes)};
}

/// An all-reduce in pieces that ranks lead by turns.
class Led {
 public:
  Led(const Query& query, const Topology& topology, const Profile& profile)
      : query_(query), topology_(topology), profile_(profile) {}

  LedCosts costs(const LedPieces& pieces) const {
    const Level& network = message_level(topology_, profile_);
    const double bytes = static_cast<double>(query_.bytes) / pieces.count;
    const auto on_board = [&](Kind kind) {
      return board_time(profile_, kind, bytes, topology_.largest_node, topology_.shares_memory);
    };
    return {topology_.nodes,
            topology_.largest_node > pieces.leaders,
            bytes,
            on_board(Kind::reduce),
            on_board(Kind::broadcast),
            with_everybody_sending(network, profile_, {topology_.nodes, pieces.leaders}),
            node_gap_per_byte(network)};
  }

  /// The fastest, if it is below the limit. A timetable takes a tenth of a millisecond, so what was found is remembered, by all that it
  /// depends on: ranks that ask for the same find the same.
  std::optional<LaneWay> best(double limit) const {
    static std::mutex mutex;
    static std::map<std::vector<double>, std::optional<LaneWay>> known;
    constexpr std::size_t kMost = 1024;
    std::vector<std::pair<int, LedCosts>> counts;
    std::vector<double> key = {limit, static_cast<double>(topology_.nodes),
                               static_cast<double>(topology_.smallest_node),
                               static_cast<double>(topology_.largest_node)};
    for (const int count : {2, 3, 4, 6, 8, 12, 16, 24, 32}) {
      if (query_.bytes / query_.element / static_cast<std::size_t>(count) < static_cast<std::size_t>(topology_.nodes))
        break;
      const LedCosts seen = costs({count, std::min(count, topology_.smallest_node)});
      // The adapter cannot begin before the first piece is folded, and the last must be handed out.
      const double link = 2 * (topology_.nodes - 1.0) / topology_.nodes * seen.bytes * seen.adapter * count;
      if (seen.fold + link + seen.hand_out + flight_time(seen.network, 0) >= limit) continue;
      counts.emplace_back(count, seen);
      const Level& level = seen.network;
      key.insert(key.end(), {static_cast<double>(count), seen.bytes, seen.fold, seen.hand_out, seen.adapter,
                             level.L.value, level.o_s.value, level.o_r.value, level.g.value, level.g.low, level.G.value,
                             level.shares_bandwidth ? 1.0 : 0.0, static_cast<double>(eager_bytes(level))});
    }
    if (counts.empty()) return {};
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
    if (known.size() >= kMost) known.clear();
    return known.emplace(std::move(key), searched(counts, limit)).first->second;
  }

 private:
  /// More pieces are tried until they are slower twice: numbers that the leaders share evenly are faster than those between.
  std::optional<LaneWay> searched(const std::vector<std::pair<int, LedCosts>>& counts, double limit) const {
    std::optional<LaneWay> found;
    for (const int radix : radices()) {
      double least = std::numeric_limits<double>::infinity();
      int slower = 0;
      for (const auto& [count, seen] : counts) {
        double time = std::numeric_limits<double>::infinity();
        for (const int lag : {count, 8, 6, 4}) {
          if (lag > count || (lag == count && time < std::numeric_limits<double>::infinity())) continue;
          const LedPieces tried{count, std::min(count, topology_.smallest_node), radix, lag};
          const double taken = led_timetable(tried, seen).nanoseconds;
          time = std::min(time, taken);
          if (taken >= limit) continue;
          limit = taken;
          found = LaneWay{LaneWay::Style::led, {Method::two_level, taken, tried.leaders, {}}, {}, {}, tried};
        }
        slower = time < least ? 0 : slower + 1;
        if (slower == 2) break;
        least = std::min(least, time);
      }
    }
    if (found)
      found->choice.why = fmt::format("{} lanes a node, {} pieces led by turns, boards while they arrive",
                                      found->pieces.leaders, found->pieces.count);
    return found;
  }

  /// Those that need fewer rounds than smaller ones.
  std::vector<int> radices() const {
    constexpr int kMost = 16;  // messages are a rank's own time
    std::vector<int> list;
    for (int rounds = 1; list.empty() || list.back() > 2; ++rounds) {
      const auto radix = static_cast<int>(std::ceil(std::pow(topology_.nodes, 1.0 / rounds) - 1e-9));
      if (radix <= kMost && (list.empty() || radix < list.back())) list.push_back(std::max(2, radix));
    }
    return list;
  }

  const Query& query_;
  const Topology& topology_;
  const Profile& profile_;
};

}  // namespace

std::optional<LaneWay> lane_way(const Query& query, const Topology& topology, const Profile& profile) {
  std::optional<LaneWay> best;
  const auto consider = [&](LaneWay way) {
    if (!best || way.choice.nanoseconds < best->choice.nanoseconds) best = std::move(way);
  };
  if (auto whole = by_whole_values(query, topology, profile))
    consider({LaneWay::Style::whole, std::move(*whole), {}, {}, {}});
  if (shares(query, topology)) {
    const AllLanes all(query, topology, profile);
    consider(all.shares());
    if (auto dealt = all.dealt()) consider(std::move(*dealt));
  }
  if (led(query, topology)) {
    const double limit = best ? best->choice.nanoseconds : std::numeric_limits<double>::infinity();
    if (auto way = Led(query, topology, profile).best(limit)) consider(std::move(*way));
  }
  return best;
}

namespace {

double item_on_board(Kind kind, double bytes, const Topology& topology, const Profile& profile) {
  return board_time(profile, kind, bytes, topology.largest_node, topology.shares_memory);
}

/// What a collective in items is made of.
std::vector<Kind> ways_of(Kind kind) {
  if (kind == Kind::allreduce) return {Kind::reduce, Kind::broadcast};
  return {kind};
}

}  // namespace

std::optional<Piped> piped_leaders(const Query& query, const Topology& topology, const Profile& profile) {
  const bool reduces = (query.kind == Kind::reduce || query.kind == Kind::allreduce) && query.commutative;
  if (!topology.board || topology.nodes < 2 || topology.largest_node < 2 || !topology.messages) return {};
  if (query.kind != Kind::broadcast && !reduces) return {};
  const Level& network = message_level(topology, profile);
  const auto bytes = static_cast<double>(query.bytes);
  const auto elements = static_cast<std::int64_t>(query.bytes / query.element);
  const std::int64_t most = std::min<std::int64_t>({elements, static_cast<std::int64_t>(query.bytes / 1024), 1024});
  std::optional<Piped> best;
  for (std::int64_t items = 2; items <= most; items += std::max<std::int64_t>(1, items / 8)) {
    const double item = bytes / static_cast<double>(items);
    double time = 0;
    for (const Kind kind : ways_of(query.kind)) {
      const double board = item_on_board(kind, item, topology, profile);
      const auto sized = item_machine(with_board(network, kind, board / 2, item), topology.nodes, item);
      time += items_time(sized, network, flight_time(network, item), items) + board;
    }
    if (!best || time < best->nanoseconds) best = {items, time};
  }
  if (!best) return {};
  const int nodes = topology.nodes;
  double apart = fastest(choices_by_messages(query, network, nodes, nodes, profile)).nanoseconds;
  for (const Kind kind : ways_of(query.kind)) apart += item_on_board(kind, bytes, topology, profile);
  return best->nanoseconds < apart ? best : std::nullopt;
}

Program program_on_lanes(const Shape& shape, const Query& query, std::int64_t lanes, const Nodes& nodes,
                         const std::vector<int>& ranks, const Topology& topology, const Profile& profile) {
  if (lanes < 2) {
    const auto piped = piped_leaders(query, topology, profile);
    if (!piped) return {};
    const double item = static_cast<double>(query.bytes) / static_cast<double>(piped->items);
    const auto busy = [&](Kind kind) {  // the other half is its readers' or its writers'
      return item_on_board(kind, item, topology, profile) / 2;
    };
    return piped_program(shape, nodes, ranks, piped->items, message_level(topology, profile), busy);
  }
  const auto way = lane_way(query, topology, profile);
  if (!way) return {};
  if (way->style == LaneWay::Style::whole)
    return lane_program(shape, lanes, nodes, ranks, lane_costs(query, topology, profile));
  if (way->style == LaneWay::Style::led) {
    const LedCosts costs = Led(query, topology, profile).costs(way->pieces);
    return led_program(shape, way->pieces, led_timetable(way->pieces, costs), nodes, ranks);
  }
  const OnNodes where{shape, nodes.count(), nodes.largest(), ranks};
  if (way->style == LaneWay::Style::dealt) return dealt_program(where, way->radices);
  const Profile shared = with_shared_adapter(profile, topology);
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

}  // namespace

std::vector<std::string> reason_for_lanes(const Query& query, const Topology& topology, const Profile& profile) {
  if (!takes_lanes(query, topology)) return {};
  const LaneCosts costs = lane_costs(query, topology, profile);
  std::vector<std::string> lines = {fmt::format("a rank can send every {:.3g} us, a node every {:.3g} us{}",
                                                costs.port / 1e3, costs.gamma / 1e3,
                                                knows_nodes(costs.network) ? "" : " (a guess)")};
  if (std::string numbers = by_number(query, topology, costs); !numbers.empty()) lines.push_back(std::move(numbers));
  return lines;
}

}  // namespace chasqui::run
