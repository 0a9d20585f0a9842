// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "chasqui/run/choose.hpp"
#include "run/board/shape.hpp"
#include "run/choose/board_methods.hpp"
#include "run/choose/lane_cost.hpp"
#include "run/choose/level_cost.hpp"

namespace chasqui::run {
namespace {

std::string duration(double nanoseconds) {
  if (nanoseconds >= 1e9) return fmt::format("{:.3f} s ", nanoseconds / 1e9);
  if (nanoseconds >= 1e6) return fmt::format("{:.3f} ms", nanoseconds / 1e6);
  return fmt::format("{:.3f} us", nanoseconds / 1e3);
}

std::string name_of(const Choice& choice) {
  return choice.parts > 1 ? fmt::format("{} ({})", to_string(choice.method), choice.parts)
                          : std::string(to_string(choice.method));
}

std::string reason(const std::vector<Choice>& list) {
  if (list.size() == 1) return "nothing else applies";
  const auto fastest = std::min_element(list.begin() + 1, list.end(),
                                        [](const Choice& a, const Choice& b) { return a.nanoseconds < b.nanoseconds; });
  const std::string rival = fastest == list.begin() + 1 ? "the runner-up" : name_of(*fastest);
  const double ratio = fastest->nanoseconds / std::max(1e-3, list[0].nanoseconds);
  if (ratio >= 1) return fmt::format("predicted {:.2f} times as fast as {}", ratio, rival);
  if (fastest->method == Method::native)
    return "the library's own is not faster by a tenth at the sizes measured around";
  return fmt::format("predicted {:.2f} times as slow as {}", 1 / ratio, rival);
}

/// Lines beside the name in the first column.
std::string beside(std::string_view name, const std::vector<std::string>& lines, std::string_view between = "") {
  return lines.empty() ? "" : fmt::format("{:<9} {}\n", name, fmt::join(lines, fmt::format("{}\n          ", between)));
}

/// Which method the board's table has from which size on, in lines of at most 80 characters.
std::vector<std::string> by_size(Kind kind, const BoardMethods& board) {
  constexpr std::size_t kWidth = 70;  // beside the first column
  std::vector<std::string> lines;
  std::string line;
  for (const MethodFrom& entry : board.entries(kind)) {
    std::string part(entry.native ? "native" : to_string(entry.method));
    if (entry.bytes > 0) part = fmt::format("from {} bytes {}", entry.bytes, part);
    if (!line.empty()) line += ',';
    if (line.size() + 1 + part.size() > kWidth) {
      lines.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += part;
  }
  lines.push_back(std::move(line));
  return lines;
}

}  // namespace

std::string explain(const Query& query, const Topology& topology, const Profile& profile) {
  const bool spans = topology.board_spans();
  const BoardMethods board = spans ? BoardMethods(topology, profile) : BoardMethods();
  const auto list = choices(query, topology, profile, board);
  const std::string size = query.kind == Kind::barrier ? "" : fmt::format(" of {} bytes", query.bytes);
  std::string text = fmt::format("{}{} on {} rank{}, {} node{}\n", to_string(query.kind), size, topology.ranks,
                                 topology.ranks == 1 ? "" : "s", topology.nodes, topology.nodes == 1 ? "" : "s");
  for (std::size_t i = 0; i < list.size(); ++i) {
    text += fmt::format("{:<9} {:<13} {:>10}  {}\n",
                        i == 0   ? "chosen"
                        : i == 1 ? "runner-up"
                                 : "",
                        name_of(list[i]), duration(list[i].nanoseconds), list[i].why);
  }
  text += beside("why", {reason(list)});
  text += beside("levels", reason_for_levels(query, topology, profile));
  text += beside("lanes", reason_for_lanes(query, topology, profile), ";");
  if (spans && query.kind != Kind::barrier) text += beside("by size", by_size(query.kind, board));
  return text + beside("but", doubt_of(topology, profile));
}

std::vector<std::string> reason_for_levels(const Query& query, const Topology& topology, const Profile& profile) {
  if (topology.near == nullptr || !topology.board_spans()) return {};
  std::vector<std::string> lines;
  const LineCosts costs = line_costs(profile, topology.ranks, topology.near);
  for (const NearLevel& level : topology.near->levels()) {
    const bool guessed = node_level(profile).near_of(level.what).value <= 0;
    lines.push_back(fmt::format("{}: {} of {} ranks{}, a line there {:.2g} of one to all{}", to_string(level.what),
                                level.groups, level.largest,
                                level.groups * level.largest == topology.ranks ? "" : " at most",
                                costs.inside[static_cast<std::size_t>(level.what)], guessed ? " (a guess)" : ""));
  }
  const bool in_one_line = query.kind == Kind::barrier || query.bytes <= kLinePayload;
  const bool folded = query.kind == Kind::reduce || query.kind == Kind::allreduce || query.kind == Kind::barrier;
  if (!in_one_line || (!folded && query.kind != Kind::broadcast)) return lines;
  const double bytes = query.kind == Kind::barrier ? 0 : static_cast<double>(query.bytes);
  const double levels = folded ? level_fold_time(costs, query.kind, bytes) : relay_time(costs, bytes);
  const double flat = folded ? one_step_time(costs, query.kind, 1) : costs.publish;
  const bool grouped = folded && query.kind != Kind::reduce && best_groups(costs, 1).size != 0;
  lines.push_back(fmt::format("by levels {}, {} {}", duration(levels),
                              grouped ? "in groups wherever ranks lie" : "in one step", duration(flat)));
  return lines;
}

std::vector<std::string> doubt_of(const Topology& topology, const Profile& profile) {
  if (topology.nodes == 1 || profile.knows_network()) return {};
  return {"the profile was measured on one node and knows no network: messages",
          "inside that node stand in for it. Measure over the nodes:", "mpirun ... chasqui measure --mpi --out FILE"};
}

}  // namespace chasqui::run
