// SPDX-License-Identifier: MIT
#include "bsp/waiting_report.hpp"

#include <map>
#include <string>
#include <vector>

namespace chasqui::bsp::detail {

namespace {

/// "ranks 0-3, 7" with at most eight runs.
std::string name_ranks(const std::vector<std::int32_t>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  std::size_t runs = 0;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (++runs > 8) return text + fmt::format(", … ({} in all)", ranks.size());
    if (runs > 1) text += ", ";
    text += last == i ? fmt::format("{}", ranks[i]) : fmt::format("{}-{}", ranks[i], ranks[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace

std::string Waiting::text() const {
  const auto place = fmt::format("at {}:{}", file, line);
  switch (what) {
    case For::barrier: return fmt::format("in sync() of superstep {} on {} processors {}", step, group_size, place);
    case For::messages:
      return fmt::format("in sync({}) of superstep {} with {} messages {}", expected, step, have, place);
    case For::collective:
      return fmt::format("in a collective on {} processors for rank {} {}", group_size, expected, place);
    case For::nothing: break;
  }
  return "nowhere";
}

MachineError waiting_report(std::span<const Waiting> waiting, std::span<const std::uint8_t> finished) {
  std::map<std::string, std::vector<std::int32_t>> places;
  bool only_barriers = true, anyone_finished = false;
  for (std::size_t rank = 0; rank < waiting.size(); ++rank) {
    std::string place = "finished";
    if (finished[rank] != 0) {
      anyone_finished = true;
    } else {
      place = waiting[rank].text();
      only_barriers = only_barriers && waiting[rank].what == Waiting::For::barrier;
    }
    places[place].push_back(static_cast<std::int32_t>(rank));
  }
  std::string text;
  std::size_t named = 0;
  for (const auto& [place, ranks] : places) {
    if (++named > 8) {
      text += fmt::format("; … ({} places in all)", places.size());
      break;
    }
    const char* const verb = place == "finished" ? "" : ranks.size() == 1 ? "waits " : "wait ";
    text += fmt::format("{}{} {}{}", text.empty() ? "" : "; ", name_ranks(ranks), verb, place);
  }
  return {only_barriers || anyone_finished ? Fault::sync_mismatch : Fault::deadlock, text};
}

}  // namespace chasqui::bsp::detail
