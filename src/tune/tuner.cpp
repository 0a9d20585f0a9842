// SPDX-License-Identifier: MIT
#include "chasqui/tune/tuner.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>

#include "chasqui/base/error.hpp"

namespace chasqui::tune {
namespace {

// Errors are differences of logarithms: 0.1 is about ten percent.
constexpr double kTolerable = 0.25;    ///< by so much the choice may be off; beyond, a race is worth its time
constexpr double kNoise = 0.02;        ///< of what a race finds
constexpr double kPerDoubling = 0.04;  ///< what an algorithm's own correction is off, at twice or half the size
constexpr double kOfStrangers = 0.25;  ///< what predictions are off from each other, before races tell …
constexpr double kLeastOfStrangers = 0.15, kMostOfStrangers = 0.6;  ///< … and the bounds of what they tell
constexpr double kOfTwins = 0.08;                                   ///< between algorithms that send the same messages
constexpr double kDefaultKnowsMore =
    0.05;                          ///< by so much a default is ahead of all that ran: somebody else can do that, too
constexpr double kFarAway = 0.15;  ///< the error of an estimate, from a few doublings on
constexpr double kWorthASwitch = 0.03;  ///< less than who is taken for the size before
constexpr double kDefaultStays = 0.03;  ///< less than ours, on both sides
constexpr std::int64_t kNextRace = 4;   ///< times the size of the one before, where all sizes that may be raced are
constexpr std::size_t kMostRaces = 8;   ///< of a collective
constexpr double kCheap =
    60e6;  ///< nanoseconds that all algorithms may take at a size; then there is nothing to be saved …
constexpr double kCallsOfAll = 12;  ///< … with so many calls of each

double length(std::int64_t bytes) { return std::log2(static_cast<double>(std::max<std::int64_t>(bytes, 1))); }

Algorithm default_of(const TunerOptions& options, const std::string& collective) {
  return {.library = options.library, .collective = collective};
}

/// Points over the logarithm of the size; between them straight lines.
struct Curve {
  struct Point {
    double x, y;
  };
  std::vector<Point> points;  ///< ascending

  struct Value {
    double y = 0;
    double away = 0;   ///< doublings to the nearest point
    double apart = 0;  ///< how far the ends around differ, here: nothing at a point, half of it in the middle
  };
  /// REQUIRES points.
  Value at(double x) const {
    const auto above = std::find_if(points.begin(), points.end(), [&](const Point& point) { return point.x >= x; });
    if (above == points.end()) return {points.back().y, x - points.back().x, 0};
    if (above == points.begin()) return {above->y, above->x - x, 0};
    const auto below = above - 1;
    const double share = (x - below->x) / (above->x - below->x);
    return {below->y + share * (above->y - below->y), std::min(x - below->x, above->x - x),
            std::min(share, 1 - share) * std::abs(above->y - below->y)};
  }
};

/// What every algorithm of a collective takes at every size, as far as its races tell; logarithms of nanoseconds.
class Estimates {
 public:
  Estimates(const Forecast& forecast, const std::vector<Cell>& cells) : forecast_(forecast) {
    for (const Cell& cell : cells) {
      const auto& sizes = forecast.sizes();  // a file may have others
      if (cell.collective == forecast.collective() && !cell.results.empty() &&
          std::find(sizes.begin(), sizes.end(), cell.bytes) != sizes.end())
        own_.push_back(cell);
    }
    std::sort(own_.begin(), own_.end(), [](const Cell& a, const Cell& b) { return a.bytes < b.bytes; });
    double squares = 0;
    std::size_t free = 0;
    for (const Cell& cell : own_) {
      std::vector<double> off;
      for (const Result& result : cell.results) {
        if (result.algorithm.number != 0 && result.time <= 0) refused_.push_back(result.algorithm);
        const auto* entry = forecast.of(result.algorithm, cell.bytes);
        if (entry == nullptr || result.time <= 0) continue;
        off.push_back(std::log(result.time / entry->predicted));
      }
      if (off.empty()) continue;
      double mean = 0;
      for (const double each : off) mean += each / static_cast<double>(off.size());
      for (const double each : off) squares += (each - mean) * (each - mean);
      free += off.size() - 1;
      strangers_.points.push_back({length(cell.bytes), mean});
    }
    if (free >= 4)
      of_strangers_ =
          std::clamp(1.5 * std::sqrt(squares / static_cast<double>(free)), kLeastOfStrangers, kMostOfStrangers);
  }

  const std::vector<Cell>& own() const { return own_; }
  const Cell* cell(std::int64_t bytes) const { return cell_of(own_, forecast_.collective(), bytes); }
  /// The nearest raced sizes, at most and at least this one; nullptr: none.
  std::pair<const Cell*, const Cell*> around(std::int64_t bytes) const {
    std::pair<const Cell*, const Cell*> found{nullptr, nullptr};
    for (const Cell& each : own_) {
      if (each.bytes <= bytes) found.first = &each;
      if (each.bytes >= bytes && found.second == nullptr) found.second = &each;
    }
    return found;
  }
  /// Do all algorithms together take so little at this size that all can run?
  bool cheap(std::int64_t bytes) const {
    double sum = 0;
    for (const Estimate& each : at(bytes)) sum += kCallsOfAll * std::exp(each.time);
    return sum <= kCheap;
  }
  bool refused(const Algorithm& algorithm) const {
    return std::find(refused_.begin(), refused_.end(), algorithm) != refused_.end();
  }

  struct Estimate {
    Algorithm algorithm;
    double time = 0, error = 0;
    bool raced = false;  ///< itself, somewhere
    double low() const { return time - error; }
    double high() const { return time + error; }
  };
  /// Of all algorithms that may be taken at this size; those that refused somewhere are left out.
  std::vector<Estimate> at(std::int64_t bytes) const {
    std::vector<Estimate> list;
    const auto& entries = forecast_.at(bytes);
    for (const Forecast::Entry& entry : entries) {
      if (refused(entry.algorithm)) continue;
      const Curve own = corrections_of(entry.algorithm);
      if (own.points.empty()) continue;
      const auto value = own.at(length(bytes));
      const double predicted = std::log(entry.predicted) + value.y;
      list.push_back({entry.algorithm, between_races(entry.algorithm, bytes).value_or(predicted),
                      kNoise + kPerDoubling * value.away + value.apart, true});
    }
    const std::size_t raced = list.size();
    for (const Forecast::Entry& entry : entries) {
      if (refused(entry.algorithm) || !corrections_of(entry.algorithm).points.empty()) continue;
      const double least = std::log(entries.front().predicted * entry.behind);
      const Curve::Value usual = strangers_.points.empty() ? Curve::Value{} : strangers_.at(length(bytes));
      Estimate estimate{entry.algorithm, least + usual.y, of_strangers_ + kPerDoubling * usual.away, false};
      for (std::size_t i = 0; i < raced; ++i) {
        if (!twins(entry, *forecast_.of(list[i].algorithm, bytes))) continue;
        estimate.time = list[i].time;
        estimate.error = list[i].error + kOfTwins;
      }
      list.push_back(estimate);
    }
    return list;
  }

  /// Of one of them; nothing where it is not among them.
  std::optional<double> time(const Algorithm& algorithm, std::int64_t bytes) const {
    for (const Estimate& each : at(bytes)) {
      if (each.algorithm == algorithm) return each.time;
    }
    return {};
  }

  static bool twins(const Forecast::Entry& a, const Forecast::Entry& b) {
    return std::abs(a.predicted - b.predicted) <= 1e-6 * b.predicted &&
           std::abs(a.behind - b.behind) <= 1e-6 * b.behind;
  }

 private:
  /// Between two races not far apart its own times say more than a prediction, which may change where the library does not.
  std::optional<double> between_races(const Algorithm& algorithm, std::int64_t bytes) const {
    const auto [below, above] = around(bytes);
    if (below == nullptr || above == nullptr || above->bytes > kNextRace * below->bytes) return {};
    const Result *before = below->of(algorithm), *after = above->of(algorithm);
    if (before == nullptr || after == nullptr) return {};
    const Curve times{{{length(below->bytes), std::log(before->time)}, {length(above->bytes), std::log(after->time)}}};
    return times.at(length(bytes)).y;
  }

  Curve corrections_of(const Algorithm& algorithm) const {
    Curve curve;
    for (const Cell& cell : own_) {
      const Result* result = cell.of(algorithm);
      const auto* entry = forecast_.of(algorithm, cell.bytes);
      if (result != nullptr && entry != nullptr)
        curve.points.push_back({length(cell.bytes), std::log(result->time / entry->predicted)});
    }
    return curve;
  }

  const Forecast& forecast_;
  std::vector<Cell> own_;  ///< by size
  std::vector<Algorithm> refused_;
  Curve strangers_;  ///< how far predictions were off, in the mean of those that ran
  double of_strangers_ = kOfStrangers;
};

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
  const double at = length(here) + share * (length(there) - length(here));
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
    std::erase_if(places, [&](std::int64_t place) { return std::abs(length(place) - length(bytes)) > 1; });
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

std::string to_csv(const std::vector<Cell>& cells, const TunerOptions& options) {
  std::string text = "collective,bytes,number,inner,fan,segment,name,time_ns,predicted_ns,library,ranks\n";
  for (const Cell& cell : cells) {
    for (const Result& result : cell.results) {
      const Algorithm& a = result.algorithm;
      text += fmt::format("{},{},{},{},{},{},{},{:.0f},{:.0f},{},{}\n", cell.collective, cell.bytes, a.number, a.inner,
                          a.fan, a.segment, a.number == 0 ? "default" : a.name, result.time, result.predicted,
                          to_string(options.library), options.ranks);
    }
  }
  return text;
}

std::vector<Cell> cells_from_csv(const std::string& text, const std::string& place, const TunerOptions& options) {
  constexpr std::size_t kColumns = 11;
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;
  constexpr double kMostTime = 1e18;
  std::vector<Cell> cells;
  std::set<std::pair<std::string, std::int64_t>> raced;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  for (int number = 2; std::getline(lines, line); ++number) {
    std::vector<std::string> words;
    std::istringstream stream(line);
    for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
    const auto wrong = [&] {
      return Error(
          "{}:{}: not a line of {} columns as `chasqui tune` writes them: leave --resume out, or mend the line", place,
          number, kColumns);
    };
    if (words.size() != kColumns) throw wrong();
    if (words[9] != to_string(options.library) || words[10] != fmt::format("{}", options.ranks)) {
      throw Error("{}:{}: a race of {} on {} ranks, and this is {} on {}: leave --resume out, or give another --out",
                  place, number, words[9], words[10], to_string(options.library), options.ranks);
    }
    const auto read = [&](std::size_t column, auto most) {
      const char* const end = words[column].data() + words[column].size();
      auto value = most;
      const auto [at, problem] = std::from_chars(words[column].data(), end, value);
      if (problem != std::errc{} || at != end || !(value >= 0 && value <= most)) throw wrong();
      return value;
    };
    const std::int64_t bytes = read(1, kMostBytes), fan = read(4, kMostBytes), segment = read(5, kMostBytes);
    const int which = read(2, 1000), inner = read(3, 1000);
    Result result;
    result.time = read(7, kMostTime);
    result.predicted = read(8, kMostTime);
    result.algorithm.library = options.library;
    result.algorithm.collective = words[0];
    const auto& names = collectives();
    if (std::none_of(names.begin(), names.end(), [&](const CollectiveName& each) { return each.word == words[0]; }))
      throw wrong();
    if (which != 0 || inner != 0 || fan != 0 || segment != 0) {
      // A message of two segments is long enough for every algorithm that cuts into such.
      const auto known = algorithms(options.library, words[0], options.ranks, 2 * segment);
      const auto found = std::find_if(known.begin(), known.end(), [&](const Algorithm& each) {
        return each.number == which && each.inner == inner && each.name == words[6] && each.fan == fan &&
               each.segment == segment;
      });
      if (found == known.end() || result.predicted == 0) throw wrong();
      result.algorithm = *found;
    }
    if (cells.empty() || cells.back().collective != words[0] || cells.back().bytes != bytes) {
      if (!raced.emplace(words[0], bytes).second) throw wrong();  // two races of one size
      cells.push_back({words[0], bytes, {}});
    }
    cells.back().results.push_back(result);
  }
  return cells;
}

}  // namespace chasqui::tune
