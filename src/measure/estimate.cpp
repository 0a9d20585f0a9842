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

std::vector<NodeBurst> node_bursts(NodeProbe& probe, int ranks, const Median& median) {
  std::vector<NodeBurst> bursts;
  for (int lanes = 1; lanes < ranks; lanes *= 2) bursts.push_back({.lanes = lanes});
  bursts.push_back({.lanes = ranks});
  const double share = 1 / (4 * static_cast<double>(bursts.size()));
  for (NodeBurst& b : bursts) {
    const auto time = [&](int messages, std::int64_t bytes) {
      return median(share, [&] { return probe.burst(b.lanes, messages, bytes); });
    };
    b.few = time(kShortBurst, 8);
    b.many = time(kLongBurst, 8);
    b.one_long = time(1, kLongBytes);
    b.more_long = time(kLongMessages, kLongBytes);
  }
  return bursts;
}

std::vector<LaneGap> lane_gaps(const std::vector<std::vector<NodeBurst>>& rounds) {
  std::vector<LaneGap> gaps;
  for (std::size_t i = 0; i < rounds.front().size(); ++i) {
    const int lanes = rounds.front()[i].lanes;
    const auto per = [&](double longer, double shorter, double further) {
      return std::max(0.0, longer - shorter) / (further * lanes);
    };
    using Bursts = std::vector<NodeBurst>;
    gaps.push_back(
        {lanes,
         over_rounds(rounds, [&](const Bursts& r) { return per(r[i].many, r[i].few, kLongBurst - kShortBurst); }),
         over_rounds(rounds, [&](const Bursts& r) {
           return per(r[i].more_long, r[i].one_long, static_cast<double>(kLongMessages - 1) * kLongBytes);
         })});
  }
  return gaps;
}

namespace {

Estimate least(const std::vector<LaneGap>& gaps, Estimate LaneGap::*gap) {
  return (*std::min_element(gaps.begin(), gaps.end(),
                            [&](const LaneGap& a, const LaneGap& b) { return (a.*gap).value < (b.*gap).value; })).*
         gap;
}

}  // namespace

Estimate node_gap(const std::vector<LaneGap>& gaps) { return least(gaps, &LaneGap::g); }
Estimate node_gap_per_byte(const std::vector<LaneGap>& gaps) { return least(gaps, &LaneGap::G); }

Estimate gap_per_byte_among_others(const Estimate& alone, const std::vector<LaneGap>& gaps) {
  const Estimate& busy = gaps.front().G;
  if (busy.value <= alone.value) return alone;
  const auto midway = [&](double Estimate::*part) { return (alone.*part + std::max(alone.*part, busy.*part)) / 2; };
  return {midway(&Estimate::value), midway(&Estimate::low), midway(&Estimate::high)};
}

BoardParameters board_parameters(BoardProbe& probe, const Median& median) {
  constexpr std::int64_t kLong = 1 << 20;
  BoardParameters round;
  round.publish = median(0.2, [&] { return probe.line(); });
  round.write = median(0.2, [&] { return probe.write(); });
  // A writer that shares its core with others begins tens of microseconds late; who reads must not wait for it.
  const double patience = 4 * round.publish + 200'000;
  round.read = median(0.2, [&] { return probe.late_read(patience); });
  round.publish_all = median(0.2, [&] { return probe.all_lines(); });
  const double whole = median(0.2, [&] { return probe.copy(kLong); });
  round.copy = std::max(0.0, whole - round.publish) / static_cast<double>(kLong);
  return round;
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
