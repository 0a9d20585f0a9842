// SPDX-License-Identifier: MIT
#include "chasqui/tune/cliffs.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace chasqui::tune {
namespace {

/// A collective and others that do at least as much with as many bytes.
struct Instead {
  Kind kind;
  std::vector<Kind> others;
  std::string_view words;
};
const Instead kInstead[] = {
    {Kind::allreduce, {Kind::reduce, Kind::broadcast}, "reduce + broadcast"},
    {Kind::reduce, {Kind::allreduce}, "allreduce"},
    {Kind::gather, {Kind::allgather}, "allgather"},
    {Kind::allgather, {Kind::alltoall}, "alltoall"},
    {Kind::broadcast, {Kind::allreduce}, "allreduce"},
    {Kind::scatter, {Kind::alltoall}, "alltoall"},
};

bool alike(const TimedCall& a, const TimedCall& b) { return a.who == b.who && a.kind == b.kind; }

}  // namespace

std::string duration(double nanoseconds) {
  return nanoseconds < 1e6 ? fmt::format("{:.1f} us", nanoseconds / 1e3) : fmt::format("{:.2f} ms", nanoseconds / 1e6);
}

std::string bytes_in_words(std::int64_t bytes) {
  if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  return bytes >= 1024 && bytes % 1024 == 0 ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} B", bytes);
}

std::vector<Cliff> find_cliffs(const std::vector<TimedCall>& calls, double tolerance) {
  std::vector<Cliff> cliffs;
  using Remedy = Cliff::Remedy;
  for (const TimedCall& slow : calls) {
    const TimedCall* larger = nullptr;   // the fastest with more bytes
    const TimedCall* next = nullptr;     // the least with more bytes
    const TimedCall* crowd = nullptr;    // the fastest with more ranks
    const TimedCall* smaller = nullptr;  // the largest with fewer bytes
    for (const TimedCall& other : calls) {
      if (!alike(slow, other)) continue;
      const auto faster = [&](const TimedCall* best) { return best == nullptr || other.high < best->high; };
      if (other.ranks == slow.ranks && other.bytes > slow.bytes) {
        if (faster(larger)) larger = &other;
        if (next == nullptr || other.bytes < next->bytes) next = &other;
      }
      if (other.ranks == slow.ranks && other.bytes < slow.bytes && (smaller == nullptr || other.bytes > smaller->bytes))
        smaller = &other;
      // More ranks of each node are more senders, which fewer ranks do not have.
      if (other.bytes == slow.bytes && other.ranks > slow.ranks && other.of_node == slow.of_node && faster(crowd))
        crowd = &other;
    }
    const auto note = [&](Remedy remedy, const TimedCall& fast, double low, double high, double factor,
                          std::string words) {
      if (low > tolerance * high) cliffs.push_back({remedy, slow, fast, factor, std::move(words)});
    };
    // The edge alone: whoever is followed by something slower stands before it.
    if (larger != nullptr && next->time < slow.time)
      note(Remedy::larger, *larger, slow.low, larger->high, slow.time / larger->time, bytes_in_words(larger->bytes));
    if (crowd != nullptr)
      note(Remedy::more_ranks, *crowd, slow.low, crowd->high, slow.time / crowd->time,
           fmt::format("{} ranks", crowd->ranks));
    if (smaller != nullptr && smaller->bytes > 0 && slow.bytes % smaller->bytes == 0) {
      const auto times = static_cast<double>(slow.bytes / smaller->bytes);
      note(Remedy::several, *smaller, slow.low, times * smaller->high, slow.time / (times * smaller->time),
           fmt::format("{:.0f} calls of {}", times, bytes_in_words(smaller->bytes)));
    }
    for (const Instead& instead : kInstead) {
      if (instead.kind != slow.kind) continue;
      double high = 0, time = 0;
      const TimedCall* first = nullptr;
      std::size_t found = 0;
      for (const Kind kind : instead.others) {
        for (const TimedCall& other : calls) {
          if (other.who != slow.who || other.kind != kind || other.ranks != slow.ranks || other.bytes != slow.bytes)
            continue;
          high += other.high;
          time += other.time;
          first = first == nullptr ? &other : first;
          ++found;
        }
      }
      if (found == instead.others.size())
        note(Remedy::others, *first, slow.low, high, slow.time / time, std::string(instead.words));
    }
  }
  std::stable_sort(cliffs.begin(), cliffs.end(), [](const Cliff& a, const Cliff& b) { return a.factor > b.factor; });
  return cliffs;
}

std::string to_string(const Cliff& cliff) {
  const TimedCall& slow = cliff.slow;
  const std::string size = slow.kind == Kind::barrier ? "" : " " + bytes_in_words(slow.bytes);
  return fmt::format("{} {}{}, {} ranks: {}; {:.2f} times as fast: {}", slow.who, to_string(slow.kind), size,
                     slow.ranks, duration(slow.time), cliff.factor, cliff.instead);
}

}  // namespace chasqui::tune
