// SPDX-License-Identifier: MIT
#include "chasqui/simulate/latency.hpp"

#include <algorithm>
#include <optional>
#include <sstream>
#include <unordered_map>

#include "chasqui/base/error.hpp"
#include "chasqui/base/random.hpp"

namespace chasqui::simulate {
namespace {

/// Equal keys give equal numbers on every machine.
constexpr std::uint64_t mix(std::uint64_t x) { return mix_bits(x + kGoldenRatio); }

/// A random number that depends on the seed and on which message it is, not on when it is asked for.
std::uint64_t draw(const Send& send, std::uint64_t seed) {
  std::uint64_t x = mix(seed);
  x = mix(x ^ static_cast<std::uint64_t>(send.begin.ticks));
  x = mix(x ^ (static_cast<std::uint64_t>(static_cast<std::uint32_t>(send.from.index)) << 32 |
               static_cast<std::uint32_t>(send.to.index)));
  return mix(x ^ static_cast<std::uint32_t>(send.part.lo));
}

/// x scaled to 0 .. n-1; the bias is below n / 2^64.
std::uint64_t below(std::uint64_t x, std::uint64_t n) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(x) * n >> 64);
}

void require_latency(const LogP& machine, Time latency, const std::string& place) {
  const std::int64_t least = machine.o == Time{0} ? 1 : 0;
  if (latency.ticks < least || latency.ticks > kMaxParameter) {
    throw Error("{}: latency {} is out of range: it must be {}..{}", place, latency.ticks, least, kMaxParameter);
  }
}

/// The word as a whole number; nothing if it is something else.
std::optional<std::int64_t> whole(const std::string& word) {
  try {
    std::size_t used = 0;
    const std::int64_t value = std::stoll(word, &used);
    if (used == word.size()) return value;
  } catch (const std::exception&) {
  }
  return std::nullopt;
}

std::int64_t number(const std::string& word, const std::string& place) {
  if (const auto value = whole(word)) return *value;
  throw Error("{}: '{}' is no whole number", place, word);
}

/// A rank of a link line: a number, or -1 for `*`.
std::int64_t link_end(const std::string& word, const LogP& machine, const std::string& place) {
  if (word == "*") return -1;
  const auto rank = whole(word);
  if (rank && *rank >= 0 && *rank < machine.P) return *rank;
  throw Error("{}: '{}' is no rank: use 0..{} or *", place, word, machine.P - 1);
}

/// Calls `line(words, place)` for every line that holds something besides a comment.
template <typename Line>
void for_each_line(const std::string& text, const std::string& place, Line line) {
  std::istringstream lines(text);
  std::string content;
  for (int number = 1; std::getline(lines, content); ++number) {
    std::istringstream words(content.substr(0, content.find('#')));
    std::vector<std::string> list;
    for (std::string word; words >> word;) list.push_back(word);
    if (!list.empty()) line(list, fmt::format("{}:{}", place, number));
  }
}

}  // namespace

Latency exactly_L(const LogP& machine) {
  return [L = machine.L](const Send&, std::size_t) { return L; };
}

Latency uniform(const LogP& machine, Time low, Time high, std::uint64_t seed) {
  require_latency(machine, low, "low");
  require_latency(machine, high, "high");
  if (low > high) throw Error("latency range {}..{} is empty: put the smaller first", low.ticks, high.ticks);
  const auto values = static_cast<std::uint64_t>((high - low).ticks) + 1;
  return [low, values, seed](const Send& send, std::size_t) {
    return low + Time{static_cast<std::int64_t>(below(draw(send, seed), values))};
  };
}

Latency distribution(const LogP& machine, std::vector<WeightedLatency> histogram, std::uint64_t seed) {
  if (histogram.empty()) throw Error("the latency distribution is empty: give at least one line 'latency weight'");
  std::uint64_t total = 0;
  for (WeightedLatency& value : histogram) {
    require_latency(machine, value.latency, "distribution");
    total += value.weight;
    value.weight = total;  // cumulative from here on
  }
  if (total == 0) throw Error("all weights of the latency distribution are 0: make one positive");
  return [histogram = std::move(histogram), total, seed](const Send& send, std::size_t) {
    const std::uint64_t x = below(draw(send, seed), total);
    const auto found = std::upper_bound(histogram.begin(), histogram.end(), x,
                                        [](std::uint64_t a, const WeightedLatency& b) { return a < b.weight; });
    return found->latency;
  };
}

Latency two_level(const LogP& machine, std::int64_t group, Time near, Time far) {
  if (group < 1) throw Error("group={} is too small: a group has at least 1 rank", group);
  require_latency(machine, near, "near");
  require_latency(machine, far, "far");
  return [group, near, far](const Send& send, std::size_t) {
    return send.from.index / group == send.to.index / group ? near : far;
  };
}

Latency per_link(const LogP& machine, const std::string& text, const std::string& place) {
  struct Link {
    std::size_t line = 0;
    Time latency;
  };
  const auto key = [](std::int64_t from, std::int64_t to) { return from << 32 | to; };
  const std::int64_t any = machine.P;  // stands for `*`
  std::unordered_map<std::int64_t, Link> links;
  std::size_t lines = 0;
  for_each_line(text, place, [&](const std::vector<std::string>& words, const std::string& line) {
    if (words.size() != 3) throw Error("{}: a link is three words, 'from to latency'", line);
    const std::int64_t from = link_end(words[0], machine, line);
    const std::int64_t to = link_end(words[1], machine, line);
    const Link link{++lines, Time{number(words[2], line)}};
    require_latency(machine, link.latency, line);
    links[key(from < 0 ? any : from, to < 0 ? any : to)] = link;
  });
  return [links = std::move(links), key, any, L = machine.L](const Send& send, std::size_t) {
    Link last{0, L};  // of the four entries that match, the one from the last line
    for (const std::int64_t from : {std::int64_t{send.from.index}, any}) {
      for (const std::int64_t to : {std::int64_t{send.to.index}, any}) {
        const auto found = links.find(key(from, to));
        if (found != links.end() && found->second.line > last.line) last = found->second;
      }
    }
    return last.latency;
  };
}

std::vector<WeightedLatency> histogram_from(const std::string& text, const std::string& place) {
  std::vector<WeightedLatency> histogram;
  for_each_line(text, place, [&](const std::vector<std::string>& words, const std::string& line) {
    if (words.size() != 2) throw Error("{}: a value is two words, 'latency weight'", line);
    const std::int64_t weight = number(words[1], line);
    if (weight < 0 || weight > 1'000'000'000) throw Error("{}: weight {} is out of range: use 0..10^9", line, weight);
    histogram.push_back({Time{number(words[0], line)}, static_cast<std::uint64_t>(weight)});
  });
  return histogram;
}

Latency table(const LogP& machine, std::vector<Time> latencies) {
  for (const Time latency : latencies) require_latency(machine, latency, "latency table");
  return [latencies = std::move(latencies)](const Send&, std::size_t index) { return latencies.at(index); };
}

}  // namespace chasqui::simulate
