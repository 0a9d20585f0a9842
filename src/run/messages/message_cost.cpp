// SPDX-License-Identifier: MIT
#include "run/messages/message_cost.hpp"

#include <algorithm>
#include <limits>

namespace chasqui::run {
namespace {

constexpr std::int64_t kLeastSwitch = 1024;  ///< smaller ones are protocols inside the eager one

double pieces_time(const Level& level, double bytes, double eager) {
  return std::max(0.0, bytes / eager - 1) * std::max(level.g.value, level.o_s.value + level.o_r.value);
}
double round_trip(const Level& level) { return 2 * (level.L.value + level.o_s.value + level.o_r.value); }

}  // namespace

std::size_t eager_bytes(const Level& level) {
  for (const auto size : level.switches) {
    if (size >= kLeastSwitch) return static_cast<std::size_t>(size);
  }
  return std::numeric_limits<std::size_t>::max();
}

std::size_t piece_bytes(const Level& level, std::size_t bytes) {
  const std::size_t eager = eager_bytes(level);
  if (bytes <= eager) return bytes;
  const bool cuts = pieces_time(level, static_cast<double>(bytes), static_cast<double>(eager)) < round_trip(level);
  if (!cuts) return bytes;
  const std::size_t pieces = (bytes + eager - 1) / eager;
  return (bytes + pieces - 1) / pieces;
}

double protocol_time(const Level& level, double bytes) {
  const auto eager = static_cast<double>(eager_bytes(level));
  if (bytes <= eager) return 0;
  return std::min(round_trip(level), pieces_time(level, bytes, eager));
}

double flight_time(const Level& level, double bytes) {
  return level.o_s.value + level.L.value + level.G.value * bytes + level.o_r.value + protocol_time(level, bytes);
}

namespace {

/// Of one message among many. A lone one may cost more than the gap of a burst, which holds its overheads: the rank was
/// asleep, its caches are cold. Where the gap was not told from 0 the lone one's cost has to do.
double burst_overhead(const Level& level, double lone) {
  return level.g.low > 0 ? std::min(level.g.value, lone) : lone;
}

}  // namespace

double port_time(const Level& level, double bytes) {
  const double link = level.G.value * bytes;
  const double overhead = burst_overhead(level, level.o_s.value);
  return std::max(level.g.value, level.shares_bandwidth ? std::max(overhead, link) : overhead + link);
}

double crowded_port_time(const Level& crowd, double bytes) {
  if (crowd.shares_bandwidth) return port_time(crowd, bytes);
  return port_time(crowd, 0) + crowd.G.value * bytes;
}

double receive_port_time(const Level& level, double bytes) {
  return level.receives_in_parallel ? std::max(level.g.value, burst_overhead(level, level.o_r.value))
                                    : port_time(level, bytes);
}

double spread_step(const Level& level, double bytes) {
  const double both = level.o_s.value + level.o_r.value + (level.shares_bandwidth ? 0 : level.G.value * bytes);
  return std::max(port_time(level, bytes), both);
}

namespace {

/// What was measured with as many ranks of every node at work, or the next more that were tried; nullptr: nothing.
const LaneGap* measured_lanes(const Level& level, std::int64_t lanes) {
  if (level.lane_gaps.empty()) return nullptr;
  for (const LaneGap& gap : level.lane_gaps) {
    if (gap.lanes >= lanes) return &gap;
  }
  return &level.lane_gaps.back();
}

/// Of one rank, where the node's messages come from so many.
Estimate of_a_rank(const Estimate& gap, double lanes) { return {gap.value * lanes, gap.low * lanes, gap.high * lanes}; }

}  // namespace

Level with_everybody_sending(Level level, const Profile& profile, const Senders& senders) {
  if (const LaneGap* measured = measured_lanes(level, senders.lanes)) {
    const auto lanes = static_cast<double>(measured->lanes);
    const Estimate g = of_a_rank(measured->g, lanes), G = of_a_rank(measured->G, lanes);
    if (g.value > level.g.value) level.g = g;
    if (G.value > level.G.value) level.G = G;
    return level;
  }
  Estimate g = profile.bsp_g, G = profile.bsp_G;
  if (const std::int64_t ranks = senders.nodes * senders.lanes; ranks < level.ranks) {
    const double share = static_cast<double>(ranks) / static_cast<double>(level.ranks);
    g.value *= share;
    G.value *= share;
  }
  // A rank that sends and receives pays both overheads for a message; more than that is what ranks share.
  if (g.value > level.o_s.value + level.o_r.value && g.value > level.g.value) level.g = g;
  if (G.value > level.G.value) level.G = G;
  return level;
}

}  // namespace chasqui::run
