// SPDX-License-Identifier: MIT
#include "run/choose/board_methods.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "run/board/process_memory.hpp"
#include "run/board/shape.hpp"
#include "run/choose/board_cost.hpp"

namespace chasqui::run {
namespace {

/// A method's cost: publications one after another, lines read from each source beside the data, and for each line of
/// data; the latter two in units of LineCosts::each. Fitted to 16 threads and 16 processes, 128 B to 4 KiB, each method
/// forced (docs/laboratory/broadcast.md, "Data beside the line"; all-to-all and reduce-scatter of 16 processes:
/// docs/laboratory/all-to-all.md); one reader alone reads faster than all at once.
struct Cost {
  double publications, reads, lines;
};

Cost cost_of(Method method, Kind kind) {
  const bool threads = method == Method::direct;
  if (method == Method::exposed_fold) return {4.5, 0, 0.09};
  if (method == Method::shared_fold) return kind == Kind::reduce ? Cost{3.4, 0, 0.2} : Cost{4.5, 0, 0.2};
  if (method == Method::slots) {
    switch (kind) {
      case Kind::broadcast: return {1, 0, 0.6};
      case Kind::scatter: return {1, 0, 0.3};
      case Kind::reduce:
      case Kind::gather: return {1, 0.4, 0.4};
      case Kind::allreduce: return {2, 0.8, 0.8};
      case Kind::scan: return {2, 0.5, 0.5};
      case Kind::alltoall: return {1.6, 0.8, 1.8};
      case Kind::reduce_scatter: return {1.3, 0.2, 2.4};
      default: return {1, 0.8, 0.8};
    }
  }
  switch (kind) {
    case Kind::broadcast: return threads ? Cost{3, 0, 0} : Cost{2.4, 0, 1.8};
    case Kind::scatter: return threads ? Cost{3, 0, 0} : Cost{2.4, 0, 0.55};
    case Kind::gather: return threads ? Cost{3, 0, 0} : Cost{4, 0, 0.4};
    case Kind::reduce: return threads ? Cost{4, 2, 0} : Cost{3, 0, 0.55};
    case Kind::allgather: return threads ? Cost{3, 2, 0.15} : Cost{6.7, 0, 0.38};
    case Kind::alltoall: return threads ? Cost{3, 2, 0.3} : Cost{9.5, 0.8, 1};
    case Kind::reduce_scatter: return threads ? Cost{3, 2, 0.3} : Cost{6.5, 0.8, 2.1};
    case Kind::scan: return {5, 4, 0.15};
    default: return threads ? Cost{6, 4, 0.1} : Cost{5, 0, 0.35};
  }
}

/// The same between two ranks, where one reader waits for each line by itself: publications, and what each line of data takes of one.
/// Fitted to two threads and two processes of an x86-64 machine, 64 B to 8 KiB, each method in turn (docs/laboratory/memory.md,
/// "Two ranks").
struct CostOfTwo {
  double publications, line;
};

CostOfTwo cost_of_two(Method method, Kind kind) {
  const bool threads = method == Method::direct;
  if (method == Method::exposed_fold) return {2.5, 0.044};
  if (method == Method::shared_fold) return kind == Kind::reduce ? CostOfTwo{2.7, 0.075} : CostOfTwo{2.5, 0.096};
  if (method == Method::slots) {
    switch (kind) {
      case Kind::broadcast: return {1, 0.043};
      case Kind::scatter: return {1.4, 0.022};
      case Kind::gather: return {1.5, 0.036};
      case Kind::reduce: return {1.4, 0.06};
      case Kind::allreduce: return {1.7, 0.08};
      case Kind::alltoall: return {1.5, 0.088};
      case Kind::reduce_scatter: return {1.6, 0.1};
      case Kind::scan: return {1.6, 0.057};
      default: return {1.7, 0.047};
    }
  }
  switch (kind) {
    case Kind::broadcast: return threads ? CostOfTwo{2.4, 0.008} : CostOfTwo{3.6, 0.038};
    case Kind::scatter: return threads ? CostOfTwo{2.2, 0.004} : CostOfTwo{3.1, 0.023};
    case Kind::gather: return threads ? CostOfTwo{2.6, 0.003} : CostOfTwo{3.2, 0.054};
    case Kind::reduce: return threads ? CostOfTwo{3.1, 0.014} : CostOfTwo{3.6, 0.058};
    case Kind::allgather: return threads ? CostOfTwo{2.8, 0.004} : CostOfTwo{5.8, 0.052};
    case Kind::alltoall: return threads ? CostOfTwo{2.6, 0.008} : CostOfTwo{4.5, 0.054};
    case Kind::reduce_scatter: return threads ? CostOfTwo{2.6, 0.032} : CostOfTwo{5.7, 0.065};
    case Kind::scan: return threads ? CostOfTwo{3.4, 0.045} : CostOfTwo{3, 0.065};
    default: return threads ? CostOfTwo{3.5, 0.06} : CostOfTwo{4.2, 0.07};
  }
}

/// How much so many ranks are like two: 1 of two, 0 of the 16 that Cost is fitted to, and between them as a reader's share of what all
/// others write.
double like_two(int ranks) {
  constexpr double kOthers = 15;
  return std::max(0.0, (1.0 / std::max(1, ranks - 1) - 1 / kOthers) / (1 - 1 / kOthers));
}

/// What it takes to publish a line, of what is guessed for 16 ranks: between two the line has one reader.
double publishing(int ranks) {
  constexpr double kOfTwo = 0.63;  // 250 ns, measured, of the 400 of default_profile()
  return 1 - (1 - kOfTwo) * like_two(ranks);
}

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
  const bool folds = combines(kind) && kind != Kind::barrier;
  if (!exchanges(kind)) return folds ? element : 0;
  return std::max(kLine, folds ? (element + kLine - 1) / kLine * kLine : 0) * static_cast<std::size_t>(ranks);
}

Method uneven_method(const Call& call, const Topology& topology) {
  if (!topology.board_spans() || topology.ranks == 1) return Method::messages;
  if (topology.shares_memory) return Method::direct;
  const bool fits = staged_element(call.kind, call.element, topology.ranks) <= topology.largest_element;
  return fits || !topology.messages ? Method::staged : Method::messages;
}

const Level& node_level(const Profile& profile) {
  const Level* found = profile.level("node");
  return found != nullptr ? *found : profile.levels.front();
}

LineCosts line_costs(const Profile& profile, int ranks, const Grouping& caches) {
  constexpr double kNear = 0.5;  // where nobody has measured it
  constexpr int kGuessed = 16;   // ranks that the built-in guesses fit
  const Level& node = node_level(profile);
  const double near = node.near.value > 0 ? std::min(1.0, node.near.value) : kNear;
  const int measured = node.ranks > 1 ? static_cast<int>(node.ranks) : kGuessed;
  const double publish = node.publish.value * publishing(ranks) / publishing(measured);
  return {ranks, publish, node.publish_per_rank.value, caches, caches.size == 0 ? 1 : near};
}

namespace {

/// All that have a member for each line, or several, by size.
std::vector<Grouping> groupings(const LineCosts& costs, int lines) {
  std::vector<Grouping> all;
  for (int size = 2; size <= costs.ranks; ++size) all.push_back(Grouping::neighbours(costs.ranks, size));
  const int caches = costs.caches.dealt ? costs.caches.count : costs.ranks;
  for (int count = costs.ranks / 2 / caches * caches; count > 0; count -= caches)
    all.push_back(Grouping::by_turns(costs.ranks, count));
  std::erase_if(all, [&](const Grouping& groups) { return groups.smallest(costs.ranks) < std::min(lines, 2); });
  return all;
}

/// Of a slot: lines that are read, in units of LineCosts::each; the first comes with what announces it.
double lines_beside(double bytes) {
  return bytes <= static_cast<double>(kSlotPayload) ? 0 : std::ceil(bytes / static_cast<double>(kLine));
}

}  // namespace

/// Of more than two: each is read by all at the same time, and so much longer for every one of them (docs/laboratory/reduce.md,
/// "Line by line").
constexpr double kManyLines = 0.31;

double grouped_fold_time(const LineCosts& costs, int lines, const Grouping& groups) {
  if (groups.size == 0) {
    const double one_line = costs.publish + (costs.ranks - 1) * costs.each;
    return lines == 1 ? one_line : kTwoLines * one_line;
  }
  const double near = groups.inside(costs.caches) ? costs.near : 1;
  const int folded = (lines + groups.smallest(costs.ranks) - 1) / groups.smallest(costs.ranks);  // by a member
  const double read = lines > 2 ? kManyLines * costs.ranks * lines * groups.count : lines * groups.count - 1;
  return (near + 1) * costs.publish + (near * folded * (groups.size - 1) + read) * costs.each;
}

Grouping best_groups(const LineCosts& costs, int lines) {
  Grouping best;
  double least = lines > 2 ? std::numeric_limits<double>::infinity() : grouped_fold_time(costs, lines, {});
  for (const Grouping& groups : groupings(costs, lines)) {
    const double time = grouped_fold_time(costs, lines, groups);
    if (time < least || (time == least && best.size != 0)) {  // of equal ones the largest: fewer results to read
      best = groups;
      least = time;
    }
  }
  return best;
}

Grouping groups_of_many(const LineCosts& costs) {
  return most_lines(costs.ranks) > 2 ? best_groups(costs, most_lines(costs.ranks)) : Grouping{};
}

double relay_time(const LineCosts& costs, double bytes) {
  // A line takes its way, as long as so many turns, and a turn for each reader (docs/laboratory/broadcast.md, "Readers of a line").
  constexpr double kWay = 8;
  const double readers = costs.caches.size - 1 + costs.caches.count - 1;
  const double lines = cost_of(Method::slots, Kind::broadcast).lines * lines_beside(bytes) * costs.each;
  return ((kWay + readers) / (kWay + costs.ranks - 1) + costs.near) * costs.publish + (1 + costs.near) * lines;
}

double pipeline_time(const LineCosts& costs, double work) {
  const double steps = costs.ranks * costs.publish;
  return steps + work + 2 * std::sqrt(steps * work);
}

double beside_lines_time(const LineCosts& costs, Method method, Kind kind, double bytes) {
  if (method == Method::relay) return relay_time(costs, bytes);
  if (method == Method::grouped_fold)
    return grouped_fold_time(costs, static_cast<int>(std::ceil(bytes / static_cast<double>(kLinePayload))),
                             groups_of_many(costs));
  const bool one_source = kind == Kind::broadcast || kind == Kind::scatter;
  const double read = exchanges(kind) ? bytes / costs.ranks : bytes;  // of each slot
  const double lines = std::ceil(read / static_cast<double>(kLine));
  const auto of_many = [&] {
    if (method == Method::staged && kind == Kind::scan) return pipeline_time(costs, lines * kLineAlong * costs.each);
    const double sources = one_source ? 1 : costs.ranks - 1;
    const Cost cost = cost_of(method, kind);
    return cost.publications * costs.publish + sources * (cost.reads + cost.lines * lines) * costs.each;
  };
  const double two = like_two(costs.ranks);
  if (two == 0) return of_many();
  const CostOfTwo cost = cost_of_two(method, kind);
  return two * (cost.publications + cost.line * lines) * costs.publish + (1 - two) * of_many();
}

namespace {

/// The slot of a scatter holds the blocks of all, and so do those of an exchange.
std::size_t blocks_in_slot(Kind kind, int ranks) {
  return kind == Kind::scatter || exchanges(kind) ? static_cast<std::size_t>(ranks) : 1;
}

std::vector<MethodFrom> row_of(const LineCosts& costs, Kind kind, std::size_t wide, bool threads) {
  if (costs.ranks == 1) return {{}};
  const bool everywhere = kind == Kind::allreduce || kind == Kind::barrier;
  std::vector<MethodFrom> row;
  const bool relays = kind == Kind::broadcast && costs.caches.size != 0 && relay_time(costs, 0) < costs.publish;
  append(row, 0,
         everywhere && best_groups(costs, 1).size != 0 ? Method::grouped_fold
         : relays                                      ? Method::relay
                                                       : Method::slots);
  if (kind == Kind::barrier) return row;
  const std::size_t blocks = blocks_in_slot(kind, costs.ranks);
  const auto after = [&](std::size_t bytes) { return bytes / blocks + 1; };
  const bool grouped = (kind == Kind::reduce || kind == Kind::allreduce) && best_groups(costs, 2).size != 0;
  append(row, after(kLinePayload), grouped ? Method::grouped_fold : relays ? Method::relay : Method::slots);
  const Method longest = threads ? Method::direct : Method::staged;
  const std::size_t exposed_to = threads && kind == Kind::allreduce ? wide * static_cast<std::size_t>(costs.ranks) : 0;
  const Method longer = exposed_to != 0 ? Method::exposed_fold : longest;
  const bool shares = kind == Kind::reduce || kind == Kind::allreduce;
  std::vector<Method> ways = {Method::slots};
  if (relays) ways.push_back(Method::relay);
  // Two would fold half of the lines each, for the reader of all: nobody has timed it.
  const bool in_lines = kind == Kind::allreduce && costs.ranks > 2 && groups_of_many(costs).size != 0;
  if (in_lines) ways.push_back(Method::grouped_fold);
  if (shares) ways.push_back(Method::shared_fold);
  std::size_t most = wide, slots_to = kSlotPayload;
  if (longest == Method::staged && costs.ranks > 2 && kind != Kind::broadcast && !shares && !exchanges(kind))
    most = std::min(most, kWideFromAll);
  for (std::size_t bytes = kSlotPayload / kLine * kLine + kLine; bytes <= most; bytes += kLine) {
    Method best = longer;
    double least = beside_lines_time(costs, longer, kind, static_cast<double>(bytes));
    const bool lines = in_lines && bytes <= static_cast<std::size_t>(most_lines(costs.ranks)) * kLinePayload;
    for (std::size_t i = ways.size(); i-- > 0;) {  // of equal ones the first
      if (ways[i] == Method::grouped_fold && !lines) continue;
      const double time = beside_lines_time(costs, ways[i], kind, static_cast<double>(bytes));
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
    double least = board_time(profile_, kind_, size, topology_.ranks, topology_.shares_memory, topology_.caches);
    if (crosses) {
      const double time = cross_memory_time(profile_, kind_, size, topology_.ranks);
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

BoardMethods::BoardMethods(const LineCosts& costs, std::size_t wide, bool threads)
    : groups_{best_groups(costs, 1), best_groups(costs, 2), groups_of_many(costs), costs.caches}, ranks_(costs.ranks),
      wide_(wide) {
  for (std::size_t k = 0; k < kKinds; ++k) {
    const auto kind = static_cast<Kind>(k);
    Row& row = rows_[k];
    row.entries = row_of(costs, kind, wide, threads);
    row.short_method = row.entries.front().method;
  }
  find_short();
}

BoardMethods::BoardMethods(const Topology& topology, const Profile& profile)
    : BoardMethods(line_costs(profile, topology.ranks, topology.caches),
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

std::optional<Method> BoardMethods::longer(Kind kind, std::size_t bytes, std::size_t element, Among among) const {
  const Row& row = rows_[static_cast<std::size_t>(kind)];
  if (bytes <= row.short_bytes) return row.short_method;
  if (staged_element(kind, element, ranks_) > largest_element_) return {};
  const MethodFrom& entry = entry_at(row.entries, bytes);
  if (among == Among::all && entry.native) return Method::native;
  if (entry.method == Method::grouped_fold) {
    const int lines = lines_of(bytes / element, element);
    const bool fits = lines != 0 && lines <= most_lines(ranks_) &&
                      groups_[static_cast<std::size_t>(std::min(lines, 3) - 1)].size != 0;
    return fits ? Method::grouped_fold : Method::slots;
  }
  if (entry.method == Method::exposed_fold && share_elements(bytes / element, element, ranks_) * element > wide_)
    return Method::direct;
  return entry.method;
}

}  // namespace chasqui::run
