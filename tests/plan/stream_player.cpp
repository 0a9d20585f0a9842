// SPDX-License-Identifier: MIT
#include "plan/stream_player.hpp"

#include <fmt/core.h>

#include <map>
#include <set>
#include <vector>

namespace chasqui::test {

using plan::StreamMessage;

namespace {

std::string text(const StreamMessage& m) {
  return fmt::format("{}->{} item {} at {}", m.from, m.to, m.item, m.begin.ticks);
}

}  // namespace

std::string play(const plan::Stream& stream, std::int64_t steps) {
  const std::int64_t P = stream.P();
  const std::int64_t L = stream.L();
  const std::int64_t delay = stream.delay().ticks;
  const auto size = static_cast<std::size_t>(P);
  // When item i is available at rank r; rows come and go with the window of items under way.
  std::map<std::int64_t, std::vector<std::int64_t>> has;
  std::vector<std::map<std::int64_t, StreamMessage>> arriving(size);  // by rank: arrival -> message
  std::int64_t longest = 0;
  for (std::int64_t time = 0; time < steps; ++time) {
    has.emplace(time, std::vector<std::int64_t>(size, -1));
    has[time][static_cast<std::size_t>(stream.root())] = time;  // item `time` appears at the root now
    for (std::int64_t rank = 0; rank < P; ++rank) {
      const auto got = stream.received(rank, Time{time});
      auto& due = arriving[static_cast<std::size_t>(rank)];
      const auto expected = due.find(time);
      if (got.has_value() != (expected != due.end()))
        return fmt::format("rank {} at {}: reception and arrival differ", rank, time);
      if (!got) continue;
      if (*got != expected->second) return fmt::format("{} received as {}", text(expected->second), text(*got));
      due.erase(expected);
      auto row = has.find(got->item);
      if (row == has.end()) return fmt::format("{} is too late or unknown", text(*got));
      auto& since = row->second[static_cast<std::size_t>(rank)];
      if (since >= 0) return fmt::format("rank {} gets item {} twice", rank, got->item);
      since = time;
      longest = std::max(longest, time - got->item);
    }
    for (std::int64_t rank = 0; rank < P; ++rank) {
      const auto sent = stream.sent(rank, Time{time});
      if (!sent) continue;
      if (sent->from != rank || sent->begin.ticks != time || sent->to == rank || sent->to < 0 || sent->to >= P) {
        return fmt::format("rank {} at {} says {}", rank, time, text(*sent));
      }
      const auto row = has.find(sent->item);
      if (row == has.end() || row->second[static_cast<std::size_t>(rank)] < 0)
        return fmt::format("{}: does not have it", text(*sent));
      if (!arriving[static_cast<std::size_t>(sent->to)].emplace(time + L, *sent).second) {
        return fmt::format("{}: a second arrival at {}", text(*sent), time + L);
      }
    }
    if (const auto done = has.find(time - delay); done != has.end()) {
      for (std::int64_t rank = 0; rank < P; ++rank) {
        if (done->second[static_cast<std::size_t>(rank)] < 0)
          return fmt::format("rank {} has no item {} at {}", rank, time - delay, time);
      }
      has.erase(done);
    }
  }
  if (steps > delay && longest != delay) return fmt::format("the delay is {}, not {}", longest, delay);
  return "";
}

std::string spot_check(const plan::Stream& stream, std::int64_t rank, std::int64_t from, std::int64_t steps) {
  std::set<std::int64_t> items;
  for (std::int64_t time = from; time < from + steps; ++time) {
    if (const auto sent = stream.sent(rank, Time{time})) {
      const auto mirror = stream.received(sent->to, Time{time + stream.L()});
      if (mirror != sent) return fmt::format("{}: the receiver does not agree", text(*sent));
      bool has = rank == stream.root() && time >= sent->item;
      for (std::int64_t back = time; !has && back >= sent->item; --back) {
        const auto got = stream.received(rank, Time{back});
        has = got && got->item == sent->item;
      }
      if (!has) return fmt::format("{}: does not have it", text(*sent));
    }
    if (const auto got = stream.received(rank, Time{time})) {
      if (stream.sent(got->from, got->begin) != got) return fmt::format("{}: the sender does not agree", text(*got));
      if (!items.insert(got->item).second) return fmt::format("{} again", text(*got));
      if (time - got->item > stream.delay().ticks) return fmt::format("{} is late", text(*got));
    }
  }
  // Every item old enough to be complete and young enough not to be received before `from`.
  for (std::int64_t item = from; item + stream.delay().ticks < from + steps; ++item) {
    if (rank != stream.root() && !items.contains(item)) return fmt::format("rank {} misses item {}", rank, item);
  }
  return "";
}

}  // namespace chasqui::test
