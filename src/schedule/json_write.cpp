// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "chasqui/base/file.hpp"
#include "chasqui/schedule/json.hpp"

namespace chasqui {
namespace {

using Out = fmt::memory_buffer;

template <typename... Args>
void put(Out& out, fmt::format_string<Args...> text, Args&&... args) {
  fmt::format_to(std::back_inserter(out), text, std::forward<Args>(args)...);
}

void put_head(Out& out, const Schedule& s) {
  const LogP& m = s.machine;
  put(out, "{{\"chasqui\":1,\n\"machine\":{{\"P\":{},\"L\":{},\"o\":{},\"g\":{}}},\n", m.P, m.L.ticks, m.o.ticks,
      m.g.ticks);
  const Problem& p = s.problem;
  put(out, "\"problem\":{{\"kind\":\"{}\"", to_string(p.kind));
  if (has_root(p.kind) || p.root.index != 0) put(out, ",\"root\":{}", p.root.index);
  if (p.kind == Kind::broadcast || p.kind == Kind::allgather || p.items != 1) put(out, ",\"items\":{}", p.items);
  if (!p.commutative) put(out, ",\"commutative\":false");
  if (p.exclusive) put(out, ",\"exclusive\":true");
  put(out, "}},\n\"finish\":{},\"bound\":{},\n", s.finish.ticks, s.bound.ticks);
  if (p.kind == Kind::stream) put(out, "\"period\":{},\"delay\":{},\n", s.period.ticks, s.delay.ticks);
}

void put_sends(Out& out, const std::vector<Send>& sends, const Problem& problem) {
  const bool combining = !names_items(problem);
  const bool alltoall = problem.kind == Kind::alltoall;
  put(out, "\"sends\":[");
  const char* separator = "\n";
  for (const Send& send : sends) {
    put(out, "{}{{\"t\":{},\"from\":{},\"to\":{},", separator, send.begin.ticks, send.from.index, send.to.index);
    if (!combining) {
      put(out, "\"item\":{}}}", alltoall ? send.item_number() : send.part.lo);
    } else if (send.second == Part{}) {
      put(out, "\"lo\":{},\"len\":{}}}", send.part.lo, send.part.len);
    } else {
      put(out, "\"parts\":[[{},{}],[{},{}]]}}", send.part.lo, send.part.len, send.second.lo, send.second.len);
    }
    separator = ",\n";
  }
  put(out, "]");
}

void put_computations(Out& out, const Schedule& s) {
  put(out, ",\n\"operands\":[{}],\n\"adds\":[", fmt::join(s.operands, ","));
  const char* separator = "\n";
  for (const Add& add : s.adds) {
    put(out, "{}{{\"t\":{},\"rank\":{},\"from\":{},\"count\":{}}}", separator, add.begin.ticks, add.rank.index,
        add.from.index, add.count);
    separator = ",\n";
  }
  put(out, "]");
}

}  // namespace

std::string to_json(const Schedule& schedule) {
  if (!std::is_sorted(schedule.sends.begin(), schedule.sends.end()) ||
      !std::is_sorted(schedule.adds.begin(), schedule.adds.end())) {
    Schedule sorted = schedule;
    normalise(sorted);
    return to_json(sorted);
  }
  Out out;
  put_head(out, schedule);
  put_sends(out, schedule.sends, schedule.problem);
  if (schedule.problem.kind == Kind::sum) put_computations(out, schedule);
  put(out, "}}\n");
  return fmt::to_string(out);
}

void write_schedule(const std::filesystem::path& path, const Schedule& schedule) {
  replace_file(path.string(), to_json(schedule));
}

}  // namespace chasqui
