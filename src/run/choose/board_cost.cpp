// SPDX-License-Identifier: MIT
#include "run/choose/board_cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "run/board/process_memory.hpp"
#include "run/board/shape.hpp"
#include "run/call/kinds.hpp"
#include "run/choose/level_cost.hpp"

namespace chasqui::run {
namespace {

constexpr double kClearly = 0.9;  ///< less is within what times differ from run to run

/// Was the whole measurement one node's?
bool one_node(const Profile& profile) {
  const Level* network = profile.level("network");
  return network == nullptr || network->ranks == node_level(profile).ranks;
}

const Times* table(const std::map<std::string, Times>& tables, Kind kind) {
  const auto found = tables.find(std::string(to_string(kind)));
  return found == tables.end() || found->second.empty() ? nullptr : &found->second;
}

/// How often each byte is copied, in units of everybody copying at once; a root that copies alone is faster. From the rows
/// of 64 KiB to 4 MiB on 16 ranks in docs/results.md, "Threads and processes", and of 512 B to 1 MiB in docs/laboratory/all-to-all.md, "Each
/// method forced"; most also from 2 and 4: the more copy at once, the longer each takes.
double passes_of(Kind kind, int ranks, bool threads) {
  const double doublings = std::log2(ranks);
  switch (kind) {
    case Kind::scan: return threads ? 1.5 : 2.5;
    case Kind::allreduce: return 0.5 + (threads ? 0.62 : 0.58) * doublings;
    case Kind::reduce: return 0.5 + (threads ? 0.22 : 0.48) * doublings;
    case Kind::gather:
    case Kind::scatter: return threads ? 0.1 + 0.3 * doublings : 0.6;
    case Kind::alltoall: return threads ? 1 : 3.02 * (ranks - 1) / ranks - 0.79;
    case Kind::reduce_scatter: return threads ? 1 : 2.4 * (ranks - 1) / ranks - 0.63;
    case Kind::allgather: return threads ? 0.45 + 0.16 * doublings : 1;
    default: return threads ? 0.1 + 0.18 * doublings : 1.3;
  }
}

/// What boards of the usual shape do, remembered for the last costs: who makes a communicator's table asks hundreds of times.
const std::vector<MethodFrom>& methods_for(const LineCosts& costs, Kind kind, bool threads) {
  struct Known {
    LineCosts costs;
    bool threads = false;
    std::map<Kind, std::vector<MethodFrom>> rows;
  };
  thread_local Known known;
  if (!(known.costs == costs) || known.threads != threads) known = {costs, threads, {}};
  std::vector<MethodFrom>& row = known.rows[kind];
  if (row.empty()) row = usual_methods(costs, kind, threads);
  return row;
}

/// From the cost of publishing and copying alone.
class Modelled {
 public:
  Modelled(const Profile& profile, int ranks, bool threads, const std::shared_ptr<const Nearness>& near)
      : costs_(line_costs(profile, ranks, near)), ranks_(ranks), threads_(threads),
        copy_(node_level(profile).copy.value) {}

  /// No longer than other collectives that do as much.
  double time(Kind kind, double bytes) const {
    const double own = of_sizes(kind, bytes);
    if (kind == Kind::reduce) return std::min(own, of_sizes(Kind::allreduce, bytes));
    if (kind == Kind::allreduce) return std::min(own, of_sizes(Kind::reduce, bytes) + of_sizes(Kind::broadcast, bytes));
    if (kind == Kind::broadcast && !threads_) return std::min(own, of_sizes(Kind::allreduce, bytes));
    if (kind == Kind::allgather && !threads_) return std::min(own, of_sizes(Kind::alltoall, bytes));
    return own;
  }

 private:
  /// Methods have formulas of their own, fitted to some sizes each, and where one ends and the next begins they may jump. What was
  /// measured does not (`chasqui cliffs --mpi` on 16 cores): no size takes longer than a larger one, nor than two calls of half of it.
  double of_sizes(Kind kind, double bytes) const {
    const std::vector<MethodFrom>& methods = methods_for(costs_, kind, threads_);
    if (kind == Kind::barrier || bytes <= 0) return formula(kind, bytes, methods);
    constexpr double kLeast = 8, kMost = 1 << 17;
    double least = formula(kind, bytes, methods);
    for (double size = 2 * bytes; size <= kMost; size *= 2) least = std::min(least, formula(kind, size, methods));
    for (double size = bytes / 2, calls = 2; size >= kLeast; size /= 2, calls *= 2)
      least = std::min(least, calls * formula(kind, size, methods));
    return least;
  }

  double formula(Kind kind, double bytes, const std::vector<MethodFrom>& methods) const {
    const double others = ranks_ - 1;
    const bool one_writer = kind == Kind::broadcast || kind == Kind::scatter;
    const double lines = (one_writer ? 0 : others * costs_.each) + costs_.publish;
    const bool exchanges = kind == Kind::alltoall || kind == Kind::reduce_scatter;
    const double slot = kind == Kind::scatter || exchanges ? bytes * ranks_ : bytes;
    const int parts = (exchanges ? slot : bytes) > static_cast<double>(kLinePayload) ? 2 : 1;
    const Method method = entry_at(methods, static_cast<std::size_t>(bytes)).method;
    switch (method) {
      case Method::relay: return relay_time(costs_, bytes);
      case Method::level_fold: return level_fold_time(costs_, kind, bytes);
      case Method::grouped_fold:
        if (bytes > static_cast<double>(kSlotPayload)) return beside_lines_time(costs_, method, kind, bytes);
        return grouped_fold_time(costs_, parts, best_groups(costs_, parts));
      case Method::slots:
        if (slot <= static_cast<double>(kSlotPayload)) return parts == 2 ? kTwoLines * lines : lines;
        [[fallthrough]];
      case Method::shared_fold:
      case Method::exposed_fold: return beside_lines_time(costs_, method, kind, slot);
      default: break;
    }
    const double work = passes_of(kind, ranks_, threads_) * bytes * copy_;
    if (kind == Kind::scan) return pipeline_time(costs_, work);
    const bool blocks =
        kind == Kind::allgather || exchanges || ((kind == Kind::gather || kind == Kind::scatter) && !threads_);
    const double handshakes = exchanges && !threads_ ? 0.9 + 1.5 * std::log2(ranks_) : 2;
    return handshakes * lines + (blocks ? ranks_ : 1) * work;  // threads take their block, or put it there, all at once
  }

  LineCosts costs_;
  int ranks_;
  bool threads_;
  double copy_;
};

double modelled(const Profile& profile, Kind kind, double bytes, int ranks, bool threads,
                const std::shared_ptr<const Nearness>& near) {
  return Modelled(profile, ranks, threads, near).time(kind, bytes);
}

/// By cross-memory every call of the kernel costs something, and so does every page, more where many want pages of one table.
/// From trials on 16 bare processes (docs/laboratory/memory.md, "Reaching into the others' memory"), exchanges from 256 B to
/// 256 KiB a block (all-to-all.md there): there everybody is called upon all the time, and a call takes longer.
double modelled_cross_memory(const Level& node, Kind kind, double bytes, int ranks, bool lent) {
  constexpr double kPage = 4096, kPagesOfTable = 512;                                    // bytes; pages
  constexpr double kCall = 1500, kLookUp = 120, kLookUpInTurn = 400, kLookUpAlone = 50;  // nanoseconds
  constexpr double kCallOfAll = 3400;                                                    // of an exchange
  constexpr double kLoan = 1200;  // a call that lends, and one that takes
  const double others = ranks - 1;
  const double lines = others * node.publish_per_rank.value + node.publish.value;
  const double pages = bytes / kPage, copy = bytes * node.copy.value;
  const double in_turn = kLookUpInTurn * std::min(kPagesOfTable, pages);
  const double fold = 1.2 * copy + pages * kLookUp + others * kCall;  // from one partner after another
  switch (kind) {
    case Kind::gather:
    case Kind::scatter: {
      const double served = bytes < static_cast<double>(kServedBelow) ? (ranks - 1) / 2 : 0;
      // Readers of pages of one table take turns, one alone does not (docs/laboratory/memory.md, "Fewer ranks").
      const double readers = std::max(1.0, others - served);
      const double page = kLookUpInTurn + (kLookUpAlone - kLookUpInTurn) / readers;
      const double looked_up = page * std::min(kPagesOfTable, readers * pages);
      const double moved = (0.55 + 0.11 * std::log2(ranks)) * copy;
      return 2 * lines + kCall + moved + std::max(looked_up, served * copy * passes_of(kind, ranks, false));
    }
    case Kind::reduce: return 2 * lines + fold + in_turn;
    case Kind::alltoall: {
      const double moved = (0.65 + 0.17 * std::log2(ranks)) * copy;
      return 2 * lines +
             others * ((lent && lends_pages(kind, static_cast<std::size_t>(bytes), ranks) ? kLoan : kCallOfAll) +
                       moved + pages * kLookUp);
    }
    case Kind::reduce_scatter: return 2 * lines + others * (kCallOfAll + 1.7 * copy + pages * kLookUp);
    // On 16 ranks as long as over the board; on fewer, or in place, longer (docs/pytorch.md).
    case Kind::allreduce: return 2 * lines + fold + 1.6 * copy;
    default: return 2 * lines + others * (kCall + (0.95 + 0.11 * std::log2(ranks)) * copy + pages * kLookUp);
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

double board_time(const Profile& profile, Kind kind, double bytes, int ranks, bool threads,
                  const std::shared_ptr<const Nearness>& near) {
  const Level& node = node_level(profile);
  const Times* times = table(profile.measured, kind);
  const auto model = [&] { return modelled(profile, kind, bytes, ranks, threads, near); };
  if (times == nullptr || !one_node(profile) || node.threads != threads || node.ranks < 1) return model();
  const double measured = at_size(*times, bytes);
  const auto there = static_cast<int>(node.ranks);
  return there == ranks ? measured
                        : measured * model() / std::max(1.0, modelled(profile, kind, bytes, there, threads, nullptr));
}

double cross_memory_time(const Profile& profile, Kind kind, double bytes, int ranks, bool lent) {
  const Level& node = node_level(profile);
  const double model = modelled_cross_memory(node, kind, bytes, ranks, lent);
  const Times* times = table(profile.cross_memory, kind);
  if (times == nullptr || !one_node(profile) || node.threads || node.ranks < 1) return model;
  if (bytes < static_cast<double>(times->front().first))
    return std::max(model, board_time(profile, kind, bytes, ranks, false));
  const double measured = at_size(*times, bytes);
  const auto there = static_cast<int>(node.ranks);
  return there == ranks ? measured
                        : measured * model / std::max(1.0, modelled_cross_memory(node, kind, bytes, there, lent));
}

std::size_t countable_bytes(Kind kind, int ranks) {
  return static_cast<std::size_t>(std::numeric_limits<int>::max()) /
         static_cast<std::size_t>(has_blocks(kind) ? ranks : 1);
}

std::optional<NativeTime> native_time(const Profile& profile, const Topology& topology, Kind kind, double bytes) {
  const Times* theirs = table(profile.native, kind);
  const Times* ours = table(profile.measured, kind);
  if (theirs == nullptr || ours == nullptr) return {};
  const Level* network = profile.level("network");
  const std::int64_t ranks = network != nullptr ? network->ranks : node_level(profile).ranks;
  if (topology.ranks != ranks || (topology.nodes == 1) != one_node(profile)) return {};
  if (bytes > static_cast<double>(countable_bytes(kind, topology.ranks))) return {};
  const auto [i, j] = neighbours(*theirs, bytes);
  const Times* crossing = topology.cross_memory ? table(profile.cross_memory, kind) : nullptr;
  const auto clearly = [&](std::size_t k) {
    const auto [size, nanoseconds] = (*theirs)[k];
    double least = at_size(*ours, static_cast<double>(size));
    if (crossing != nullptr && size >= crossing->front().first) {
      least = std::min(least, at_size(*crossing, static_cast<double>(size)));
    }
    return nanoseconds < kClearly * least;
  };
  return NativeTime{at_size(*theirs, bytes), clearly(i) && clearly(j)};
}

}  // namespace chasqui::run
