// SPDX-License-Identifier: MIT
#include "plan/clusters/scan/board_rounds.hpp"

#include "chasqui/plan/clusters.hpp"

namespace chasqui::plan {

Time BoardRounds::time() const {
  Time end{0};
  for_rounds([&](std::int64_t width, Time begin) { end = begin + length(width); });
  return end;
}

std::int64_t BoardRounds::most_events() const {
  std::int64_t most = 0;
  for_rounds([&](std::int64_t width, Time /*begin*/) { most += 1 + most_readings(width); });
  return most;
}

void BoardRounds::events(std::int64_t first, std::int64_t place, std::vector<Publication>& publications,
                         std::vector<Reading>& readings) const {
  const auto rank = [&](std::int64_t at) { return Rank{static_cast<std::int32_t>(first + at)}; };
  const auto fold = [&](std::int64_t at, std::int64_t width) {
    const std::int64_t count = std::min(width, at + 1);
    return Part{static_cast<std::int32_t>(first + at + 1 - count), static_cast<std::int32_t>(count)};
  };
  for_rounds([&](std::int64_t width, Time begin) {
    if (place + width < size_)  // somebody reads it
      publications.push_back({begin, rank(place), fold(place, width)});
    const std::int64_t read = std::min(factor_ - 1, place / width);
    for (std::int64_t j = 1; j <= read; ++j) {
      const std::int64_t from = place - j * width;
      readings.push_back({begin + publish_ + (j - 1) * read_, rank(place), rank(from), fold(from, width)});
    }
  });
}

std::int64_t best_board_factor(const Nodes& nodes) {
  const std::int64_t size = nodes.largest();
  const auto time = [&](std::int64_t factor) { return BoardRounds(nodes, size, factor).time(); };
  std::int64_t best = 2;
  for (std::int64_t rounds = 1;; ++rounds) {
    const std::int64_t factor = equal_radices(size, rounds).front();
    if (time(factor) < time(best)) best = factor;
    if (factor == 2) return best;
  }
}

}  // namespace chasqui::plan
