// SPDX-License-Identifier: MIT
#include "run/choose/board_cost.hpp"

#include <algorithm>

#include "run/board/board.hpp"
#include "run/board/process_memory.hpp"
#include "run/choose/grouping.hpp"

namespace chasqui::run {
namespace {

constexpr double kClearly = 0.9;  ///< less is within what times differ from run to run

const Level& node_of(const Profile& profile) {
  const Level* found = profile.level("node");
  return found != nullptr ? *found : profile.levels.front();
}

/// Was the whole measurement one node's?
bool one_node(const Profile& profile) {
  const Level* network = profile.level("network");
  return network == nullptr || network->ranks == node_of(profile).ranks;
}

const Times* table(const std::map<std::string, Times>& tables, Kind kind) {
  const auto found = tables.find(std::string(to_string(kind)));
  return found == tables.end() || found->second.empty() ? nullptr : &found->second;
}

/// What a slot holds.
std::size_t slot_bytes(Kind kind, double bytes, int ranks) {
  return static_cast<std::size_t>(kind == Kind::scatter ? bytes * ranks : bytes);
}

Way board_way(const Level& node, Kind kind, double bytes, int ranks, bool threads) {
  const std::size_t slot = slot_bytes(kind, bytes, ranks);
  if (kind == Kind::barrier || slot <= kSlotPayload) return Way::slots;
  const LineCosts costs{ranks, node.publish.value, node.publish_per_rank.value};
  const BoardShape shape = threads ? BoardShape::for_threads(ranks) : BoardShape::for_ranks(ranks);
  return SlotLimits(costs, shape.wide, threads).way(kind, slot);
}

/// How often each byte is copied, in units of everybody copying at once; a root that copies alone is faster.
double passes_of(Kind kind, int ranks, bool threads) {
  switch (kind) {
    case Kind::scan: return ranks;
    case Kind::allreduce: return threads ? 2 : 2.8;
    case Kind::reduce: return threads ? 1 : 2.4;
    case Kind::gather:
    case Kind::scatter: return threads ? 1 : 0.6;
    default: return threads ? 1 : 1.3;
  }
}

/// From the cost of publishing and copying alone.
double modelled(const Level& node, Kind kind, double bytes, int ranks, bool threads) {
  const std::size_t slot = slot_bytes(kind, bytes, ranks);
  const double others = ranks - 1;
  const bool one_writer = kind == Kind::broadcast || kind == Kind::scatter;
  const double lines = (one_writer ? 0 : others * node.publish_per_rank.value) + node.publish.value;
  if (bytes <= static_cast<double>(kSlotPayload)) {
    const int parts = bytes > static_cast<double>(kLinePayload) ? 2 : 1;
    if (kind == Kind::allreduce || kind == Kind::barrier || (kind == Kind::reduce && parts == 2)) {
      const double publish = node.publish.value, each = node.publish_per_rank.value;
      return fold_time(ranks, parts, fold_group(ranks, parts, publish, each), publish, each);
    }
    if (slot <= kSlotPayload) return parts == 2 ? 1.7 * lines : lines;
  }
  if (const Way way = board_way(node, kind, bytes, ranks, threads); way != Way::direct && way != Way::staged) {
    return way_time({ranks, node.publish.value, node.publish_per_rank.value}, way, kind, static_cast<double>(slot));
  }
  const bool blocks = kind == Kind::allgather || ((kind == Kind::gather || kind == Kind::scatter) && !threads);
  const double all = blocks ? ranks : 1;  // threads take their block from the root, or put it there, all at once
  return 2 * lines + passes_of(kind, ranks, threads) * all * bytes * node.copy.value;
}

/// The same by the kernel: every call costs something, and so does every page, more where many want pages of one table.
double modelled_across(const Level& node, Kind kind, double bytes, int ranks) {
  constexpr double kPage = 4096, kPagesOfTable = 512;                 // bytes; pages
  constexpr double kCall = 1500, kLookUp = 120, kLookUpInTurn = 400;  // nanoseconds
  const double others = ranks - 1;
  const double lines = others * node.publish_per_rank.value + node.publish.value;
  const double pages = bytes / kPage, copy = bytes * node.copy.value;
  const double in_turn = kLookUpInTurn * std::min(kPagesOfTable, pages);
  const double fold = 1.2 * copy + pages * kLookUp + others * kCall;  // from one partner after another
  switch (kind) {
    case Kind::gather:
    case Kind::scatter: {
      const double served = bytes < static_cast<double>(kServedBelow) ? (ranks - 1) / 2 : 0;
      const double looked_up = kLookUpInTurn * std::min(kPagesOfTable, (others - served) * pages);
      return 2 * lines + kCall + copy + std::max(looked_up, served * copy * passes_of(kind, ranks, false));
    }
    case Kind::reduce: return 2 * lines + fold + in_turn;
    case Kind::allreduce: return 2 * lines + fold + 1.3 * copy;
    default: return 2 * lines + others * (kCall + 1.7 * copy + pages * kLookUp);
  }
}

/// The measured point at or below a size and the one above it.
std::pair<std::size_t, std::size_t> neighbours(const Times& times, double bytes) {
  std::size_t i = 0;
  while (i + 1 < times.size() && static_cast<double>(times[i + 1].first) <= bytes) ++i;
  return {i, std::min(i + 1, times.size() - 1)};
}

}  // namespace

double at_size(const Times& times, double bytes) {
  auto [i, j] = neighbours(times, bytes);
  if (i == j && i > 0) --i;
  const auto& [low, t0] = times[i];
  const auto& [high, t1] = times[j];
  if (bytes <= static_cast<double>(low) || i == j) return t0;
  const double slope = (t1 - t0) / static_cast<double>(high - low);
  return std::max(t0 + (bytes - static_cast<double>(low)) * slope, bytes <= static_cast<double>(high) ? 0 : t1);
}

Way board_way(const Profile& profile, Kind kind, double bytes, int ranks, bool threads) {
  return board_way(node_of(profile), kind, bytes, ranks, threads);
}

double board_time(const Profile& profile, Kind kind, double bytes, int ranks, bool threads) {
  const Level& node = node_of(profile);
  const double model = modelled(node, kind, bytes, ranks, threads);
  const Times* times = table(profile.measured, kind);
  if (times == nullptr || !one_node(profile) || node.threads != threads || node.ranks < 1) return model;
  const double measured = at_size(*times, bytes);
  const auto there = static_cast<int>(node.ranks);
  return there == ranks ? measured : measured * model / std::max(1.0, modelled(node, kind, bytes, there, threads));
}

double across_time(const Profile& profile, Kind kind, double bytes, int ranks) {
  const Level& node = node_of(profile);
  const double model = modelled_across(node, kind, bytes, ranks);
  const Times* times = table(profile.across, kind);
  if (times == nullptr || !one_node(profile) || node.threads || node.ranks < 1) return model;
  if (bytes < static_cast<double>(times->front().first))
    return std::max(model, board_time(profile, kind, bytes, ranks, false));
  const double measured = at_size(*times, bytes);
  const auto there = static_cast<int>(node.ranks);
  return there == ranks ? measured : measured * model / std::max(1.0, modelled_across(node, kind, bytes, there));
}

std::optional<NativeTime> native_time(const Profile& profile, const Terrain& terrain, Kind kind, double bytes) {
  const Times* theirs = table(profile.native, kind);
  const Times* ours = table(profile.measured, kind);
  if (theirs == nullptr || ours == nullptr || theirs->size() != ours->size()) return {};
  const Level* network = profile.level("network");
  const std::int64_t ranks = network != nullptr ? network->ranks : node_of(profile).ranks;
  if (terrain.ranks != ranks || (terrain.nodes == 1) != one_node(profile)) return {};
  const auto [i, j] = neighbours(*theirs, bytes);
  const Times* across = terrain.reaches ? table(profile.across, kind) : nullptr;
  const auto clearly = [&](std::size_t k) {
    double least = (*ours)[k].second;
    if (across != nullptr && (*ours)[k].first >= across->front().first) {
      least = std::min(least, at_size(*across, static_cast<double>((*ours)[k].first)));
    }
    return (*theirs)[k].second < kClearly * least;
  };
  return NativeTime{at_size(*theirs, bytes), clearly(i) && clearly(j)};
}

}  // namespace chasqui::run
