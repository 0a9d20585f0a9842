// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "chasqui/show/draw.hpp"
#include "show/svg.hpp"

namespace chasqui::show {

std::string summary_svg(const Summary& summary) {
  constexpr double kLeft = 24;
  constexpr double kBarRoom = 420;
  constexpr double kRow = 20;
  Svg svg;
  svg.text(kLeft, 28, summary.title, "strong", Anchor::start, 15);
  double y = 52;
  const auto fact = [&](std::string_view name, std::int64_t value) {
    svg.text(kLeft, y, name, "dim");
    svg.text(kLeft + 210, y, fmt::format("{}", value), "text");
    y += 18;
  };
  fact("processors", summary.P);
  fact("messages", summary.messages);
  if (summary.additions > 0) fact("additions", summary.additions);
  fact("most messages sent by one rank", summary.most_sent);
  fact("most messages received by one", summary.most_received);
  y += 14;
  if (!summary.histogram.empty()) svg.text(kLeft, y, "receptions by time of availability", "strong");
  y += 10;
  std::int64_t most = 1;
  double label = 0;
  const auto range_of = [](const Summary::Bucket& bucket) {
    if (bucket.to.ticks - bucket.from.ticks == 1) return fmt::format("{}", bucket.from.ticks);
    return fmt::format("{}..{}", bucket.from.ticks, bucket.to.ticks - 1);
  };
  for (const Summary::Bucket& bucket : summary.histogram) {
    most = std::max(most, bucket.receptions);
    label = std::max(label, text_width(range_of(bucket), 12));
  }
  for (const Summary::Bucket& bucket : summary.histogram) {
    const double length = kBarRoom * static_cast<double>(bucket.receptions) / static_cast<double>(most);
    svg.text(kLeft + label, y + 14, range_of(bucket), "dim", Anchor::end);
    const std::string story = fmt::format("{} receptions at {}", bucket.receptions, range_of(bucket));
    svg.rectangle(kLeft + label + 8, y + 2, std::max(1.0, length), kRow - 4, "receive", story, 2);
    svg.text(kLeft + label + 14 + length, y + 14, fmt::format("{}", bucket.receptions), "text");
    y += kRow;
  }
  const double width = std::max(kLeft + label + kBarRoom + 110, kLeft + title_width(summary.title) + 24);
  return svg.document(
      width, y + 20, summary.title,
      fmt::format("Summary of a schedule too large to draw: {} processors, {} messages.", summary.P, summary.messages));
}

}  // namespace chasqui::show
