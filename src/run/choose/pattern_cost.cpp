// SPDX-License-Identifier: MIT
#include "run/choose/pattern_cost.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "run/messages/message_cost.hpp"

namespace chasqui::run {
namespace {

/// Messages that share a link fairly: each of n under way gets 1/n of it.
class SharedLink {
 public:
  /// The link's time that it needs, from when on. REQUIRES starts in ascending order.
  void add(double start, double length) { messages_.push_back({start, length}); }
  std::size_t count() const { return messages_.size(); }
  /// When message i is through, if no further one is added.
  double end_of(std::size_t i) {
    while (messages_[i].left > 0) advance();
    return messages_[i].end;
  }

 private:
  struct Message {
    double start, left, end = 0;
  };
  void advance() {
    double next = std::numeric_limits<double>::infinity();
    double least = next;
    int sharing = 0;
    for (std::size_t i = first_; i < messages_.size(); ++i) {
      if (messages_[i].left <= 0) continue;
      if (messages_[i].start > now_) {
        next = messages_[i].start;
        break;
      }
      least = std::min(least, messages_[i].left);
      ++sharing;
    }
    const double until = std::min(next, now_ + least * sharing);
    const double share = sharing == 0 ? 0 : until < next ? least : (until - now_) / sharing;
    for (std::size_t i = first_; i < messages_.size() && messages_[i].start <= now_; ++i) {
      if (messages_[i].left <= 0) continue;
      messages_[i].left = messages_[i].left - share > 1e-9 * share ? messages_[i].left - share : 0;
      messages_[i].end = until;
    }
    while (first_ < messages_.size() && messages_[first_].left <= 0) ++first_;
    now_ = until;
  }

  std::vector<Message> messages_;
  std::size_t first_ = 0;
  double now_ = 0;
};

/// Every rank does the same at the same time, so both ends of a link are shared by as many messages.
double shared_time(const std::vector<Step>& steps, const Level& level, double bytes_per_block) {
  SharedLink link;
  double clock = 0;
  std::size_t received = 0;
  for (const Step& step : steps) {
    if (step.receives) {
      if (received < link.count()) clock = std::max(clock, link.end_of(received));
      ++received;
      clock += level.o_r.value;
      continue;
    }
    const double bytes = bytes_per_block * step.part.len;
    const double length = std::max(1e-6, level.G.value * bytes);
    link.add(clock + flight_time(level, bytes) - level.o_r.value - level.G.value * bytes, length);
    clock += std::max(level.g.value, level.o_s.value);
  }
  return clock;
}

}  // namespace

double symmetric_time(const LocalPlan& plan, const Level& level, double bytes_per_block) {
  const auto steps = steps_of(plan);
  if (level.shares_bandwidth) return shared_time(steps, level, bytes_per_block);
  std::vector<double> arrivals;
  double clock = 0;
  double port = 0;  // when the next send may begin
  std::size_t received = 0;
  for (const Step& step : steps) {
    const double bytes = bytes_per_block * step.part.len;
    if (!step.receives) {
      const double begin = std::max(clock, port);
      clock = begin + level.o_s.value;
      port = begin + port_time(level, bytes);
      arrivals.push_back(begin + flight_time(level, bytes) - level.o_r.value);
    } else {
      if (received < arrivals.size()) clock = std::max(clock, arrivals[received]);
      ++received;
      clock += level.o_r.value;
    }
  }
  return clock;
}

double superstep_time(const LocalPlan& plan, const Level& level, double bytes_per_block) {
  std::vector<int> waves;  // of the sends: one more than of what had arrived before
  int wave = 0;
  std::size_t received = 0;
  double ports = 0, last = 0;
  for (const Step& step : steps_of(plan)) {
    const double bytes = bytes_per_block * step.part.len;
    if (!step.receives) {
      if (waves.empty() || waves.back() != wave + 1)
        ports -= crowded_port_time(level, bytes);  // the first of a wave waits for none
      waves.push_back(wave + 1);
      ports += crowded_port_time(level, bytes);
      last = std::max(last, flight_time(level, bytes));
    } else if (received < waves.size()) {
      wave = std::max(wave, waves[received++]);
    }
  }
  return wave * last + ports;
}

}  // namespace chasqui::run
