// SPDX-License-Identifier: MIT
#include "run/choose/level_cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "run/board/shape.hpp"

namespace chasqui::run {
namespace {

/// Levels that were chosen, the nearest first, then the node.
struct Chain {
  std::vector<int> levels;
  std::vector<double> inside;  ///< what a line takes there, of one to all ranks
};

double inside(const LineCosts& costs, int level) {
  return costs.inside[static_cast<std::size_t>(costs.near->levels()[static_cast<std::size_t>(level)].what)];
}

Chain chain_of(const LineCosts& costs, unsigned chosen) {
  Chain chain;
  const auto count = static_cast<int>(costs.near->levels().size());
  for (int level = 0; level < count; ++level) {
    if ((chosen >> level & 1) == 0) continue;
    chain.levels.push_back(level);
    chain.inside.push_back(inside(costs, level));
  }
  chain.levels.push_back(count);
  chain.inside.push_back(1);
  return chain;
}

/// What a line to `readers` takes of one to so many ranks. A line takes its way, as long as so many turns, and a turn for each reader
/// (docs/laboratory/broadcast.md, "Readers of a line").
double to_readers(int readers, int ranks) {
  constexpr double kWay = 8;
  return (kWay + readers) / (kWay + std::max(1, ranks) - 1);
}

/// From one rank down to everybody, or from the leaders of the farthest level on: each who leads groups publishes once, for the ranks and
/// leaders inside them.
double down_time(const LineCosts& costs, const Chain& chain, bool from_one, double reading) {
  double time = 0;
  int readers = 0;  // of a leader of this level, besides those of further ones
  for (std::size_t i = 0; i + (from_one ? 0 : 1) < chain.levels.size(); ++i) {
    const int inner = i == 0 ? -1 : chain.levels[i - 1];
    readers += costs.near->most_inside(inner, chain.levels[i]) - 1;
    const double line = to_readers(readers, costs.near->most_inside(-1, chain.levels[i]));
    time += chain.inside[i] * (line * costs.publish + reading);
  }
  return time;
}

double lines_at_top(const LineCosts& costs, int lines, int groups) {
  return (lines > 2 ? kReadByAll * lines * groups : lines * groups - 1) * costs.each;
}

}  // namespace

double relay_time(const LineCosts& costs, unsigned levels, double bytes) {
  return down_time(costs, chain_of(costs, levels), true, beside_line_time(costs, bytes));
}

double climb_time(const LineCosts& costs, int lines, const Climb& climb, bool to_all) {
  double time = 0;
  int members = 0;  // of a lowest group: they fold a line each
  const auto rung = [&](double near, int sources) {
    if (members == 0) members = sources;
    const double folded = lines > 2 ? kFoldedLine * (sources - 1) + kSecondLine * std::max(0, lines - members)
                                    : (lines + members - 1) / members * (sources - 1.0);
    time += near * (costs.publish + folded * costs.each);
  };
  // Groups of the rung below that a group of this level has. Of equal groups, exactly; of others a few more than there can be.
  int below = -1, parts = 1;  // the rung below is of parts of so many in a group of that level
  const auto sources_of = [&](int level) {
    return below < 0       ? costs.near->most_inside(-1, level)
           : below < level ? parts * costs.near->most_inside(below, level)
                           : parts;
  };
  if (climb.chunk != 0) {
    const int ranks = costs.near->most_inside(-1, climb.of);
    rung(inside(costs, climb.of), std::min(climb.chunk, ranks));
    below = climb.of;
    parts = (ranks + climb.chunk - 1) / climb.chunk;
  }
  const auto count = static_cast<int>(costs.near->levels().size());
  for (int level = 0; level < count; ++level) {
    if ((climb.up >> level & 1) == 0) continue;
    rung(inside(costs, level), sources_of(level));
    below = level;
    parts = 1;
  }
  const double top = lines_at_top(costs, lines, sources_of(count));
  if (climb.down == 0 || !to_all) return time + costs.publish + top;
  const Chain down = chain_of(costs, climb.down);
  const int leaders = costs.near->most_inside(down.levels[down.levels.size() - 2], down.levels.back());
  time += to_readers(leaders - 1, costs.ranks) * costs.publish + top;  // they read the top
  return time + down_time(costs, down, false, (lines - 1) * costs.each);
}

double one_step_time(const LineCosts& costs, Kind kind, int lines) {
  if (kind == Kind::reduce && lines == 1) return costs.publish + kReadByRoot * (costs.ranks - 1) * costs.each;
  return grouped_fold_time(costs, lines, best_groups(costs, lines));
}

namespace {

BestLevels found_for(const LineCosts& costs, bool further) {
  BestLevels best;
  if (costs.near == nullptr) return best;
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const unsigned all = (1u << costs.near->levels().size()) - 1;
  double least = kNever;
  for (unsigned levels = 1; levels <= all; ++levels) {
    const double time = relay_time(costs, levels, 0);
    if (time < least) best.relay = levels, least = time;
  }
  for (std::size_t i = 0; i < best.climbs.size(); ++i) {
    const int lines = i == 2 ? most_lines(costs.ranks) : static_cast<int>(i) + 1;
    if (static_cast<int>(i) + 1 > lines || (i == 2 && !further)) continue;  // no room
    least = kNever;
    const auto try_one = [&](const Climb& climb) {
      if (climb.sets() > line_sets(lines, further)) return;
      const double time = climb_time(costs, lines, climb, true);
      if (time < least) best.climbs[i] = climb, least = time;
    };
    for (unsigned up = 1; up <= all; ++up) {
      for (unsigned down = up;; down = (down - 1) & up) {  // each part of it, none last
        try_one({up, down});
        if (down == 0) break;
      }
    }
    for (int of = 0; of < static_cast<int>(costs.near->levels().size()); ++of) {
      for (int chunk = 2; chunk < costs.near->levels()[static_cast<std::size_t>(of)].largest; ++chunk) {
        for (unsigned up = 0; up <= all; up += 1u << of) {
          try_one({up, 0, chunk, of});
          if (up != 0) try_one({up, up, chunk, of});
          try_one({up, 1u << of, chunk, of});
        }
      }
    }
  }
  return best;
}

}  // namespace

const BestLevels& best_levels(const LineCosts& costs, bool further) {
  struct Known {
    LineCosts costs;
    bool further = false;
    BestLevels best;
  };
  thread_local Known known;  // who makes a communicator's table asks hundreds of times
  if (!(known.costs == costs) || known.further != further) known = {costs, further, found_for(costs, further)};
  return known.best;
}

double relay_time(const LineCosts& costs, double bytes) {
  return relay_time(costs, best_levels(costs, most_lines(costs.ranks) > 2).relay, bytes);
}

double level_fold_time(const LineCosts& costs, Kind kind, double bytes) {
  const int lines = std::max(1, static_cast<int>(std::ceil(bytes / static_cast<double>(kLinePayload))));
  const BestLevels& best = best_levels(costs, most_lines(costs.ranks) > 2);
  return climb_time(costs, lines, best.climbs[BoardGroups::fold(lines)], kind != Kind::reduce);
}

}  // namespace chasqui::run
