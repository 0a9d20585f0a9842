// SPDX-License-Identifier: MIT
#include "chasqui/show/draw.hpp"

#include "chasqui/base/error.hpp"

namespace chasqui::show {
namespace {

/// Beyond this a table or chart is too dense even for few processors.
constexpr std::size_t kMostMessages = 200'000;

Picture settled(const Schedule& schedule, Picture what) {
  if (what == Picture::summary) return what;
  if (too_large(schedule)) return Picture::summary;
  if (!schedule.nodes.empty() && (what == Picture::tree || what == Picture::table))
    throw Error("a cluster is drawn as a chart: trees and tables show messages and no boards; use --what chart");
  return what == Picture::automatic ? best_picture(schedule) : what;
}

}  // namespace

bool too_large(const Schedule& schedule) {
  return schedule.machine.P > kLargestPicture || schedule.sends.size() > kMostMessages;
}

Picture best_picture(const Schedule& schedule) {
  if (!schedule.nodes.empty()) return Picture::chart;
  switch (schedule.problem.kind) {
    case Kind::broadcast: return schedule.problem.items > 1 ? Picture::table : Picture::tree;
    case Kind::stream: return Picture::table;
    case Kind::scatter:
    case Kind::gather:
    case Kind::reduce: return Picture::tree;
    default: return Picture::chart;
  }
}

std::string to_text(const Schedule& schedule, const TextStyle& style, Picture what, std::optional<std::int64_t> of) {
  switch (settled(schedule, what)) {
    case Picture::tree: return tree_text(tree_of(schedule, of), style);
    case Picture::chart: return chart_text(timeline_of(schedule), style);
    case Picture::table: return table_text(reception_table(schedule), style);
    default: return summary_text(summarise(schedule), style);
  }
}

std::string to_svg(const Schedule& schedule, Picture what, std::optional<std::int64_t> of) {
  switch (settled(schedule, what)) {
    case Picture::tree: return tree_svg(tree_of(schedule, of));
    case Picture::chart: return chart_svg(timeline_of(schedule));
    case Picture::table: return table_svg(reception_table(schedule));
    default: return summary_svg(summarise(schedule));
  }
}

std::string marked_illegal(std::string picture) {
  static constexpr std::string_view kClaim = "(optimal)";
  for (auto at = picture.find(kClaim); at != std::string::npos; at = picture.find(kClaim))
    picture.replace(at, kClaim.size(), "(ILLEGAL)");
  return picture;
}

}  // namespace chasqui::show
