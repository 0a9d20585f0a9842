// SPDX-License-Identifier: MIT
// How long messages travel. A policy is a pure function of the message, so a run can be repeated, and shared out over
// threads, from its seed alone.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::simulate {

/// The latency of a message; `index` is its place in Trace::schedule (by sender, then time). At least 1 where o = 0.
using Latency = std::function<Time(const Send& send, std::size_t index)>;

/// Every message takes exactly L.
Latency exactly_L(const LogP& machine);

/// Uniform on low .. high. Throws an Error if the range is empty or allows a message that takes no time.
Latency uniform(const LogP& machine, Time low, Time high, std::uint64_t seed);

/// A value of a histogram, `weight` out of the sum of weights.
struct WeightedLatency {
  Time latency;              ///< from the end of a send to the begin of its reception
  std::uint64_t weight = 1;  ///< how often, relative to the others
};
Latency distribution(const LogP& machine, std::vector<WeightedLatency> histogram,
                     std::uint64_t seed);  ///< random latencies from a histogram; the same for the same seed

/// `near` inside groups of `group` consecutive ranks, `far` between them.
Latency two_level(const LogP& machine, std::int64_t group, Time near, Time far);

/// Lines "from to latency", `*` for any rank, later lines win; `#` begins a comment. Unlisted links take L.
/// Throws an Error naming the place (file:line) and the remedy.
Latency per_link(const LogP& machine, const std::string& text, const std::string& place);

/// Lines "latency weight". Throws an Error naming the place (file:line) and the remedy.
std::vector<WeightedLatency> histogram_from(const std::string& text, const std::string& place);

/// The latencies of one run, message by message, as an adversary chose them.
Latency table(const LogP& machine, std::vector<Time> latencies);

}  // namespace chasqui::simulate
