// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <numeric>

#include "chasqui/base/error.hpp"
#include "chasqui/tune/tuner.hpp"
#include "run/call/kinds.hpp"

namespace chasqui::tune {
namespace {

constexpr double kHopeful = 0.25;           ///< of what overheads and gaps were measured
constexpr std::size_t kEnoughToFit = 6;     ///< results of algorithms, the defaults aside
constexpr std::size_t kMostToFit = 64;      ///< later ones say nothing new of the machine
constexpr std::size_t kMostOfCell = 6;      ///< no collective alone speaks for the machine
constexpr std::size_t kMostMessages = 500;  ///< of an algorithm that is played on many machines
constexpr double kPrice =
    0.02;  ///< of a factor of two, in logarithms: what was measured stands unless races speak against it

/// Overheads and gaps times one factor, gaps per byte times the other.
Profile scaled(Profile profile, double overheads, double per_byte) {
  const auto times = [](Estimate& estimate, double factor) {
    estimate.value *= factor;
    estimate.low *= factor;
    estimate.high *= factor;
  };
  for (Level& level : profile.levels) {
    for (Estimate* estimate : {&level.o_s, &level.o_r, &level.g}) times(*estimate, overheads);
    times(level.G, per_byte);
  }
  times(profile.bsp_g, overheads);
  times(profile.bsp_G, per_byte);
  return profile;
}

bool allowed(const TunerOptions& options, const Algorithm& algorithm) {
  return algorithm.forced_in_place && (options.commutative || keeps_order(algorithm));
}

/// Sizes of a collective of blocks stop where all blocks together are as long.
std::int64_t largest_of(Kind kind, const TunerOptions& options) {
  return std::max<std::int64_t>(8, run::has_blocks(kind) ? options.largest / options.ranks : options.largest);
}

std::vector<std::int64_t> sizes_from(std::int64_t first, std::int64_t factor, Kind kind, const TunerOptions& options) {
  if (kind == Kind::barrier) return {0};
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = first; bytes <= largest_of(kind, options); bytes *= factor) sizes.push_back(bytes);
  return sizes;
}

}  // namespace

std::vector<std::int64_t> tuned_sizes(Kind kind, const TunerOptions& options) {
  return sizes_from(8, 2, kind, options);
}
std::vector<std::int64_t> raced_sizes(Kind kind, const TunerOptions& options) {
  std::vector<std::int64_t> sizes = sizes_from(8, 4, kind, options);
  const std::int64_t last = tuned_sizes(kind, options).back();  // beyond the last race protocols may change unseen
  if (sizes.back() != last) sizes.push_back(last);
  return sizes;
}
std::vector<std::int64_t> unseen_sizes(Kind kind, const TunerOptions& options) {
  return sizes_from(40, 16, kind, options);
}

std::vector<Result> predicted(const TunerOptions& options, std::string_view collective, std::int64_t bytes,
                              const Profile& profile) {
  std::vector<Result> list;
  for (const Algorithm& algorithm : algorithms(options.library, collective, options.ranks, bytes)) {
    if (allowed(options, algorithm))
      list.push_back({algorithm, 0, predict(*rounds_of(algorithm, options.ranks, bytes), profile)});
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const Result& a, const Result& b) { return a.predicted < b.predicted; });
  return list;
}

Forecast::Forecast(const TunerOptions& options, const CollectiveName& name, const Profile& profile, bool hopeful)
    : collective_(name.word), kind_(name.kind), sizes_(tuned_sizes(name.kind, options)) {
  const Profile better = scaled(profile, kHopeful, 1);
  for (const std::int64_t bytes : sizes_) {
    std::vector<Entry>& entries = entries_.emplace_back();
    std::vector<double> hopes;
    for (const Algorithm& algorithm : algorithms(options.library, collective_, options.ranks, bytes)) {
      if (!allowed(options, algorithm)) continue;
      const Rounds rounds = *rounds_of(algorithm, options.ranks, bytes);
      entries.push_back({algorithm, predict(rounds, profile), 1});
      hopes.push_back(hopeful ? predict(rounds, better) : entries.back().predicted);
    }
    if (entries.empty()) continue;
    const double least = *std::min_element(hopes.begin(), hopes.end());
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i].behind = hopes[i] / std::max(least, 1e-9);
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return a.predicted < b.predicted; });
    for (Entry& entry : entries)
      entry.behind = std::min(entry.behind, entry.predicted / std::max(entries.front().predicted, 1e-9));
  }
}

const std::vector<Forecast::Entry>& Forecast::at(std::int64_t bytes) const {
  const auto found = std::find(sizes_.begin(), sizes_.end(), bytes);
  CHASQUI_CHECK(found != sizes_.end(), "{} of {} bytes", collective_, bytes);
  return entries_[static_cast<std::size_t>(found - sizes_.begin())];
}

const Forecast::Entry* Forecast::of(const Algorithm& algorithm, std::int64_t bytes) const {
  if (std::find(sizes_.begin(), sizes_.end(), bytes) == sizes_.end()) return nullptr;
  const std::vector<Entry>& entries = at(bytes);
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.algorithm == algorithm; });
  return found == entries.end() ? nullptr : &*found;
}

Fit fitted(const TunerOptions& options, const Profile& profile, const std::vector<Cell>& cells) {
  struct Sample {
    Rounds rounds;
    double time;
  };
  std::vector<Sample> samples;
  for (const Cell& cell : cells) {
    const std::size_t most = std::min(kMostToFit, samples.size() + kMostOfCell);
    for (const Result& result : cell.results) {
      if (result.time <= 0 || samples.size() == most) continue;
      auto rounds = rounds_of(result.algorithm, options.ranks, cell.bytes);
      if (!rounds) continue;
      const std::size_t messages =
          std::accumulate(rounds->list.begin(), rounds->list.end(), std::size_t{0},
                          [](std::size_t sum, const Round& round) { return sum + round.size(); });
      if (messages <= kMostMessages) samples.push_back({std::move(*rounds), result.time});
    }
  }
  Fit best{profile, samples.size() == kMostToFit};
  if (samples.size() < kEnoughToFit) return best;
  double least = 0;
  for (const int overheads : {0, -1, 1, -2, -3}) {
    for (const int per_byte : {0, -1, 1, -2}) {
      const Profile other = scaled(profile, std::exp2(overheads), std::exp2(per_byte));
      std::vector<double> off;
      for (const Sample& sample : samples) off.push_back(std::log(sample.time / predict(sample.rounds, other)));
      std::vector<double> sorted = off;
      std::nth_element(sorted.begin(), sorted.begin() + std::ssize(sorted) / 2, sorted.end());
      const double middle = sorted[sorted.size() / 2];
      double sum = 0;
      for (const double each : off) sum += std::abs(each - middle);
      const double price = sum / static_cast<double>(off.size()) + kPrice * (std::abs(overheads) + std::abs(per_byte));
      if (least != 0 && price >= least) continue;
      least = price;
      best.profile = other;
    }
  }
  return best;
}

}  // namespace chasqui::tune
