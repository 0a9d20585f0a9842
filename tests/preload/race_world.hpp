// SPDX-License-Identifier: MIT
// A made-up program on made-up ranks that calls one or several collectives in turn, each with two sides to run it. Time is
// simulated, and every random number comes from the seed: drawn alike whoever serves, so that programs can be compared.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "preload/verdict/race.hpp"

namespace chasqui::preload {

/// One way to run a collective; nanoseconds.
struct SideModel {
  double cost = 1000;      ///< from the last arrival
  double spread = 0.02;    ///< of the cost, at random
  double leaves = 0;       ///< ranks leave up to so much later than the first
  double slow_factor = 1;  ///< of the cost, on the last `slow_ranks`
  int slow_ranks = 0;
  double hop = 0;       ///< along a chain of ranks, none of which waits for a later one: calls overlap; 0: none
  int first_calls = 0;  ///< so many touch memory or make connections for the first time …
  double first = 0;     ///< … and take so much longer
};

struct RaceModel {
  SideModel side[2];  ///< by Side
  double margin = BlockPlan{}.margin;
  bool meets = true;  ///< else a broadcast: rank 0 may run ahead of the others, by `window` calls
  int window = 8;
};

struct World {
  int ranks = 4;
  std::vector<RaceModel> races{1};
  double computes = 0;     ///< between two calls
  double varies = 0;       ///< and up to so much more, at random
  double late = 0;         ///< the last rank, always
  double interrupted = 0;  ///< probability that a rank loses its core in a call
  double interruption = 50'000;
  int rhythm = 1;          ///< one of so many gaps is five times as long
  double straggles = 0;    ///< up to so much later comes one rank, another one each time
  double agreeing = 1000;  ///< one agreement
  int turns_at = 1 << 30;  ///< from this call on the sides' costs are swapped
  bool crowded = false;    ///< more ranks than cores, as they know
  std::uint32_t trials = 3;
  Expected expected;  ///< of every race, by a rehearsal
};

enum class Policy { native, ours, adaptive };

struct Played {
  std::vector<double> at;   ///< when the slowest rank had made each call
  std::vector<Race> races;  ///< rank 0's
  bool alike = true;        ///< all ranks took the same turns
  std::uint64_t ours = 0;   ///< calls
  double agreements = 0;    ///< nanoseconds
};

/// `forced`: the side of each race, instead of a policy for all.
inline Played play(const World& world, Policy policy, int calls, std::uint64_t seed,
                   const std::vector<Side>& forced = {}) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto ranks = static_cast<std::size_t>(world.ranks);
  const std::size_t kinds = world.races.size();
  std::vector<double> now(ranks, 0), excluded(ranks, 0), draws(ranks * 4 + (world.straggles > 0 ? 2 : 0));
  std::vector<std::vector<Race>> races(ranks);
  for (auto& each : races) {
    each.resize(kinds);
    for (Race& race : each) {
      race.crowded = world.crowded;
      expect(race, world.expected);
    }
  }
  std::vector<std::array<int, 2>> made(kinds);  // by Side
  std::vector<std::vector<std::vector<double>>> rings(kinds);
  for (std::size_t k = 0; k < kinds; ++k)
    rings[k].assign(static_cast<std::size_t>(world.races[k].window), std::vector<double>(ranks, 0));
  Played played;
  for (int call = 0; call < calls; ++call) {
    for (double& each : draws) each = uniform(random);
    const std::size_t kind = static_cast<std::size_t>(call) % kinds;
    const RaceModel& model = world.races[kind];
    for (std::size_t r = 0; r < ranks; ++r) {
      const double gap = world.computes * (world.rhythm > 1 && call % world.rhythm == 0 ? 5 : 1);
      now[r] += gap + world.varies * draws[4 * r] + (r + 1 == ranks ? world.late : 0);
    }
    if (world.straggles > 0)
      now[static_cast<std::size_t>(draws[4 * ranks] * world.ranks)] += world.straggles * draws[4 * ranks + 1];
    Side by = !forced.empty() ? forced[kind] : policy == Policy::native ? Side::native : Side::ours;
    bool comparing = false;
    if (policy == Policy::adaptive) {
      for (std::size_t r = 0; r < ranks; ++r) {
        const bool here = compares(races[r][kind], world.trials, model.meets, model.margin);
        played.alike = played.alike && (r == 0 || here == comparing);
        comparing = here;
        if (here) races[r][kind].comparison->arrive(now[r] - excluded[r]);
      }
      if (comparing && races[0][kind].comparison->due()) {
        std::vector<double> most = races[0][kind].comparison->numbers();
        for (auto& each : races) {
          const auto mine = each[kind].comparison->numbers();
          for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], mine[i]);
        }
        const double last = *std::max_element(now.begin(), now.end()) + world.agreeing;
        played.agreements += world.agreeing;
        for (std::size_t r = 0; r < ranks; ++r) {
          Race& race = races[r][kind];
          excluded[r] += last - now[r];
          now[r] = last;
          if (race.comparison->agreed(most)) conclude(race);
          else race.comparison->arrive(now[r] - excluded[r]);
        }
        comparing = races[0][kind].comparison != nullptr;
      }
      for (std::size_t r = 0; r < ranks; ++r) {
        const Race& race = races[r][kind];
        const Side here = race.comparison != nullptr ? race.comparison->turn() : settled_side(race);
        played.alike = played.alike && (r == 0 || here == by);
        by = here;
      }
    }
    played.ours += by == Side::ours ? 1 : 0;
    const SideModel& side = model.side[static_cast<int>(call >= world.turns_at ? other(by) : by)];
    const double first = made[kind][static_cast<std::size_t>(by)]++ < side.first_calls ? side.first : 0;
    const double last = *std::max_element(now.begin(), now.end());
    auto& ring = rings[kind][static_cast<std::size_t>(call) / kinds % rings[kind].size()];
    const double room = *std::max_element(ring.begin(), ring.end());
    const double root = now[0];
    for (std::size_t r = 0; r < ranks; ++r) {
      const double begin = now[r];
      double cost = side.cost * (1 + side.spread * (2 * draws[4 * r + 1] - 1));
      if (r + static_cast<std::size_t>(side.slow_ranks) >= ranks) cost *= side.slow_factor;
      cost += first + side.leaves * draws[4 * r + 2];
      if (draws[4 * r + 3] < world.interrupted) cost += world.interruption;
      now[r] = side.hop > 0  ? std::max(begin, r == 0 ? room : now[r - 1]) + side.hop + cost - side.cost
               : model.meets ? last + cost
               : r == 0      ? std::max(begin, room) + 0.3 * cost
                             : std::max(begin, root + 0.3 * cost) + 0.7 * cost;
      ring[r] = now[r];
      ++(by == Side::ours ? races[r][kind].ours_calls : races[r][kind].native_calls);
      if (!comparing) continue;
      races[r][kind].comparison->ran(now[r] - begin);
      excluded[r] += now[r] - begin;
    }
    played.at.push_back(*std::max_element(now.begin(), now.end()));
  }
  played.races = std::move(races[0]);
  return played;
}

/// What the program lost against the better side after 200 and after 1000 calls, as a share of its time.
struct Regret {
  double early = 0, late = 0;
  bool small() const { return early <= 0.1 && late <= 0.03; }
};
inline Regret regret(const World& world, std::uint64_t seed) {
  const Played native = play(world, Policy::native, 1000, seed), ours = play(world, Policy::ours, 1000, seed);
  const Played adaptive = play(world, Policy::adaptive, 1000, seed);
  const auto lost = [&](std::size_t at) { return adaptive.at[at] / std::min(native.at[at], ours.at[at]) - 1; };
  return {lost(199), lost(999)};
}

}  // namespace chasqui::preload
