// SPDX-License-Identifier: MIT
#include "measure/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "chasqui/base/error.hpp"

namespace chasqui::measure {
namespace {

/// The r-th least and the r-th greatest of n values hold the median with probability 1 - 2 P(Bin(n, 1/2) < r); the
/// greatest r that leaves 95 %.
std::size_t interval_rank(std::size_t n) {
  double term = 1;  // P(Bin = 0), then P(Bin = r)
  for (std::size_t i = 0; i < n; ++i) term /= 2;
  double below = term;
  std::size_t r = 0;
  while (r < n && below <= 0.025) {
    ++r;
    term *= static_cast<double>(n - r + 1) / static_cast<double>(r);
    below += term;
  }
  return r;
}

/// What the straight line through the two sizes before, or the two after, announces for times[i].
double announced(const Times& times, std::size_t i) {
  const auto slope = [&](std::size_t a, std::size_t b) {
    return std::max(0.0, (times[b].second - times[a].second) / static_cast<double>(times[b].first - times[a].first));
  };
  double steepest = slope(i - 2, i - 1);
  if (i + 1 < times.size()) steepest = std::max(steepest, slope(i, i + 1));
  return times[i - 1].second + steepest * static_cast<double>(times[i].first - times[i - 1].first);
}

}  // namespace

Estimate median_of(std::vector<double> values) {
  CHASQUI_CHECK(!values.empty(), "no samples ({})", values.size());
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  const double middle = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  // Beyond a thousand values the binomial is a normal distribution, and 2^-n no longer a number.
  const std::size_t r =
      n <= 1000 ? std::max<std::size_t>(1, interval_rank(n))
                : 1 + static_cast<std::size_t>(static_cast<double>(n) / 2 - 0.98 * std::sqrt(static_cast<double>(n)));
  return {middle, values[r - 1], values[n - r]};
}

Estimate median_of_rounds(std::vector<double> values) {
  constexpr double kStudent[] = {12.706, 4.303, 3.182, 2.776};  // 97.5 % of t with 1 .. 4 degrees of freedom
  Estimate estimate = median_of(values);
  const std::size_t n = values.size();
  if (n > 5) return estimate;
  if (n == 1) return {estimate.value, 0, 2 * estimate.value};
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / static_cast<double>(n);
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double half = kStudent[n - 2] * std::sqrt(squares / static_cast<double>((n - 1) * n));
  return {estimate.value, std::clamp(mean - half, 0.0, estimate.low), std::max(mean + half, estimate.high)};
}

std::vector<std::int64_t> switches_in(const Times& times) {
  std::vector<std::int64_t> found;
  for (std::size_t i = 2; i < times.size(); ++i) {
    if (times[i].second - announced(times, i) > 0.25 * times[i - 1].second) found.push_back(times[i - 1].first);
  }
  return found;
}

MessageParameters message_parameters(Probe& probe, const Median& median) {
  MessageParameters round;
  round.trip = median(0.15, [&] { return probe.half_trip(8); });
  round.o_s = median(0.1, [&] { return probe.send_overhead(); });
  const double patience = 4 * round.trip + 2000;
  round.o_r = median(0.1, [&] { return probe.receive_overhead(patience); });
  const double few = median(0.1, [&] { return probe.burst(kShortBurst); });
  const double many = median(0.15, [&] { return probe.burst(kLongBurst); });
  round.g = std::max(0.0, (many - few) / (kLongBurst - kShortBurst));
  for (std::int64_t bytes = 64; bytes <= 1 << 20; bytes *= 2) {
    round.times.emplace_back(bytes, median(0.4 / 15, [&] { return probe.half_trip(static_cast<std::size_t>(bytes)); }));
  }
  return round;
}

bool receives_in_parallel(const std::vector<FanIn>& rounds, double G) {
  std::size_t votes = 0;
  for (const FanIn& round : rounds) {
    const double each = (round.all - round.one) / std::max(1, round.senders - 1);
    if (round.senders > 1 && each < 0.25 * G * static_cast<double>(round.bytes)) ++votes;
  }
  return 2 * votes > rounds.size();
}

namespace {

/// The least that a further message of the node takes.
template <typename Further>
double least_gap(const std::vector<NodeBurst>& bursts, Further further) {
  double least = std::numeric_limits<double>::infinity();
  for (const NodeBurst& burst : bursts) least = std::min(least, std::max(0.0, further(burst)) / burst.lanes);
  return least;
}

}  // namespace

double burst_gap(const std::vector<NodeBurst>& bursts) {
  return least_gap(bursts, [](const NodeBurst& b) { return (b.many - b.few) / (kLongBurst - kShortBurst); });
}

double burst_gap_per_byte(const std::vector<NodeBurst>& bursts) {
  return least_gap(bursts, [](const NodeBurst& b) {
    return (b.more_long - b.one_long) / (static_cast<double>(kLongMessages - 1) * kLongBytes);
  });
}

Level level_of(const std::string& name, const std::vector<MessageParameters>& rounds) {
  Level level;
  level.name = name;
  std::map<std::int64_t, std::size_t> votes;  // a switch is what more than half of the rounds see
  for (const MessageParameters& round : rounds) {
    for (const std::int64_t bytes : switches_in(round.times)) ++votes[bytes];
  }
  for (const auto& [bytes, count] : votes) {
    if (2 * count > rounds.size()) level.switches.push_back(bytes);
  }
  // The gap per byte is the slope of one protocol, that of the longest messages.
  const Times& sizes = rounds.front().times;
  std::size_t first = 0;
  while (!level.switches.empty() && first + 2 < sizes.size() && sizes[first].first <= level.switches.back()) ++first;
  const auto per_byte = [&](const MessageParameters& round) {
    const auto& [small, t0] = round.times[first];
    const auto& [large, t1] = round.times.back();
    return std::max(1e-6, (t1 - t0) / static_cast<double>(large - small));
  };
  level.o_s = over_rounds(rounds, [](const MessageParameters& r) { return r.o_s; });
  level.o_r = over_rounds(rounds, [](const MessageParameters& r) { return r.o_r; });
  level.L = over_rounds(rounds, [](const MessageParameters& r) { return std::max(0.0, r.trip - r.o_s - r.o_r); });
  level.g = over_rounds(rounds, [](const MessageParameters& r) { return r.g; });
  level.G = over_rounds(rounds, per_byte);
  level.B = over_rounds(rounds, [&](const MessageParameters& r) { return r.trip / per_byte(r); });
  return level;
}

}  // namespace chasqui::measure
