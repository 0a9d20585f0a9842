// SPDX-License-Identifier: MIT
// What is left to say when a picture would be unreadable.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/show/draw.hpp"
#include "show/svg.hpp"

namespace chasqui::show {
namespace {

std::string range_of(const Summary::Bucket& bucket) {
  if (bucket.to.ticks - bucket.from.ticks == 1) return fmt::format("{}", bucket.from.ticks);
  return fmt::format("{}..{}", bucket.from.ticks, bucket.to.ticks - 1);
}

}  // namespace

Summary summarise(const Schedule& schedule, int buckets) {
  Summary summary;
  summary.title = title_of(schedule);
  summary.P = schedule.machine.P;
  summary.messages = static_cast<std::int64_t>(schedule.sends.size());
  for (const Add& add : schedule.adds) {
    summary.additions = saturating_add(summary.additions, std::max<std::int64_t>(0, add.count));
  }
  if (schedule.sends.empty()) return summary;

  std::unordered_map<std::int32_t, std::int64_t> sent;
  std::unordered_map<std::int32_t, std::int64_t> received;
  Time first = available(schedule.machine, schedule.sends.front());
  Time last = first;
  for (const Send& send : schedule.sends) {
    summary.most_sent = std::max(summary.most_sent, ++sent[send.from.index]);
    summary.most_received = std::max(summary.most_received, ++received[send.to.index]);
    first = std::min(first, available(schedule.machine, send));
    last = std::max(last, available(schedule.machine, send));
  }
  const std::int64_t span = last.ticks - first.ticks + 1;
  const std::int64_t width = std::max<std::int64_t>(1, (span + buckets - 1) / buckets);
  for (Time from = first; from <= last; from += Time{width}) {
    summary.histogram.push_back({from, std::min(from + Time{width}, last + Time{1})});
  }
  for (const Send& send : schedule.sends) {
    const std::int64_t offset = available(schedule.machine, send).ticks - first.ticks;
    ++summary.histogram[static_cast<std::size_t>(offset / width)].receptions;
  }
  return summary;
}

std::string summary_text(const Summary& summary, const TextStyle& style) {
  std::string text = fmt::format("{}\n\n", summary.title);
  text += fmt::format("processors        {}\nmessages          {}\n", summary.P, summary.messages);
  if (summary.additions > 0) text += fmt::format("additions         {}\n", summary.additions);
  text += fmt::format("sent by one rank  at most {}\nreceived by one   at most {}\n", summary.most_sent,
                      summary.most_received);
  if (summary.histogram.empty()) return text;
  text += "\nreceptions by time of availability\n";
  std::int64_t most = 1;
  std::size_t label = 0;
  std::size_t count = 0;
  for (const Summary::Bucket& bucket : summary.histogram) {
    most = std::max(most, bucket.receptions);
    label = std::max(label, fmt::format("{}..{}", bucket.from.ticks, bucket.to.ticks - 1).size());
    count = std::max(count, fmt::format("{}", bucket.receptions).size());
  }
  const double room = std::max(10.0, style.width - static_cast<double>(label + count + 6));
  for (const Summary::Bucket& bucket : summary.histogram) {
    const double share = static_cast<double>(bucket.receptions) / static_cast<double>(most);
    const auto length = static_cast<std::size_t>(std::ceil(share * room));
    std::string bar;
    for (std::size_t i = 0; i < length; ++i) bar += style.utf8 ? "▇" : "#";
    text += fmt::format("  {:>{}}  {:>{}}  {}\n", range_of(bucket), label, bucket.receptions, count, bar);
  }
  return text;
}

std::string summary_svg(const Summary& summary) {
  constexpr double kMargin = 24;
  constexpr double kBarRoom = 420;
  constexpr double kRow = 20;
  Svg svg;
  svg.text(kMargin, 28, summary.title, "strong", Anchor::start, 15);
  double y = 52;
  const auto fact = [&](std::string_view name, std::int64_t value) {
    svg.text(kMargin, y, name, "dim");
    svg.text(kMargin + 210, y, fmt::format("{}", value), "text");
    y += 18;
  };
  fact("processors", summary.P);
  fact("messages", summary.messages);
  if (summary.additions > 0) fact("additions", summary.additions);
  fact("most messages sent by one rank", summary.most_sent);
  fact("most messages received by one", summary.most_received);
  y += 14;
  if (!summary.histogram.empty()) svg.text(kMargin, y, "receptions by time of availability", "strong");
  y += 10;
  std::int64_t most = 1;
  double label = 0;
  for (const Summary::Bucket& bucket : summary.histogram) {
    most = std::max(most, bucket.receptions);
    label = std::max(label, text_width(range_of(bucket), 12));
  }
  for (const Summary::Bucket& bucket : summary.histogram) {
    const double length = kBarRoom * static_cast<double>(bucket.receptions) / static_cast<double>(most);
    svg.text(kMargin + label, y + 14, range_of(bucket), "dim", Anchor::end);
    const std::string story = fmt::format("{} receptions at {}", bucket.receptions, range_of(bucket));
    svg.rectangle(kMargin + label + 8, y + 2, std::max(1.0, length), kRow - 4, "receive", story, 2);
    svg.text(kMargin + label + 14 + length, y + 14, fmt::format("{}", bucket.receptions), "text");
    y += kRow;
  }
  const double width = std::max(kMargin + label + kBarRoom + 110, kMargin + title_width(summary.title) + 24);
  return svg.document(
      width, y + 20, summary.title,
      fmt::format("Summary of a schedule too large to draw: {} processors, {} messages.", summary.P, summary.messages));
}

}  // namespace chasqui::show
