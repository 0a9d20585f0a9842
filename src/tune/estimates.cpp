// SPDX-License-Identifier: MIT
#include "tune/estimates.hpp"

namespace chasqui::tune {
namespace {

constexpr double kNoise = 0.02;        ///< of what a race finds
constexpr double kPerDoubling = 0.04;  ///< what an algorithm's own correction is off, at twice or half the size
constexpr double kLeastOfStrangers = 0.15, kMostOfStrangers = 0.6;  ///< the bounds of what races tell of predictions
constexpr double kOfTwins = 0.08;                                   ///< between algorithms that send the same messages
constexpr std::int64_t kNextRace = 4;  ///< times the size of the one before, where all sizes that may be raced are
constexpr double kCheap =
    60e6;  ///< nanoseconds that all algorithms may take at a size; then there is nothing to be saved …
constexpr double kCallsOfAll = 12;  ///< … with so many calls of each

}  // namespace

Estimates::Estimates(const Forecast& forecast, const std::vector<Cell>& cells) : forecast_(forecast) {
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
    strangers_.points.push_back({doublings(cell.bytes), mean});
  }
  if (free >= 4)
    of_strangers_ =
        std::clamp(1.5 * std::sqrt(squares / static_cast<double>(free)), kLeastOfStrangers, kMostOfStrangers);
}

std::pair<const Cell*, const Cell*> Estimates::around(std::int64_t bytes) const {
  std::pair<const Cell*, const Cell*> found{nullptr, nullptr};
  for (const Cell& each : own_) {
    if (each.bytes <= bytes) found.first = &each;
    if (each.bytes >= bytes && found.second == nullptr) found.second = &each;
  }
  return found;
}

bool Estimates::cheap(std::int64_t bytes) const {
  double sum = 0;
  for (const Estimate& each : at(bytes)) sum += kCallsOfAll * std::exp(each.time);
  return sum <= kCheap;
}

bool Estimates::refused(const Algorithm& algorithm) const {
  return std::find(refused_.begin(), refused_.end(), algorithm) != refused_.end();
}

std::vector<Estimates::Estimate> Estimates::at(std::int64_t bytes) const {
  std::vector<Estimate> list;
  const auto& entries = forecast_.at(bytes);
  for (const Forecast::Entry& entry : entries) {
    if (refused(entry.algorithm)) continue;
    const Curve own = corrections_of(entry.algorithm);
    if (own.points.empty()) continue;
    const auto value = own.at(doublings(bytes));
    const double predicted = std::log(entry.predicted) + value.y;
    list.push_back({entry.algorithm, between_races(entry.algorithm, bytes).value_or(predicted),
                    kNoise + kPerDoubling * value.away + value.apart, true});
  }
  const std::size_t raced = list.size();
  for (const Forecast::Entry& entry : entries) {
    if (refused(entry.algorithm) || !corrections_of(entry.algorithm).points.empty()) continue;
    const double least = std::log(entries.front().predicted * entry.behind);
    const Curve::Value usual = strangers_.points.empty() ? Curve::Value{} : strangers_.at(doublings(bytes));
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

std::optional<double> Estimates::time(const Algorithm& algorithm, std::int64_t bytes) const {
  for (const Estimate& each : at(bytes)) {
    if (each.algorithm == algorithm) return each.time;
  }
  return {};
}

bool Estimates::twins(const Forecast::Entry& a, const Forecast::Entry& b) {
  return std::abs(a.predicted - b.predicted) <= 1e-6 * b.predicted && std::abs(a.behind - b.behind) <= 1e-6 * b.behind;
}

/// Between two races not far apart its own times say more than a prediction, which may change where the library does not.
std::optional<double> Estimates::between_races(const Algorithm& algorithm, std::int64_t bytes) const {
  const auto [below, above] = around(bytes);
  if (below == nullptr || above == nullptr || above->bytes > kNextRace * below->bytes) return {};
  const Result *before = below->of(algorithm), *after = above->of(algorithm);
  if (before == nullptr || after == nullptr) return {};
  const Curve times{
      {{doublings(below->bytes), std::log(before->time)}, {doublings(above->bytes), std::log(after->time)}}};
  return times.at(doublings(bytes)).y;
}

Curve Estimates::corrections_of(const Algorithm& algorithm) const {
  Curve curve;
  for (const Cell& cell : own_) {
    const Result* result = cell.of(algorithm);
    const auto* entry = forecast_.of(algorithm, cell.bytes);
    if (result != nullptr && entry != nullptr)
      curve.points.push_back({doublings(cell.bytes), std::log(result->time / entry->predicted)});
  }
  return curve;
}

}  // namespace chasqui::tune
