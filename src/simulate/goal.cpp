// SPDX-License-Identifier: MIT
#include "chasqui/simulate/goal.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "simulate/program.hpp"

namespace chasqui::simulate {
namespace {

/// What a rank does on its own account, other than receive.
struct Deed {
  Time begin, length;
  bool sends = false;
  std::string label, what;
  std::string needs{};  ///< an operation of another processor of the node
};

/// Writes what one rank does. LogGOPS simulators take an operation as ended for its dependants once their processor is free,
/// so a pause must be a calculation on the processor that pauses; no message comes then, or the plan would not be legal.
class RankText {
 public:
  RankText(const Program& program, std::int64_t bytes, std::string& text)
      : program_(program), machine_(program.schedule().machine), bytes_(bytes), text_(text) {}

  /// `cpu`, `nic`: on a cluster the rank's lane.
  void write(const std::vector<Deed>& deeds, const std::vector<std::uint32_t>& receptions, const std::string& cpu,
             const std::string& nic) {
    Time free{0};     // when the processor has ended what came last
    Time gap_end{0};  // when the next send may begin
    last_ = {};
    for (const std::uint32_t m : receptions) {
      add_line("r{}: recv {}b from {} tag {}{}{}", m, bytes_, host(program_.send(m).from), m, cpu, nic);
    }
    auto reception = receptions.begin();
    for (const Deed& deed : deeds) {
      for (; reception != receptions.end() && available(machine_, program_.send(*reception)) <= deed.begin;
           ++reception) {
        last_.push_back(fmt::format("r{}", *reception));
        free = std::max(free, available(machine_, program_.send(*reception)));
      }
      if (deed.begin > (deed.sends ? std::max(free, gap_end) : free)) {
        add_operation("p" + deed.label, fmt::format("calc {}{}", deed.begin.ticks - free.ticks, cpu));
      }
      if (!deed.needs.empty()) last_.push_back(deed.needs);
      add_operation(deed.label, deed.what + cpu + (deed.sends ? nic : ""));
      free = deed.begin + deed.length;
      if (deed.sends) gap_end = deed.begin + machine_.gap();
    }
  }

  /// The host of a rank: its node on a cluster.
  std::int64_t host(Rank rank) const {
    const Nodes& nodes = program_.schedule().nodes;
    return nodes.empty() ? rank.index : nodes.node_of(rank);
  }

 private:
  /// By fmt::vformat, which stands in the library: format_to would be compiled here.
  template <typename... Arguments>
  void add_line(fmt::format_string<Arguments...> format, const Arguments&... arguments) {
    text_ += fmt::vformat(format, fmt::make_format_args(arguments...));
    text_ += '\n';
  }

  /// The operation requires what came last, and is then what came last.
  void add_operation(std::string label, const std::string& what) {
    add_line("{}: {}", label, what);
    for (const std::string& before : last_) add_line("{} requires {}", label, before);
    last_ = {std::move(label)};
  }

  const Program& program_;
  const LogP& machine_;
  std::int64_t bytes_;
  std::string& text_;
  std::vector<std::string> last_;  // the last operation, and the receptions planned since
};

using Deeds = std::vector<std::vector<Deed>>;

/// By rank, by begin.
Deeds deeds_of(const Program& program, std::int64_t bytes, const RankText& ranks) {
  const Schedule& s = program.schedule();
  Deeds deeds(static_cast<std::size_t>(program.ranks()));
  for (std::int32_t r = 0; r < program.ranks(); ++r) {
    const auto actions = program.actions_of(Rank{r});
    for (std::uint32_t at = actions.first; at < actions.end; ++at) {
      const std::uint32_t action = program.action(at);
      if (action & Program::kAdd) {
        const Add& add = s.adds[action & ~Program::kAdd];
        deeds[static_cast<std::size_t>(r)].push_back(
            {add.begin, Time{add.count}, false, fmt::format("c{}", at), fmt::format("calc {}", add.count)});
      } else {
        const Send& send = program.send(action);
        deeds[static_cast<std::size_t>(r)].push_back(
            {send.begin, s.machine.o, true, fmt::format("s{}", action),
             fmt::format("send {}b to {} tag {}", bytes, ranks.host(send.to), action)});
      }
    }
  }
  std::map<std::tuple<Rank, Part, Part>, std::size_t> published;
  for (std::size_t i = 0; i < s.publications.size(); ++i) {
    const Publication& p = s.publications[i];
    published.try_emplace({p.rank, p.part, p.second}, i);
    deeds[static_cast<std::size_t>(p.rank.index)].push_back(
        {p.begin, s.nodes.publish, false, fmt::format("b{}", i), fmt::format("calc {}", s.nodes.publish.ticks)});
  }
  for (std::size_t i = 0; i < s.readings.size(); ++i) {
    const Reading& r = s.readings[i];
    const auto source = published.find({r.from, r.part, r.second});
    deeds[static_cast<std::size_t>(r.rank.index)].push_back(
        {r.begin, s.nodes.read, false, fmt::format("d{}", i), fmt::format("calc {}", s.nodes.read.ticks),
         source == published.end() ? "" : fmt::format("b{}", source->second)});
  }
  for (auto& list : deeds)
    std::stable_sort(list.begin(), list.end(), [](const Deed& a, const Deed& b) { return a.begin < b.begin; });
  return deeds;
}

}  // namespace

std::string to_goal(const Schedule& schedule, std::int64_t bytes) {
  const Program program(schedule);
  const auto& sends = program.schedule().sends;
  std::vector<std::vector<std::uint32_t>> incoming(static_cast<std::size_t>(program.ranks()));
  for (std::uint32_t m = 0; m < sends.size(); ++m) incoming[static_cast<std::size_t>(sends[m].to.index)].push_back(m);

  const Nodes& nodes = schedule.nodes;
  std::string text = fmt::format("num_ranks {}\n", nodes.empty() ? program.ranks() : nodes.count());
  RankText ranks(program, bytes, text);
  const Deeds deeds = deeds_of(program, bytes, ranks);
  for (std::int32_t r = 0; r < program.ranks(); ++r) {
    auto& receptions = incoming[static_cast<std::size_t>(r)];
    std::sort(receptions.begin(), receptions.end(), [&](auto a, auto b) { return sends[a] < sends[b]; });
    const std::int64_t host = ranks.host(Rank{r});
    const std::int64_t lane = nodes.empty() ? 0 : r - nodes.first_rank(host);
    const bool last = nodes.empty() || lane + 1 == nodes.size(host);
    if (lane == 0) text += fmt::format("\nrank {} {{\n", host);
    ranks.write(deeds[static_cast<std::size_t>(r)], receptions, nodes.empty() ? "" : fmt::format(" cpu {}", lane),
                nodes.empty() ? "" : fmt::format(" nic {}", lane));
    if (last) text += "}\n";
  }
  return text;
}

}  // namespace chasqui::simulate
