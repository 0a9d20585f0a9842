// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "chasqui/base/file.hpp"
#include "chasqui/schedule/json.hpp"

namespace chasqui {
namespace {

using Out = std::string;

/// By fmt::vformat, which stands in the library: format_to would be compiled here.
template <typename... Args>
void put(Out& out, fmt::format_string<Args...> text, const Args&... args) {
  out += fmt::vformat(text, fmt::make_format_args(args...));
}

void put_head(Out& out, const Schedule& s) {
  const LogP& m = s.machine;
  put(out, "{{\"chasqui\":{},\n\"machine\":{{\"P\":{},\"L\":{},\"o\":{},\"g\":{}}},\n", s.nodes.empty() ? 1 : 2, m.P,
      m.L.ticks, m.o.ticks, m.g.ticks);
  if (!s.nodes.empty()) {
    put(out, "\"nodes\":{{\"sizes\":[");
    for (const Nodes::Run& run : s.nodes.runs)
      put(out, "{}[{},{}]", &run == &s.nodes.runs.front() ? "" : ",", run.count, run.size);
    put(out, "],\"gamma\":{},\"publish\":{},\"read\":{}}},\n", s.nodes.gamma.ticks, s.nodes.publish.ticks,
        s.nodes.read.ticks);
  }
  const Problem& p = s.problem;
  put(out, "\"problem\":{{\"kind\":\"{}\"", to_string(p.kind));
  if (has_root(p.kind) || p.root.index != 0) put(out, ",\"root\":{}", p.root.index);
  if (p.kind == Kind::broadcast || p.kind == Kind::allgather || p.items != 1) put(out, ",\"items\":{}", p.items);
  if (!p.commutative) put(out, ",\"commutative\":false");
  if (p.exclusive) put(out, ",\"exclusive\":true");
  put(out, "}},\n\"finish\":{},\"bound\":{},\n", s.finish.ticks, s.bound.ticks);
  if (p.kind == Kind::stream) put(out, "\"period\":{},\"delay\":{},\n", s.period.ticks, s.delay.ticks);
}

/// The end of a line: what is carried.
void put_cargo(Out& out, const Send& send, const Problem& problem) {
  if (names_items(problem)) {
    put(out, "\"item\":{}}}", problem.kind == Kind::alltoall ? send.item_number() : send.part.lo);
  } else if (send.second == Part{}) {
    put(out, "\"lo\":{},\"len\":{}}}", send.part.lo, send.part.len);
  } else {
    put(out, "\"parts\":[[{},{}],[{},{}]]}}", send.part.lo, send.part.len, send.second.lo, send.second.len);
  }
}

void put_sends(Out& out, const std::vector<Send>& sends, const Problem& problem) {
  put(out, "\"sends\":[");
  const char* separator = "\n";
  for (const Send& send : sends) {
    put(out, "{}{{\"t\":{},\"from\":{},\"to\":{},", separator, send.begin.ticks, send.from.index, send.to.index);
    put_cargo(out, send, problem);
    separator = ",\n";
  }
  put(out, "]");
}

void put_board(Out& out, const Schedule& s) {
  put(out, ",\n\"publications\":[");
  const char* separator = "\n";
  for (const Publication& p : s.publications) {
    put(out, "{}{{\"t\":{},\"rank\":{},", separator, p.begin.ticks, p.rank.index);
    put_cargo(out, {p.begin, p.rank, {}, p.part, p.second}, s.problem);
    separator = ",\n";
  }
  put(out, "],\n\"readings\":[");
  separator = "\n";
  for (const Reading& r : s.readings) {
    put(out, "{}{{\"t\":{},\"rank\":{},\"from\":{},", separator, r.begin.ticks, r.rank.index, r.from.index);
    put_cargo(out, {r.begin, r.from, r.rank, r.part, r.second}, s.problem);
    separator = ",\n";
  }
  put(out, "]");
}

void put_computations(Out& out, const Schedule& s) {
  put(out, ",\n\"operands\":[");
  const char* separator = "";
  for (const std::int64_t count : s.operands) put(out, "{}{}", std::exchange(separator, ","), count);
  put(out, "],\n\"adds\":[");
  separator = "\n";
  for (const Add& add : s.adds) {
    put(out, "{}{{\"t\":{},\"rank\":{},\"from\":{},\"count\":{}}}", separator, add.begin.ticks, add.rank.index,
        add.from.index, add.count);
    separator = ",\n";
  }
  put(out, "]");
}

}  // namespace

std::string to_json(const Schedule& schedule) {
  const auto in_order = [](const auto& list) { return std::is_sorted(list.begin(), list.end()); };
  if (!in_order(schedule.sends) || !in_order(schedule.adds) || !in_order(schedule.publications) ||
      !in_order(schedule.readings)) {
    Schedule sorted = schedule;
    normalise(sorted);
    return to_json(sorted);
  }
  Out out;
  put_head(out, schedule);
  put_sends(out, schedule.sends, schedule.problem);
  if (!schedule.nodes.empty()) put_board(out, schedule);
  if (schedule.problem.kind == Kind::sum) put_computations(out, schedule);
  put(out, "}}\n");
  return out;
}

void write_schedule(const std::filesystem::path& path, const Schedule& schedule) {
  replace_file(path.string(), to_json(schedule));
}

}  // namespace chasqui
