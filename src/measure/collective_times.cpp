// SPDX-License-Identifier: MIT
#include "measure/collective_times.hpp"

#include <algorithm>

#include "chasqui/plan/collectives.hpp"
#include "chasqui/run/choose.hpp"
#include "measure/sample_call.hpp"
#include "measure/sampler.hpp"
#include "run/board/process_memory.hpp"
#include "run/call/kinds.hpp"
#include "run/comm/fabric.hpp"

namespace chasqui::measure {

using namespace run;

namespace {

/// In the order in which they are worth most, when time is short: the ends first. Between 8 and 512 KiB data outgrows one cache after
/// another, and a straight line from 8 to 64 is off by a factor of two: so there are more.
constexpr std::int64_t kSizes[] = {8,    65'536, 1024, 524'288, 64,  8192, std::int64_t{2} << 20, 32'768, 262'144,
                                   4096, 512,    56,   112,     120, 2048, std::int64_t{4} << 20};
constexpr std::int64_t kLargest = std::int64_t{8} << 20;  ///< of all ranks' blocks together
constexpr std::int64_t kFar = 64;  ///< times the longest that was timed must reach the longest there is

bool has_method(const Comm& comm, const Call& call, Method method) {
  const auto list = comm.choices_for(call);
  return std::any_of(list.begin(), list.end(), [method](const Choice& choice) { return choice.method == method; });
}

}  // namespace

std::vector<CollectiveTimes::Entry> CollectiveTimes::entries_for(int ranks) {
  std::vector<Entry> list;
  for (const std::int64_t bytes : kSizes) {
    for (const Kind kind : plan::called_kinds()) {
      const bool fits = kind != Kind::barrier && bytes * (has_blocks(kind) ? ranks : 1) <= kLargest;
      if (bytes == kSizes[0] || fits) list.push_back({kind, bytes});
    }
  }
  return list;
}

void CollectiveTimes::measure(Comm& comm, const RoundBudget& budget) {
  const std::vector<Entry> list = entries_for(comm.size());
  int at = 0;
  if (comm.rank() == 0) {  // threads share this object
    at = at_;
    entries_ = list.size();
    for (const Entry& entry : list) largest_[entry.kind] = std::max(largest_[entry.kind], entry.bytes);
  }
  comm.broadcast(at, 0);
  Sampler sampler(comm);
  sampler.open(budget.left(1), false);
  const bool has_native = fabric_of(comm).native != nullptr;
  const int ways = 1 + (has_native ? 1 : 0) + (comm.topology().cross_memory ? 1 : 0);
  const double share = 1. / static_cast<double>(list.size()) / ways;
  SampleCall sample(Kind::barrier, 0, comm.size());  // one memory for all: what is new has not been touched
  const Call& call = sample.call();
  // Between nodes the caches do not matter, and a barrier does.
  const std::function<void()> before = comm.topology().nodes == 1 ? [&] { sample.refresh(); } : std::function<void()>();
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Entry& entry = list[(static_cast<std::size_t>(at) + i) % list.size()];
    sample.become(entry.kind, static_cast<std::size_t>(entry.bytes), comm.size());
    const auto run_by = [&](Method method) {  // the sampler's own messages go their usual way
      comm.force({method, 0, 1, ""});
      comm.run(call);
      comm.unforce();
    };
    const auto forced = [&](Method method) {
      return sampler.together(
          share, [&] { run_by(method); }, before);
    };
    const bool crosses = comm.topology().cross_memory && has_method(comm, call, Method::cross_memory);
    const auto ours = crosses ? forced(Method::staged)
                              : sampler.together(
                                    share, [&] { comm.run(call); }, before);
    std::optional<double> cross_memory, native;
    if (crosses && ours) cross_memory = forced(Method::cross_memory);
    if (has_native && ours && (cross_memory || !crosses)) {
      const Method best = cross_memory && *cross_memory < *ours ? Method::cross_memory : Method::staged;
      const auto by = [&](Side side) {
        if (side == Side::native) run_by(Method::native);
        else if (crosses) run_by(best);
        else comm.run(call);
      };
      native = sampler.compare(share, meets(entry.kind), by, before);
      if (native) *native *= std::min(*ours, cross_memory.value_or(*ours));
    }
    if (!ours || (crosses && !cross_memory) || (has_native && !native)) {  // out of time
      if (comm.rank() == 0) at_ = static_cast<int>((static_cast<std::size_t>(at) + i) % list.size());
      return;
    }
    if (comm.rank() != 0) continue;
    if (budget.progress) budget.progress("collectives");
    Values& values = values_[entry.kind][static_cast<std::int64_t>(call.bytes())];
    values.ours.push_back(*ours);
    if (cross_memory) values.cross_memory.push_back(*cross_memory);
    if (native) values.native.push_back(*native);
  }
}

std::map<std::string, Times> CollectiveTimes::medians(std::vector<double> Values::*who) const {
  std::map<std::string, Times> all;
  for (const auto& [kind, sizes] : values_) {
    if (!reaches_far(kind)) continue;
    Times& times = all[std::string(to_string(kind))];
    for (const auto& [bytes, values] : sizes) {
      if (!(values.*who).empty()) times.emplace_back(bytes, median_of(values.*who).value);
    }
    if (times.empty()) all.erase(std::string(to_string(kind)));
  }
  return all;
}

bool CollectiveTimes::reaches_far(Kind kind) const {
  const auto& sizes = values_.at(kind);
  return kind == Kind::barrier ||
         (sizes.begin()->first == kSizes[0] && sizes.rbegin()->first * kFar >= largest_.at(kind));
}

std::size_t CollectiveTimes::timed() const {
  std::size_t count = 0;
  for (const auto& [kind, sizes] : values_) count += reaches_far(kind) ? sizes.size() : 0;
  return count;
}

}  // namespace chasqui::measure
