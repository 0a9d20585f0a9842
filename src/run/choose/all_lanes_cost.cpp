// SPDX-License-Identifier: MIT
#include "run/choose/all_lanes_cost.hpp"

#include <algorithm>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/plan/clusters.hpp"
#include "run/choose/board_cost.hpp"
#include "run/choose/by_messages.hpp"
#include "run/choose/line_cost.hpp"
#include "run/choose/network_cost.hpp"
#include "run/messages/message_cost.hpp"

namespace chasqui::run {
namespace {

/// What the styles with a lane for each rank cost. Where nodes differ, dealt nodes take as long as the smallest or the largest among large
/// ones, or with a root as its node; shares have the lanes of the smallest and the boards of the largest.
class AllLanes {
 public:
  AllLanes(const Query& query, const Topology& topology, const Profile& profile)
      : query_(query), topology_(topology), profile_(profile), n_(topology.largest_node),
        lanes_(topology.smallest_node), N_(topology.nodes), bytes_(static_cast<double>(query.bytes)) {}

  LaneWay shares() const {
    const Choice between = fastest_between();
    const auto share = static_cast<double>(share_of().bytes);
    LaneWay way{LaneWay::Style::shares,
                {Method::two_level, between.nanoseconds, lanes_, {}},
                {between.method, between.parts},
                {},
                {}};
    way.choice.nanoseconds += inside(share);
    way.choice.why = fmt::format("{} lanes a node, a share each by {}", lanes_, to_string(way.between.method));
    return way;
  }

  LaneWay dealt() const {
    LaneWay way{LaneWay::Style::dealt, {Method::two_level, 0, std::min(lanes_, N_ - 1), {}}, {}, {}, {}};
    if (query_.kind == Kind::allgather || query_.kind == Kind::scan) choose_rounds(way);
    else if (has_root(query_.kind)) way.choice.nanoseconds = straight_time(usual_size());
    else way.choice.nanoseconds = slowest([&](int n) { return straight_time(n); });
    way.choice.why = way.radices.empty()
                         ? fmt::format("{} lanes a node, nodes dealt to them", way.choice.parts)
                         : fmt::format("{} lanes a node, {} round{} of radix {}", way.choice.parts, way.radices.size(),
                                       way.radices.size() == 1 ? "" : "s", way.radices.front());
    return way;
  }

 private:
  double board(Kind kind, double bytes, int ranks) const {
    return board_time(profile_, kind, bytes, ranks, topology_.shares_memory);
  }
  double board(Kind kind, double bytes) const { return board(kind, bytes, n_); }

  /// A node of `n` ranks among large ones takes time(n): few have many messages each, many have more on their board.
  template <typename F>
  double slowest(const F& time) const {
    return std::max(time(n_), lanes_ == n_ ? 0 : time(lanes_));
  }

  int usual_size() const {
    const Nodes nodes = sizes_alike(topology_);
    return static_cast<int>(nodes.size(usual_node(nodes)));
  }

  double straight_time(int n) const {
    const double m = static_cast<double>(dealt_messages(N_, n)), each = m * n_ + 1;
    const double node = n_ * bytes_;
    switch (query_.kind) {
      case Kind::gather:
        return board(Kind::gather, bytes_) + straight(m, node, n) + board(Kind::gather, each * bytes_, n);
      case Kind::scatter:
        return board(Kind::scatter, each * bytes_, n) + straight(m, node, n) + board(Kind::scatter, bytes_);
      case Kind::alltoall:
        return board(Kind::alltoall, each * bytes_, n) + straight(m, n * node, n) + board(Kind::alltoall, m * node, n);
      default:
        return board(Kind::reduce_scatter, m * node, n) + straight(m, node, n) + board(Kind::reduce_scatter, bytes_, n);
    }
  }

  /// What a rank carries of it.
  Query share_of() const {
    const std::size_t lanes = static_cast<std::size_t>(lanes_), count = query_.bytes / query_.element;
    Query lane = query_;
    if (cuts_values(query_.kind)) lane.bytes = (count + lanes - 1) / lanes * query_.element;
    if (query_.kind == Kind::alltoall) lane.bytes *= lanes;
    return lane;
  }
  /// How it may get to the other nodes.
  Choice fastest_between() const {
    const Profile shared = with_shared_adapter(profile_, topology_, lanes_);
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

  /// `messages` of every lane of a node of `n` ranks, all lanes at once: first it sends, then it receives.
  double straight(double messages, double bytes, int n) const {
    const int lanes = std::min(n, N_ - 1);
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
        const double message = scans ? bytes_ : window * n_ * bytes_;
        time += slowest([&](int n) {
          const std::int64_t lanes = std::min<std::int64_t>(n, radix - 1);
          const auto each = static_cast<double>(divide_up(radix - 1, lanes));
          const double told = scans ? costs.one_read + static_cast<double>(lanes - 1) * costs.more_reads
                                    : board(Kind::allgather, each * message, n);
          return straight(each, message, n) + told;
        });
        window = std::min<double>(N_, window * static_cast<double>(radix));
      }
      if (radices.front() == 2) return;  // one lane
      if (way.radices.empty() || time < way.choice.nanoseconds) {
        way.choice.nanoseconds = time;
        way.choice.parts = std::min<std::int64_t>(lanes_, radices.front() - 1);
        way.radices = std::move(radices);
      }
    }
  }

  const Query& query_;
  const Topology& topology_;
  const Profile& profile_;
  int n_, lanes_;  ///< ranks of the largest node, and of the smallest
  int N_;
  double bytes_;
};

}  // namespace

LaneWay shares_way(const Query& query, const Topology& topology, const Profile& profile) {
  return AllLanes(query, topology, profile).shares();
}

bool deals_nodes(const Query& query, const Topology& topology) {
  if (topology.nodes == 2) return false;  // one message
  switch (query.kind) {
    case Kind::gather:
    case Kind::scatter:
    case Kind::allgather:
    case Kind::alltoall: return true;
    case Kind::reduce_scatter: return query.commutative;
    case Kind::scan: return query.commutative && fits_slot(query, topology);
    default: return false;
  }
}

LaneWay dealt_way(const Query& query, const Topology& topology, const Profile& profile) {
  return AllLanes(query, topology, profile).dealt();
}

}  // namespace chasqui::run
