// SPDX-License-Identifier: MIT
// All methods with their predicted times. On one node the table of board_methods.hpp says which one runs.
#include "chasqui/run/choose.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "run/board/process_memory.hpp"
#include "run/board/shape.hpp"
#include "run/choose/board_cost.hpp"
#include "run/choose/board_methods.hpp"
#include "run/choose/by_messages.hpp"
#include "run/choose/lane_cost.hpp"
#include "run/choose/leaders.hpp"

namespace chasqui::run {

namespace {

/// An element that the stages of a board cannot hold: such folds go by messages.
bool too_large(const Query& query, const Topology& topology) {
  return folds(query.kind) && query.element > topology.largest_element && topology.messages && topology.ranks > 1;
}

/// Leaders fold their nodes first: where that must keep the order of the ranks, nodes must be intervals of them.
bool keeps_order(const Query& query, const Topology& topology) {
  return topology.ordered || !(query.kind == Kind::scan || (folds(query.kind) && !query.commutative));
}

const char* words_for(Method method, std::size_t bytes) {
  switch (method) {
    case Method::grouped_fold: return "members fold some lines each for their group, all read that";
    case Method::shared_fold: return "some ranks fold a share each of what all publish";
    case Method::exposed_fold: return "some ranks fold a share each of all buffers";
    case Method::staged: return "shared memory of the node";
    case Method::direct: return "copied once, from buffer to buffer";
    case Method::cross_memory: return "from process to process, by the kernel";
    default: break;
  }
  return bytes <= kSlotPayload ? "each value in a cache line that all read" : "published once, read by all who need it";
}

/// "l3, socket": the nearest first.
std::string names_of(const Nearness& near, unsigned levels) {
  std::vector<std::string_view> names;
  for (std::size_t level = 0; level < near.levels().size(); ++level) {
    if ((levels >> level & 1) != 0) names.push_back(to_string(near.levels()[level].what));
  }
  return fmt::to_string(fmt::join(names, ", "));
}

std::string words_for(Method method, const Query& query, const Topology& topology, const BoardGroups& groups) {
  if (method == Method::relay) return "published again in each " + names_of(*topology.near, groups.relay);
  if (method != Method::level_fold) return words_for(method, query.bytes);
  const int lines = query.kind == Kind::barrier ? 1 : std::max(1, lines_of(query.bytes / query.element, query.element));
  const Climb& climb = groups.climb(lines);
  const bool told = climb.down != 0 && query.kind != Kind::reduce;
  std::string folded = names_of(*topology.near, climb.up);
  if (climb.chunk != 0)
    folded = fmt::format("{} of each {}{}{}", climb.chunk, names_of(*topology.near, 1u << climb.of),
                         folded.empty() ? "" : ", ", folded);
  return fmt::format("folded in {}{}{}", climb.chunk != 0 ? "" : "each ", folded,
                     told ? ", told in each " + names_of(*topology.near, climb.down) : "");
}

class Chooser {
 public:
  Chooser(const Query& query, const Topology& topology, const Profile& profile, const BoardMethods& board)
      : query_(query), topology_(topology), profile_(profile), board_(board) {}

  std::vector<Choice> all() {
    if (topology_.ranks == 1) return {{Method::slots, bytes() * board_copy(), 1, "one rank: at most a copy"}};
    if (topology_.board_spans()) on_the_board();
    const std::size_t boards = choices_.size();
    if (topology_.messages) {
      const auto list = choices_by_messages(query_, level_of_messages(), topology_.ranks, topology_.nodes, profile_);
      choices_.insert(choices_.end(), list.begin(), list.end());
    }
    for (std::size_t i = boards; boards != 0 && i < choices_.size(); ++i)  // the same memory, in more steps
      choices_[i].nanoseconds = std::max(choices_[i].nanoseconds, choices_[0].nanoseconds);
    if (topology_.board && topology_.nodes > 1 && topology_.largest_node > 1) in_two_levels();
    const bool trusts_native = native();
    std::stable_sort(choices_.begin(), choices_.end(),
                     [](const Choice& a, const Choice& b) { return a.nanoseconds < b.nanoseconds; });
    if (!topology_.board_spans()) {
      if (!trusts_native) not_first(Method::native);
      return choices_;
    }
    const auto looked_up = board_.of(query_.kind, query_.bytes, query_.element);
    if (!looked_up && !trusts_native) not_first(Method::native);
    if (looked_up) {
      std::stable_partition(choices_.begin(), choices_.end(),
                            [&](const Choice& choice) { return choice.method == *looked_up; });
    }
    return choices_;
  }

 private:
  double bytes() const { return static_cast<double>(query_.bytes); }

  double board_copy() const {
    const Level* node = profile_.level("node");
    return query_.kind == Kind::barrier || query_.kind == Kind::broadcast || node == nullptr ? 0 : node->copy.value;
  }

  /// Inside a node messages go through the memory that the board uses, and its costs bound theirs: a line there and one back for
  /// each, every byte copied in and out while everybody copies, and read once more where it is folded. What a pair of ranks alone
  /// was measured to take is up to four times less (16 threads, 1 MiB: docs/results.md, "Threads and processes").
  /// Between nodes of several ranks these share the adapter, most of all with long messages.
  Level level_of_messages() const {
    Level level = message_level(topology_, profile_);
    if (!topology_.board_spans()) {
      const bool share = topology_.nodes > 1 && topology_.largest_node > 1;
      if (share) level.G.value = std::max(level.G.value, topology_.largest_node * node_gap_per_byte(level));
      return level;
    }
    const Level& node = node_level(profile_);
    const double flight = 2 * node.publish.value - level.o_s.value - level.o_r.value;
    level.L.value = std::max(level.L.value, flight);
    level.G.value = std::max(level.G.value, (folds(query_.kind) ? 2.4 : 1.5) * node.copy.value);
    return level;
  }

  void not_first(Method method) {
    if (choices_.size() > 1 && choices_[0].method == method) std::swap(choices_[0], choices_[1]);
  }

  /// What the table says without the library, and its competitor by the memory of the processes.
  void on_the_board() {
    const auto method = board_.ours(query_.kind, query_.bytes, query_.element);
    if (!method) return;
    const bool crosses = topology_.cross_memory && crosses_memory(query_.kind) && query_.bytes >= kCrossMemoryFrom;
    const Method over = *method == Method::cross_memory ? Method::staged : *method;
    const double time =
        board_time(profile_, query_.kind, bytes(), topology_.ranks, topology_.shares_memory, topology_.near);
    choices_.push_back({over, time, 1, words_for(over, query_, topology_, board_.groups())});
    if (over != Method::staged || !crosses) return;
    choices_.push_back({Method::cross_memory,
                        cross_memory_time(profile_, query_.kind, bytes(), topology_.ranks, topology_.lends_pages), 1,
                        words_for(Method::cross_memory, query_.bytes)});
  }

  void in_two_levels() {
    if (query_.kind > Kind::barrier || too_large(query_, topology_)) return;
    if (keeps_order(query_, topology_)) choices_.push_back(by_leaders());
    if (auto lanes = lane_way(query_, topology_, profile_)) choices_.push_back(std::move(lanes->choice));
  }

  Choice by_leaders() const {
    const Choice between = leaders_choice(query_, topology_, profile_);
    const double inside = leaders_boards_time(query_, topology_, profile_);
    Choice leaders{Method::two_level, inside + between.nanoseconds, 1,
                   fmt::format("slots in the nodes, {} between them", to_string(between.method))};
    if (const auto piped = piped_leaders(query_, topology_, profile_)) {
      leaders.nanoseconds = piped->nanoseconds;
      leaders.why = fmt::format("{} items, boards while they arrive", piped->items);
    }
    return leaders;
  }

  /// True if it may be chosen: clearly faster at the sizes that were measured around.
  bool native() {
    if (!topology_.native) return false;
    const auto time = native_time(profile_, topology_, query_.kind, bytes());
    if (time) choices_.push_back({Method::native, time->nanoseconds, 1, "the MPI library's own, as measured"});
    return time && time->clearly_faster;
  }

  Query query_;
  Topology topology_;
  const Profile& profile_;
  const BoardMethods& board_;
  std::vector<Choice> choices_;
};

}  // namespace

std::vector<Choice> choices(const Query& query, const Topology& topology, const Profile& profile,
                            const BoardMethods& board) {
  CHASQUI_CHECK(!profile.levels.empty(), "a profile has at least one level, host={}", profile.host);
  return Chooser(query, topology, profile, board).all();
}

std::vector<Choice> choices(const Query& query, const Topology& topology, const Profile& profile) {
  CHASQUI_CHECK(!profile.levels.empty(), "a profile has at least one level, host={}", profile.host);
  return choices(query, topology, profile, topology.board_spans() ? BoardMethods(topology, profile) : BoardMethods());
}

namespace {

/// Of a method on a board that spans all ranks.
std::string board_objection(Method method, const Query& query, const Topology& topology, const BoardMethods& board) {
  const Kind kind = query.kind;
  const std::size_t bytes = query.bytes;
  if (!topology.board_spans()) return "no board spans all ranks";
  const bool reduces = kind == Kind::reduce || kind == Kind::allreduce;
  const std::size_t slot =
      kind == Kind::scatter || exchanges(kind) ? bytes * static_cast<std::size_t>(topology.ranks) : bytes;
  const std::size_t wide = board.wide();
  const std::size_t count = bytes / query.element;
  const auto too_long = [&](std::size_t most) { return fmt::format("a slot holds {} bytes, not {}", most, slot); };
  switch (method) {
    case Method::slots: return slot <= std::max(kSlotPayload, wide) ? "" : too_long(std::max(kSlotPayload, wide));
    case Method::relay:
      if (kind != Kind::broadcast) return "only broadcasts are relayed";
      if (board.groups().relay == 0) return "all ranks are alike near each other, or nobody knows";
      return slot <= std::max(kSlotPayload, wide) ? "" : too_long(std::max(kSlotPayload, wide));
    case Method::level_fold:
    case Method::grouped_fold: {
      if (!reduces && kind != Kind::barrier) return "only folds have groups";
      const int lines = lines_of(count, query.element), most = most_lines(topology.ranks);
      if (lines == 0) return "an element does not fit a line";
      if (lines > most) return fmt::format("it takes {} lines, and there are {}", lines, most);
      if (method == Method::level_fold)
        return !board.groups().climb(lines).none() ? "" : fmt::format("there are no levels for {} lines", lines);
      if (lines == 1 && kind == Kind::reduce) return "a reduction of one line has no groups";
      if (board.groups().for_lines(lines).size == 0) return fmt::format("this board has no groups for {} lines", lines);
      return "";
    }
    case Method::shared_fold:
      if (!reduces) return "only reductions are shared";
      return bytes > kSlotPayload && bytes <= wide ? "" : fmt::format("only {} to {} bytes", kSlotPayload + 1, wide);
    case Method::exposed_fold:
      if (!topology.shares_memory || kind != Kind::allreduce) return "only all-reduces of threads";
      if (count == 0) return "nothing to fold";
      return share_elements(count, query.element, topology.ranks) * query.element <= wide ? "" : "a share fits no slot";
    case Method::direct: return topology.shares_memory ? "" : "processes do not share their buffers";
    case Method::cross_memory:
      if (!topology.cross_memory) return "the memory of other processes cannot be used";
      if (!crosses_memory(kind)) return "all would want the same pages";
      if (slot <= kSlotPayload) return fmt::format("{} bytes go through a slot", slot);
      break;
    default:
      if (topology.shares_memory) return "boards of threads have no stages";
      if (kind == Kind::barrier) return "a barrier has nothing to stage";
      break;
  }
  if (staged_element(kind, query.element, topology.ranks) <= topology.largest_element) return "";
  return fmt::format("an element of {} bytes does not fit the stage", query.element);
}

}  // namespace

std::string objection(const Choice& choice, const Query& query, const Topology& topology, const BoardMethods& board) {
  const Method method = choice.method;
  if (topology.ranks == 1) return "";  // at most a copy
  if (on_board(method)) return board_objection(method, query, topology, board);
  if (method == Method::native) return topology.native ? "" : "there is no MPI library to ask";
  if (!topology.messages) return "there are no messages between the ranks";
  if (method == Method::two_level) {
    if (!topology.board || topology.nodes == 1 || topology.largest_node == 1) return "there are not two levels";
    if (too_large(query, topology)) return fmt::format("an element of {} bytes does not fit the stage", query.element);
    if (choice.parts < 2) return keeps_order(query, topology) ? "" : "nodes are not intervals of ranks";
    if (!takes_lanes(query, topology)) return "it has no lanes";
    if (choice.parts > topology.smallest_node)
      return fmt::format("{} lanes, and the smallest node has {} ranks", choice.parts, topology.smallest_node);
    return "";
  }
  if (!goes_by(method, query)) return "there is no such plan for it";
  const bool needs_radix = method == Method::exchange || (method == Method::windows && exchanges(query.kind));
  if (needs_radix && choice.parts < 2) return fmt::format("a radix of {}", choice.parts);
  return "";
}

}  // namespace chasqui::run
