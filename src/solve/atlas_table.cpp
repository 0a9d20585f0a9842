// SPDX-License-Identifier: MIT
#include <map>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/clusters.hpp"
#include "chasqui/solve/atlas.hpp"

namespace chasqui::solve {
namespace {

/// A line of the atlas, and when the plan for the same question finishes, where they are compared.
struct Compared {
  const AtlasEntry* entry;
  std::optional<Time> plan;

  bool plan_is_later() const { return plan && *plan > entry->finish; }
};
using Entries = std::vector<Compared>;
using Number = std::int64_t (*)(const AtlasEntry&);

/// Streams choose their own period, and no planner is bound to single sending.
std::optional<Time> comparable_plan(const Instance& instance) {
  if (instance.problem.kind == Kind::stream || instance.single_sending) return std::nullopt;
  if (!instance.nodes.empty())
    return plan::on_cluster({instance.machine, instance.nodes}, instance.problem)->claim().finish;
  const std::optional<Schedule> plan = best_plan(instance);
  return plan ? std::optional(objective(*plan)) : std::nullopt;
}

/// "11", "12–13" where the bound is not met, with the plan's finish in brackets where it is later.
std::string cell(const Compared& compared) {
  const AtlasEntry& entry = *compared.entry;
  std::string text = entry.optimal() ? fmt::format("{}", entry.finish.ticks)
                                     : fmt::format("{}–{}", entry.bound.ticks, entry.finish.ticks);
  if (entry.evidence == Evidence::traffic) text += "°";
  if (entry.evidence == Evidence::search) text += "*";
  if (compared.plan_is_later()) text += fmt::format(" ({})", compared.plan->ticks);
  return text;
}

/// Rows and columns by two functions of the entry; cells as above.
std::string grid(const Entries& entries, const char* corner, Number row, Number column) {
  std::map<std::int64_t, std::map<std::int64_t, std::string>> cells;
  std::map<std::int64_t, bool> columns;
  for (const Compared& compared : entries) {
    cells[row(*compared.entry)][column(*compared.entry)] = cell(compared);
    columns[column(*compared.entry)] = true;
  }
  std::string text = fmt::format("| {} |", corner), rule = "| ---: |";
  for (const auto& [c, present] : columns) {
    text += fmt::format(" {} |", c);
    rule += " ---: |";
  }
  text += "\n" + rule + "\n";
  for (const auto& [r, line] : cells) {
    text += fmt::format("| {} |", r);
    for (const auto& [c, present] : columns) text += fmt::format(" {} |", line.contains(c) ? line.at(c) : "");
    text += "\n";
  }
  return text + "\n";
}

std::string summary(const Entries& entries) {
  std::int64_t optimal = 0, searched = 0, counted = 0, compared = 0, missed = 0;
  for (const auto& [entry, plan] : entries) {
    optimal += entry->optimal() ? 1 : 0;
    searched += entry->evidence == Evidence::search ? 1 : 0;
    counted += entry->evidence == Evidence::traffic ? 1 : 0;
    compared += plan ? 1 : 0;
    missed += plan && *plan > entry->finish ? 1 : 0;
  }
  std::string text = fmt::format("{} instances, {} optima proved", entries.size(), optimal);
  if (counted > 0) text += fmt::format(", in {} of them the bound rests on the traffic of the ports", counted);
  if (searched > 0) text += fmt::format(", in {} of them the bound rests on search", searched);
  if (compared > 0) text += fmt::format("; {} plans compared, {} later than the witness", compared, missed);
  return text + ".\n\n";
}

std::int64_t processors(const AtlasEntry& entry) { return entry.instance.machine.P; }
std::int64_t items(const AtlasEntry& entry) { return entry.instance.problem.items; }
std::int64_t latency(const AtlasEntry& entry) { return entry.instance.machine.L.ticks; }

std::string by_latency(const AtlasEntry& entry) { return fmt::format("L = {}", latency(entry)); }

std::string by_overhead_and_gap(const AtlasEntry& entry) {
  return fmt::format("o = {}, g = {}", entry.instance.machine.o.ticks, entry.instance.machine.g.ticks);
}

/// A family of the atlas: one grid per value of `part`, a table of P against `column`.
struct Section {
  const char* family;
  const char* heading;
  const char* corner;
  std::string (*part)(const AtlasEntry&);
  Number column;
};

constexpr Section kSections[] = {
    {"broadcast", "k items from one source, postal machine", "P \\ k", by_latency, items},
    {"single", "The same, the source sends each item once", "P \\ k", by_latency, items},
    {"allgather", "All-gather, and reduce-scatter, on the strict machine", "P \\ L", by_overhead_and_gap, latency},
    {"alltoall", "All-to-all on the strict machine", "P \\ L", by_overhead_and_gap, latency},
};

std::string grids(const Entries& entries, const Section& section) {
  std::map<std::string, Entries> parts;
  for (const Compared& compared : entries) parts[section.part(*compared.entry)].push_back(compared);
  std::string text;
  for (const auto& [name, members] : parts) {
    text += "**" + name + "**\n\n" + grid(members, section.corner, processors, section.column);
  }
  return text;
}

/// A row for each number of nodes and ranks a node.
std::string cluster_rows(const Entries& entries, bool compare_plans) {
  struct Row {
    std::int64_t clusters = 0, searched = 0, open = 0, missed = 0;
    Time first{kMaxTime}, last{0}, late{0};
  };
  std::map<std::pair<std::int64_t, std::int64_t>, Row> rows;
  for (const auto& [entry, plan] : entries) {
    Row& row = rows[{entry->instance.nodes.count(), entry->instance.nodes.largest()}];
    ++row.clusters;
    row.searched += entry->evidence == Evidence::search ? 1 : 0;
    row.open += entry->optimal() ? 0 : 1;
    row.first = std::min(row.first, entry->finish);
    row.last = std::max(row.last, entry->finish);
    if (!plan || *plan <= entry->finish) continue;
    ++row.missed;
    row.late = std::max(row.late, *plan - entry->finish);
  }
  std::string text = "| N | n | clusters | finish | to | by search | open |";
  std::string rule = "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |";
  text += compare_plans ? " plan later | by at most |\n" + rule + " ---: | ---: |\n" : "\n" + rule + "\n";
  for (const auto& [shape, row] : rows) {
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |", shape.first, shape.second, row.clusters,
                        row.first.ticks, row.last.ticks, row.searched, row.open);
    text += compare_plans ? fmt::format(" {} | {} |\n", row.missed, row.late.ticks) : "\n";
  }
  return text + "\n";
}

}  // namespace

std::string atlas_table(const Atlas& atlas, bool compare_plans) {
  std::map<std::string, Entries> families;
  for (const AtlasEntry* entry : atlas.entries()) {
    const std::optional<Time> plan = compare_plans ? comparable_plan(entry->instance) : std::nullopt;
    families[family_of(entry->instance)].push_back({entry, plan});
  }
  std::string text =
      "# Atlas of exact optima\n\n"
      "A cell is the least finish time that any schedule has. Beside the number:\n\n"
      "- nothing: the bound rests on an argument that needs no search;\n"
      "- `°`: on the traffic of the ports, counted through;\n"
      "- `*`: on a formula without a solution;\n"
      "- `a–b`: the optimum is not known, and lies between a and b;\n"
      "- in brackets: the finish of the plan, where it is later.\n\n"
      "`data/atlas.txt` has a schedule for every cell, its witness, and `data/clusters.txt` one for every cluster, of which there is a row for each shape: "
      "the least and the greatest finish, in how many the bound rests on search, how many are open (their optimum is not known; the finish is that of the "
      "best schedule known), in how many the plan is later, and by how much. [solve.md](solve.md) tells how such optima are found and proved. "
      "`chasqui atlas data/atlas.txt --merge data/clusters.txt --table` made this page.\n\n";
  for (const Section& section : kSections) {
    if (!families.contains(section.family)) continue;
    const Entries& entries = families[section.family];
    text += fmt::format("## {}\n\n", section.heading) + summary(entries) + grids(entries, section);
  }
  for (const auto& [family, entries] : families) {
    if (const std::optional<Kind> kind = cluster_kind(family))
      text += fmt::format("## On clusters: {}\n\n", to_string(*kind)) + summary(entries) +
              cluster_rows(entries, compare_plans);
  }
  if (families.contains("stream")) {
    text += "## Continuous broadcast: least delay\n\n" + summary(families["stream"]);
    text += "| P | L | delay | period of the witness |\n| ---: | ---: | ---: | ---: |\n";
    for (const Compared& compared : families["stream"]) {
      const AtlasEntry& entry = *compared.entry;
      text += fmt::format("| {} | {} | {} | {} |\n", processors(entry), latency(entry), cell(compared),
                          entry.instance.period.ticks);
    }
  }
  return text;
}

}  // namespace chasqui::solve
