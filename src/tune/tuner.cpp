// SPDX-License-Identifier: MIT
#include "chasqui/tune/tuner.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "chasqui/base/error.hpp"
#include "tune/estimates.hpp"

namespace chasqui::tune {
namespace {

// As in estimates.hpp, differences of logarithms.
constexpr double kTolerable = 0.25;  ///< by so much the choice may be off; beyond, a race is worth its time
constexpr double kDefaultKnowsMore =
    0.05;                          ///< by so much a default is ahead of all that ran: somebody else can do that, too
constexpr double kFarAway = 0.15;  ///< the error of an estimate, from a few doublings on
constexpr double kWorthASwitch = 0.03;  ///< less than who is taken for the size before
constexpr double kDefaultStays = 0.03;  ///< less than ours, on both sides
constexpr std::size_t kMostRaces = 8;   ///< of a collective

Algorithm default_of(const TunerOptions& options, const std::string& collective) {
  return {.library = options.library, .collective = collective};
}

using Estimate = Estimates::Estimate;

/// The least of those that ran somewhere; nullptr: none did.
const Estimate* best_raced(const std::vector<Estimate>& list) {
  const Estimate* best = nullptr;
  for (const Estimate& each : list) {
    if (each.raced && (best == nullptr || each.time < best->time)) best = &each;
  }
  return best;
}

/// The first race at a size: those predicted best, at most two of those that send the same messages.
std::vector<Algorithm> first_runners(const TunerOptions& options, const Forecast& forecast, std::int64_t bytes) {
  std::vector<Forecast::Entry> entries = forecast.at(bytes);
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.behind < b.behind; });
  std::vector<Forecast::Entry> chosen;
  for (const Forecast::Entry& entry : entries) {
    if (chosen.size() >= options.most || (chosen.size() >= 2 && entry.behind > std::exp(2 * kOfStrangers))) break;
    const auto same = std::count_if(chosen.begin(), chosen.end(),
                                    [&](const Forecast::Entry& other) { return Estimates::twins(entry, other); });
    if (same < 2) chosen.push_back(entry);
  }
  std::vector<Algorithm> list;
  for (const Forecast::Entry& entry : chosen) list.push_back(entry.algorithm);
  return list;
}

/// Where one algorithm has to do for all sizes: the mean over them.
std::vector<Estimate> over_all_sizes(const Forecast& forecast, const Estimates& estimates) {
  std::vector<Estimate> sums;
  std::vector<std::size_t> counts;
  for (const std::int64_t bytes : forecast.sizes()) {
    for (const Estimate& each : estimates.at(bytes)) {
      auto found =
          std::find_if(sums.begin(), sums.end(), [&](const Estimate& sum) { return sum.algorithm == each.algorithm; });
      if (found == sums.end()) {
        sums.push_back({each.algorithm});
        counts.push_back(0);
        found = sums.end() - 1;
      }
      found->time += each.time;
      found->error += each.error;
      found->raced = each.raced;
      ++counts[static_cast<std::size_t>(found - sums.begin())];
    }
  }
  std::vector<Estimate> means;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (counts[i] < forecast.sizes().size()) continue;  // it cannot do all of them
    const auto n = static_cast<double>(counts[i]);
    means.push_back({sums[i].algorithm, sums[i].time / n, sums[i].error / n, sums[i].raced});
  }
  return means;
}

/// Where `then`, the best at `there`, overtakes `first`, the best at `here`, if times change evenly in between. Whoever is far behind
/// where the other is the best is taken over a short stretch alone.
std::int64_t crossing(const Estimates& estimates, const Algorithm& first, std::int64_t here, const Algorithm& then,
                      std::int64_t there) {
  const auto first_here = estimates.time(first, here), then_here = estimates.time(then, here);
  const auto first_there = estimates.time(first, there), then_there = estimates.time(then, there);
  double share = 0.5;
  if (first_here && then_here && first_there && then_there) {
    const double of_first = std::max(0.0, *then_here - *first_here),
                 of_then = std::max(0.0, *first_there - *then_there);
    if (of_first + of_then > 0) share = of_first / (of_first + of_then);
  }
  const double at = doublings(here) + share * (doublings(there) - doublings(here));
  return std::clamp(static_cast<std::int64_t>(std::exp2(at)), here + 1, there);
}

}  // namespace

const Cell* cell_of(const std::vector<Cell>& cells, std::string_view collective, std::int64_t bytes) {
  for (const Cell& cell : cells) {
    if (cell.collective == collective && cell.bytes == bytes) return &cell;
  }
  return nullptr;
}

const Result* Cell::best() const {
  const Result* found = nullptr;
  for (const Result& result : results) {
    if (result.time > 0 && (found == nullptr || result.time < found->time)) found = &result;
  }
  return found;
}

const Result* Cell::of(const Algorithm& algorithm) const {
  for (const Result& result : results) {
    if (result.time > 0 && result.algorithm.number == algorithm.number && result.algorithm.name == algorithm.name &&
        result.algorithm.fan == algorithm.fan && result.algorithm.segment == algorithm.segment)
      return &result;
  }
  return nullptr;
}

std::vector<Race> first_races(const TunerOptions& options, const Forecast& forecast) {
  const std::vector<std::int64_t> sizes = raced_sizes(forecast.kind(), options);
  std::vector<Race> races;
  for (const std::int64_t bytes : {sizes.front(), sizes.back()}) {
    if (forecast.at(bytes).empty() || (!races.empty() && races.back().bytes == bytes)) continue;
    races.push_back({bytes, first_runners(options, forecast, bytes)});
    races.back().algorithms.insert(races.back().algorithms.begin(), default_of(options, forecast.collective()));
  }
  return races;
}

std::optional<Race> next_race(const TunerOptions& options, const Forecast& forecast, const std::vector<Cell>& cells) {
  const Estimates estimates(forecast, cells);
  const std::vector<std::int64_t> sizes = raced_sizes(forecast.kind(), options);
  const Algorithm plain = default_of(options, forecast.collective());
  if (forecast.at(sizes.front()).empty()) return {};
  const auto first = [&](std::int64_t bytes, std::vector<Algorithm> algorithms) {
    algorithms.insert(algorithms.begin(), plain);
    return Race{bytes, std::move(algorithms)};
  };
  for (const Race& race : first_races(options, forecast)) {
    if (estimates.cell(race.bytes) == nullptr) return race;
  }
  for (const std::int64_t bytes : forecast.sizes()) {
    if (!estimates.cheap(bytes)) continue;
    const Cell* cell = estimates.cell(bytes);
    std::vector<Algorithm> all;
    bool fresh = false;
    for (const Forecast::Entry& entry : forecast.at(bytes)) {
      if (estimates.refused(entry.algorithm)) continue;
      all.push_back(entry.algorithm);
      fresh = fresh || cell == nullptr || cell->of(entry.algorithm) == nullptr;
    }
    if (fresh) return first(bytes, all);
  }
  std::size_t ran = 0;
  for (const Cell& cell : estimates.own()) ran += estimates.cheap(cell.bytes) ? 0 : cell.results.size();
  if (ran >= kMostRaces * (options.most + 1)) return {};

  /// The best of a cell as a yardstick, then those of `wanted` that have not run there.
  const auto race_at = [&](std::int64_t bytes, const std::vector<Estimate>& wanted) -> std::optional<Race> {
    const Cell* cell = estimates.cell(bytes);
    std::vector<Algorithm> list;
    for (const Estimate& each : wanted) {
      if (list.size() < options.most && forecast.of(each.algorithm, bytes) != nullptr &&
          (cell == nullptr || cell->of(each.algorithm) == nullptr))
        list.push_back(each.algorithm);
    }
    if (list.empty()) return {};
    if (cell == nullptr) return first(bytes, list);
    if (const Result* best = cell->best(); best != nullptr) list.insert(list.begin(), best->algorithm);
    return Race{bytes, list};
  };
  const auto by_low = [](const Estimate& a, const Estimate& b) { return a.low() < b.low(); };

  // A default that leaves all behind knows somebody who has not run.
  for (const Cell& cell : estimates.own()) {
    const Result* usual = cell.of(plain);
    if (usual == nullptr || cell.best() != usual || cell.results.size() > 3 * options.most) continue;
    double least = std::numeric_limits<double>::max();
    for (const Result& result : cell.results) {
      if (result.algorithm.number != 0 && result.time > 0) least = std::min(least, result.time);
    }
    if (least < usual->time * std::exp(kDefaultKnowsMore)) continue;
    std::vector<Estimate> others = estimates.at(cell.bytes);
    std::erase_if(others, [](const Estimate& each) { return each.raced; });
    std::stable_sort(others.begin(), others.end(), by_low);
    if (const auto race = race_at(cell.bytes, others)) return race;
  }

  // Where the choice may be off most, and a race can tell.
  std::optional<Race> next;
  double worst = kTolerable;
  const auto look = [&](const std::vector<Estimate>& list, const std::vector<std::int64_t>& places) {
    const Estimate* taken = best_raced(list);
    if (taken == nullptr) return;
    std::vector<Estimate> rivals;
    double least = taken->time;
    for (const Estimate& each : list) {
      if (each.algorithm == taken->algorithm || each.low() >= taken->high() - kTolerable) continue;
      rivals.push_back(each);
      least = std::min(least, each.low());
    }
    const double off = taken->high() - least;
    if (rivals.empty() || off <= worst) return;
    std::stable_sort(rivals.begin(), rivals.end(), by_low);
    rivals.insert(rivals.begin(), *taken);
    for (const std::int64_t bytes : places) {
      if (auto race = race_at(bytes, rivals)) {
        next = std::move(race);
        worst = off;
        return;
      }
    }
  };
  if (!tells_sizes(options.library, forecast.collective())) {
    look(over_all_sizes(forecast, estimates), {sizes[sizes.size() / 2], sizes.front(), sizes.back()});
    return next;
  }
  for (const std::int64_t bytes : forecast.sizes()) {
    // Who would be taken far from where it ran, runs at the raced sizes around first.
    const auto list = estimates.at(bytes);
    const Estimate* taken = best_raced(list);
    if (taken == nullptr || taken->error <= kFarAway) continue;
    const auto [below, above] = estimates.around(bytes);
    for (const Cell* cell : {below, above}) {
      if (cell == nullptr || cell->of(taken->algorithm) != nullptr) continue;
      if (auto race = race_at(cell->bytes, {*taken})) return race;
    }
  }
  for (const std::int64_t bytes : forecast.sizes()) {
    std::vector<std::int64_t> places = sizes;
    std::erase_if(places, [&](std::int64_t place) { return std::abs(doublings(place) - doublings(bytes)) > 1; });
    look(estimates.at(bytes), places);
  }
  return next;
}

void add_results(std::vector<Cell>& cells, const Forecast& forecast, const Race& race,
                 const std::vector<double>& times) {
  CHASQUI_CHECK(times.size() == race.algorithms.size(), "{}", times.size());
  const Cell* found = cell_of(cells, forecast.collective(), race.bytes);
  Cell& cell = found == nullptr ? cells.emplace_back(Cell{forecast.collective(), race.bytes, {}})
                                : cells[static_cast<std::size_t>(found - cells.data())];
  const auto runs = [&](const Result& result) {
    return std::find(race.algorithms.begin(), race.algorithms.end(), result.algorithm) != race.algorithms.end();
  };
  double scale = 1;  // what the machine does otherwise now
  std::vector<Result> before;
  std::swap(before, cell.results);
  if (std::any_of(before.begin(), before.end(),
                  [&](const Result& result) { return result.time > 0 && !runs(result); })) {
    std::swap(before, cell.results);
    for (std::size_t i = 0; i < times.size(); ++i) {
      const Result* known = cell.of(race.algorithms[i]);
      if (known != nullptr && times[i] > 0) scale = known->time / times[i];
    }
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (cell.of(race.algorithms[i]) != nullptr) continue;
    const auto* entry = forecast.of(race.algorithms[i], race.bytes);
    // Whole nanoseconds, as the file has them: who goes on from there decides as we do.
    cell.results.push_back({race.algorithms[i], times[i] > 0 ? std::max(1.0, std::round(times[i] * scale)) : 0,
                            entry == nullptr ? 0 : entry->predicted});
  }
  std::copy_if(before.begin(), before.end(), std::back_inserter(cell.results),
               [&](const Result& result) { return !runs(result); });  // those that refused
}

Choice choose(const TunerOptions& options, const Forecast& forecast, const std::vector<Cell>& cells) {
  const Estimates estimates(forecast, cells);
  Choice choice{forecast.collective(), options.ranks, {}};
  if (std::none_of(estimates.own().begin(), estimates.own().end(),
                   [](const Cell& cell) { return cell.best() != nullptr; }))
    return choice;
  const Algorithm plain = default_of(options, forecast.collective());
  /// How far the default is behind, at a raced size.
  const auto behind = [&](const Cell& cell, const Algorithm& algorithm) {
    const Result* usual = cell.of(plain);
    if (usual == nullptr) return std::numeric_limits<double>::max();
    const auto time = estimates.time(algorithm, cell.bytes);
    return time ? std::log(usual->time) - *time : -std::numeric_limits<double>::max();
  };
  if (!tells_sizes(options.library, forecast.collective()) || forecast.sizes().size() == 1) {
    const auto means = over_all_sizes(forecast, estimates);
    Algorithm taken = plain;
    if (const Estimate* best = best_raced(means); best != nullptr) {
      double sum = 0;
      for (const Cell& cell : estimates.own()) sum += std::clamp(behind(cell, best->algorithm), -10.0, 10.0);
      if (sum >= -kDefaultStays * static_cast<double>(estimates.own().size())) taken = best->algorithm;
    }
    choice.steps = {{0, taken}};
    return choice;
  }
  std::int64_t before = 0;
  for (const std::int64_t bytes : forecast.sizes()) {
    const auto list = estimates.at(bytes);
    Algorithm taken = plain, named = plain;  // `named`: whoever is the best beside the default
    if (const Estimate* best = best_raced(list); best != nullptr) {
      taken = best->algorithm;
      for (const Estimate& each : list) {
        if (!choice.steps.empty() && choice.steps.back().algorithm == each.algorithm && each.raced &&
            each.time < best->time + kWorthASwitch)
          taken = each.algorithm;
      }
      const auto [below, above] = estimates.around(bytes);
      bool stays = true;
      for (const Cell* cell : {below, above})
        stays = stays && (cell == nullptr || behind(*cell, taken) < -kDefaultStays);
      named = taken;
      if (stays) taken = plain;
    }
    if (choice.steps.empty()) {
      choice.steps.push_back({0, taken});
    } else if (const Algorithm last = choice.steps.back().algorithm; !(last == taken)) {
      // What the default does before a size at which it is the best nobody knows. From there on it does the same up to the next power
      // of two, if that was raced, too: libraries switch at such.
      const bool raced = estimates.cell(before) != nullptr && estimates.cell(bytes) != nullptr;
      const std::int64_t from = taken == plain || (last == plain && raced) ? bytes
                                : last == plain                            ? before + 1
                                                : crossing(estimates, last, before, taken, bytes);
      if (taken == plain && !(named == plain) && !(named == last)) {
        const std::int64_t until = crossing(estimates, last, before, named, bytes);
        if (until < bytes) choice.steps.push_back({until, named});
      }
      choice.steps.push_back({from, taken});
    }
    before = bytes;
  }
  return choice;
}

const Step& step_for(const Choice& choice, std::int64_t bytes) {
  CHASQUI_CHECK(!choice.steps.empty(), "{}", choice.collective);
  const Step* found = &choice.steps.front();
  for (const Step& step : choice.steps) {
    if (step.bytes <= bytes) found = &step;
  }
  return *found;
}

}  // namespace chasqui::tune
