// SPDX-License-Identifier: MIT
#include "run/choose/led_cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "chasqui/base/error.hpp"
#include "run/choose/board_cost.hpp"
#include "run/choose/network_cost.hpp"
#include "run/messages/message_cost.hpp"

namespace chasqui::run {
namespace {

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

  /// A timetable takes a tenth of a millisecond, so what was found is remembered, by all that it
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

LedCosts led_costs(const LedPieces& pieces, const Query& query, const Topology& topology, const Profile& profile) {
  return Led(query, topology, profile).costs(pieces);
}

std::optional<LaneWay> led_way(const Query& query, const Topology& topology, const Profile& profile, double limit) {
  return Led(query, topology, profile).best(limit);
}

}  // namespace chasqui::run
