// SPDX-License-Identifier: MIT
#include "run/choose/board_methods.hpp"

#include <algorithm>
#include <set>

#include "run/board/process_memory.hpp"
#include "run/board/shape.hpp"
#include "run/choose/board_cost.hpp"
#include "run/choose/level_cost.hpp"

namespace chasqui::run {
namespace {

/// From `bytes` on another method.
void append(std::vector<MethodFrom>& entries, std::size_t bytes, Method method, bool native = false) {
  if (!entries.empty() && entries.back().bytes == bytes) entries.pop_back();
  if (entries.empty() || entries.back().method != method || entries.back().native != native)
    entries.push_back({bytes, method, native});
}

}  // namespace

const MethodFrom& entry_at(const std::vector<MethodFrom>& entries, std::size_t bytes) {
  std::size_t i = entries.size() - 1;
  while (entries[i].bytes > bytes) --i;
  return entries[i];
}

std::size_t staged_element(Kind kind, std::size_t element, int ranks) {
  if (!exchanges(kind)) return folds(kind) ? element : 0;
  return std::max(kLine, folds(kind) ? (element + kLine - 1) / kLine * kLine : 0) * static_cast<std::size_t>(ranks);
}

Method uneven_method(const Call& call, const Topology& topology) {
  if (!topology.board_spans() || topology.ranks == 1) return Method::messages;
  if (topology.shares_memory) return Method::direct;
  const bool fits = staged_element(call.kind, call.element, topology.ranks) <= topology.largest_element;
  return fits || !topology.messages ? Method::staged : Method::messages;
}

namespace {

/// The slot of a scatter holds the blocks of all, and so do those of an exchange.
std::size_t blocks_in_slot(Kind kind, int ranks) {
  return kind == Kind::scatter || exchanges(kind) ? static_cast<std::size_t>(ranks) : 1;
}

/// Bytes of a slot that go beside the lines at most, as far as that was timed.
std::size_t most_beside_lines(Kind kind, int ranks, bool threads) {
  if (threads || ranks == 2 || exchanges(kind)) return kShortWide;
  if (kind == Kind::broadcast || kind == Kind::reduce) return kWide;
  return kind == Kind::allreduce ? kSharedByAll : kWideFromAll;
}

/// Of a barrier, or of a fold of one line or two, which all want or a root: the fastest of slots, groups and levels.
Method short_fold(const LineCosts& costs, Kind kind, int lines, bool further) {
  const bool to_all = kind != Kind::reduce;
  const bool grouped = (to_all || lines == 2) && best_groups(costs, lines).size != 0;
  const Climb& climb = best_levels(costs, further).climbs[BoardGroups::fold(lines)];
  if (!climb.none() && climb_time(costs, lines, climb, to_all) < one_step_time(costs, kind, lines))
    return Method::level_fold;
  return grouped ? Method::grouped_fold : Method::slots;
}

std::vector<MethodFrom> row_of(const LineCosts& costs, Kind kind, std::size_t wide, bool threads) {
  if (costs.ranks == 1) return {{}};
  const bool further = has_further_lines(costs.ranks, wide);
  const bool climbs = kind == Kind::allreduce || kind == Kind::barrier || kind == Kind::reduce;
  const bool relays = kind == Kind::broadcast && costs.near != nullptr && relay_time(costs, 0) < costs.publish;
  const auto in_lines_of = [&](int lines) {
    return climbs ? short_fold(costs, kind, lines, further) : relays ? Method::relay : Method::slots;
  };
  std::vector<MethodFrom> row;
  append(row, 0, in_lines_of(1));
  if (kind == Kind::barrier) return row;
  const std::size_t blocks = blocks_in_slot(kind, costs.ranks);
  const auto after = [&](std::size_t bytes) { return bytes / blocks + 1; };
  append(row, after(kLinePayload), in_lines_of(2));
  const Method longest = threads ? Method::direct : Method::staged;
  const std::size_t exposed_to = threads && kind == Kind::allreduce ? wide * static_cast<std::size_t>(costs.ranks) : 0;
  const Method longer = exposed_to != 0 ? Method::exposed_fold : longest;
  const bool shares = kind == Kind::reduce || kind == Kind::allreduce;
  std::vector<Method> ways = {Method::slots};
  if (relays) ways.push_back(Method::relay);
  // Two would fold half of the lines each, for the reader of all: nobody has timed it.
  const bool in_lines = kind == Kind::allreduce && costs.ranks > 2 && groups_of_many(costs).size != 0;
  if (in_lines) ways.push_back(Method::grouped_fold);
  const bool levels = in_lines && !best_levels(costs, further).climbs[2].none();
  if (levels) ways.push_back(Method::level_fold);
  if (shares) ways.push_back(Method::shared_fold);
  const auto time_of = [&](Method method, double bytes) {
    if (method == Method::relay) return relay_time(costs, bytes);
    if (method == Method::level_fold) return level_fold_time(costs, kind, bytes);
    return beside_lines_time(costs, method, kind, bytes);
  };
  std::size_t slots_to = kSlotPayload;
  const std::size_t most = std::min(wide, most_beside_lines(kind, costs.ranks, threads));
  for (std::size_t bytes = kSlotPayload / kLine * kLine + kLine; bytes <= most; bytes += kLine) {
    Method best = longer;
    double least = beside_lines_time(costs, longer, kind, static_cast<double>(bytes));
    const bool lines = in_lines && bytes <= static_cast<std::size_t>(most_lines(costs.ranks)) * kLinePayload;
    for (std::size_t i = ways.size(); i-- > 0;) {  // of equal ones the first
      if ((ways[i] == Method::grouped_fold || ways[i] == Method::level_fold) && !lines) continue;
      const double time = time_of(ways[i], static_cast<double>(bytes));
      if (time > least) continue;
      best = ways[i];
      least = time;
    }
    if (best == longer) break;
    append(row, after(slots_to), best);
    slots_to = bytes;
  }
  append(row, after(slots_to), longer);
  if (longer != longest) append(row, after(std::max(kSlotPayload, exposed_to)), longest);
  return row;
}

BoardShape usual_shape(int ranks, bool threads) {
  return threads ? BoardShape::for_threads(ranks) : BoardShape::for_ranks(ranks);
}

/// What else competes with the longest method of a board: the memory of the other processes, and the MPI library.
class Competitors {
 public:
  Competitors(const Topology& topology, const Profile& profile, Kind kind, const std::vector<MethodFrom>& board)
      : topology_(topology), profile_(profile), kind_(kind), board_(board),
        crosses_(topology.cross_memory && crosses_memory(kind)),
        asks_(topology.native && native_time(profile, topology, kind, 0).has_value()) {}

  bool any() const { return kind_ != Kind::barrier && (crosses_ || asks_); }

  /// The row of the board with what competes. Predictions are smooth between the sizes that are tried; where two
  /// neighbours differ, the change is found by bisection.
  std::vector<MethodFrom> row() const {
    std::vector<MethodFrom> row;
    MethodFrom before = decide(0);
    append(row, 0, before.method, before.native);
    for (const std::size_t size : sizes()) {
      const MethodFrom here = decide(size);
      while (differ(before, here)) {
        MethodFrom low = before, high = here;
        while (high.bytes - low.bytes > 1) {
          const MethodFrom middle = decide(low.bytes + (high.bytes - low.bytes) / 2);
          (differ(low, middle) ? high : low) = middle;
        }
        append(row, high.bytes, high.method, high.native);
        before = high;
      }
      before = here;
    }
    return row;
  }

 private:
  static bool differ(const MethodFrom& a, const MethodFrom& b) { return a.method != b.method || a.native != b.native; }

  MethodFrom decide(std::size_t bytes) const {
    const auto size = static_cast<double>(bytes);
    MethodFrom entry = entry_at(board_, bytes);
    entry.bytes = bytes;
    const bool crosses = crosses_ && entry.method == Method::staged && bytes >= kCrossMemoryFrom;
    if (!crosses && !asks_) return entry;
    double least = board_time(profile_, kind_, size, topology_.ranks, topology_.shares_memory, topology_.near);
    if (crosses) {
      const double time = cross_memory_time(profile_, kind_, size, topology_.ranks, topology_.lends_pages);
      if (time < least) entry.method = Method::cross_memory;
      least = std::min(least, time);
    }
    const auto native = asks_ ? native_time(profile_, topology_, kind_, size) : std::nullopt;
    // What fits a slot goes over the board unasked.
    entry.native = bytes > kSlotPayload && native && native->clearly_faster && native->nanoseconds < least;
    return entry;
  }

  std::set<std::size_t> sizes() const {
    constexpr std::size_t kLongest = std::size_t{1} << 46;  // of a call
    std::set<std::size_t> all = {kSlotPayload + 1, countable_bytes(kind_, topology_.ranks) + 1};
    for (const MethodFrom& entry : board_) all.insert(entry.bytes);
    for (std::size_t power = 128; power <= kLongest; power *= 2) all.insert({power, power + power / 2});
    for (const auto* tables : {&profile_.measured, &profile_.cross_memory, &profile_.native}) {
      const auto found = tables->find(std::string(to_string(kind_)));
      if (found == tables->end()) continue;
      for (const auto& [bytes, time] : found->second) all.insert(static_cast<std::size_t>(bytes));
    }
    return all;
  }

  const Topology& topology_;
  const Profile& profile_;
  Kind kind_;
  const std::vector<MethodFrom>& board_;
  bool crosses_, asks_;
};

}  // namespace

std::vector<MethodFrom> usual_methods(const LineCosts& costs, Kind kind, bool threads) {
  return row_of(costs, kind, usual_shape(costs.ranks, threads).wide, threads);
}

BoardMethods::BoardMethods(const LineCosts& costs, std::size_t wide, bool threads) : ranks_(costs.ranks), wide_(wide) {
  const BestLevels& levels = best_levels(costs, has_further_lines(costs.ranks, wide));
  groups_ = {{best_groups(costs, 1), best_groups(costs, 2), groups_of_many(costs)}, levels.climbs, levels.relay};
  for (std::size_t k = 0; k < kKinds; ++k) {
    const auto kind = static_cast<Kind>(k);
    Row& row = rows_[k];
    row.entries = row_of(costs, kind, wide, threads);
    row.short_method = row.entries.front().method;
  }
  find_short();
}

BoardMethods::BoardMethods(const Topology& topology, const Profile& profile)
    : BoardMethods(line_costs(profile, topology.ranks, topology.near),
                   topology.wide.value_or(usual_shape(topology.ranks, topology.shares_memory).wide),
                   topology.shares_memory) {
  if (topology.messages) largest_element_ = topology.largest_element;
  for (std::size_t k = 0; k < kKinds && topology.ranks > 1; ++k) {
    const Competitors competitors(topology, profile, static_cast<Kind>(k), rows_[k].entries);
    if (competitors.any()) rows_[k].entries = competitors.row();
  }
  find_short();
}

/// What fits a line, and all that goes by slots before another method begins.
void BoardMethods::find_short() {
  for (std::size_t k = 0; k < kKinds && ranks_ > 1; ++k) {
    const auto kind = static_cast<Kind>(k);
    if (kind == Kind::barrier) continue;
    Row& row = rows_[k];
    row.short_bytes = kLinePayload / blocks_in_slot(kind, ranks_);
    const MethodFrom& first = row.entries.front();
    const bool slots = first.method == Method::slots && row.short_method == Method::slots && !first.native;
    const std::size_t most = slots && row.entries.size() > 1 ? row.entries[1].bytes - 1 : 0;
    if (staged_element(kind, most, ranks_) <= largest_element_) row.short_bytes = std::max(row.short_bytes, most);
  }
}

std::optional<Method> BoardMethods::longer(Kind kind, std::size_t bytes, std::size_t element, Among which) const {
  const Row& row = rows_[static_cast<std::size_t>(kind)];
  if (staged_element(kind, element, ranks_) > largest_element_) return {};
  const MethodFrom& entry = entry_at(row.entries, bytes);
  if (which == Among::all && entry.native) return Method::native;
  if (entry.method == Method::grouped_fold || entry.method == Method::level_fold) {
    const int lines = lines_of(bytes / element, element);
    const bool climbs = entry.method == Method::level_fold;
    const bool fits = lines != 0 && lines <= most_lines(ranks_) &&
                      (climbs ? !groups_.climb(lines).none() : groups_.for_lines(lines).size != 0);
    return fits ? entry.method : Method::slots;
  }
  if (entry.method == Method::exposed_fold && share_elements(bytes / element, element, ranks_) * element > wide_)
    return Method::direct;
  return entry.method;
}

}  // namespace chasqui::run
