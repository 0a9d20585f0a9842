// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "chasqui/show/draw.hpp"

namespace chasqui::show {

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
    const std::string range = bucket.to.ticks - bucket.from.ticks == 1
                                  ? fmt::format("{}", bucket.from.ticks)
                                  : fmt::format("{}..{}", bucket.from.ticks, bucket.to.ticks - 1);
    const double share = static_cast<double>(bucket.receptions) / static_cast<double>(most);
    const auto length = static_cast<std::size_t>(std::ceil(share * room));
    std::string bar;
    for (std::size_t i = 0; i < length; ++i) bar += style.utf8 ? "▇" : "#";
    text += fmt::format("  {:>{}}  {:>{}}  {}\n", range, label, bucket.receptions, count, bar);
  }
  return text;
}

}  // namespace chasqui::show
