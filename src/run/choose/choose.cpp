// SPDX-License-Identifier: MIT
// All methods with their predicted times. On one node the table of board_methods.hpp says which one runs.
#include "chasqui/run/choose.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/kitem.hpp"
#include "chasqui/plan/universal_tree.hpp"
#include "run/board/process_memory.hpp"
#include "run/board/shape.hpp"
#include "run/choose/board_cost.hpp"
#include "run/choose/board_methods.hpp"
#include "run/choose/lane_cost.hpp"
#include "run/choose/pattern_cost.hpp"
#include "run/messages/local_plan.hpp"
#include "run/messages/message_cost.hpp"
#include "run/messages/sized_machine.hpp"

namespace chasqui::run {

const Level& message_level(const Topology& topology, const Profile& profile) {
  const Level* found = profile.level(topology.nodes > 1 || !topology.board ? "network" : "node");
  return found != nullptr ? *found : profile.levels.front();
}

namespace {

constexpr int kLargestRadix = 256;  ///< beyond, choosing itself would take long

bool spans_all(const Topology& topology) { return topology.board && topology.nodes == 1; }

/// An element that the stages of a board cannot hold: such folds go by messages.
bool too_large(const Query& query, const Topology& topology) {
  return folds(query.kind) && query.element > topology.largest_element && topology.messages && topology.ranks > 1;
}

/// Is there such a method by messages for this collective?
bool goes_by(Method method, const Query& query) {
  const Kind kind = query.kind;
  const bool reorders = (kind == Kind::reduce || kind == Kind::allreduce) && query.commutative;
  const bool scatters = kind == Kind::reduce_scatter && query.commutative;
  switch (method) {
    case Method::tree: return kind != Kind::allgather && !exchanges(kind);
    case Method::items: return kind == Kind::broadcast || kind == Kind::barrier || reorders;
    case Method::exchange: return kind == Kind::broadcast || reorders || scatters;
    case Method::windows: return kind == Kind::allgather || exchanges(kind);
    case Method::messages:
      return kind == Kind::allgather || kind == Kind::gather || kind == Kind::scatter || exchanges(kind);
    default: return false;
  }
}

/// Folds that must keep the order of the ranks need nodes that are intervals of them.
bool keeps_order(const Query& query, const Topology& topology) {
  return topology.ordered || !(query.kind == Kind::scan || (folds(query.kind) && !query.commutative));
}

const char* words_for(Method method, std::size_t bytes) {
  switch (method) {
    case Method::relay: return "one rank of each cache publishes it again for the others there";
    case Method::grouped_fold: return "members fold some lines each for their group, all read that";
    case Method::shared_fold: return "some ranks fold a share each of what all publish";
    case Method::exposed_fold: return "some ranks fold a share each of all buffers";
    case Method::staged: return "shared memory of the node";
    case Method::direct: return "copied once, from buffer to buffer";
    case Method::cross_memory: return "from process to process, by the kernel";
    default: break;
  }
  return bytes <= kSlotPayload ? "value and number in one line that all read"
                               : "published once, read by all who need it";
}

class Chooser {
 public:
  Chooser(const Query& query, const Topology& topology, const Profile& profile, const BoardMethods& board)
      : query_(query), topology_(topology), profile_(profile), board_(board) {}

  std::vector<Choice> all() {
    if (topology_.ranks == 1) return {{Method::slots, bytes() * board_copy(), 1, "one rank: at most a copy"}};
    if (spans_all(topology_)) on_the_board();
    const std::size_t boards = choices_.size();
    if (topology_.messages) by_messages(level_of_messages(), topology_.ranks, choices_);
    for (std::size_t i = boards; boards != 0 && i < choices_.size(); ++i)  // the same memory, in more steps
      choices_[i].nanoseconds = std::max(choices_[i].nanoseconds, choices_[0].nanoseconds);
    if (topology_.board && topology_.nodes > 1 && topology_.largest_node > 1) in_two_levels();
    const bool trusts_native = native();
    std::stable_sort(choices_.begin(), choices_.end(),
                     [](const Choice& a, const Choice& b) { return a.nanoseconds < b.nanoseconds; });
    if (!spans_all(topology_)) {
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

  /// Inside a node with `ranks` ranks: what the collective costs on the board.
  double board_time(Kind kind, double size, int ranks, bool threads) const {
    return run::board_time(profile_, kind, size, ranks, threads);
  }

  /// Inside a node messages go through the memory that the board uses, and its costs bound theirs: a line there and one back for
  /// each, every byte copied in and out while everybody copies, and read once more where it is folded. What a pair of ranks alone
  /// was measured to take is up to four times less (16 threads, 1 MiB: docs/results.md, "Threads and processes").
  /// Between nodes of several ranks these share the adapter, most of all with long messages.
  Level level_of_messages() const {
    Level level = message_level(topology_, profile_);
    if (!spans_all(topology_)) {
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
    const auto method = board_.own(query_.kind, query_.bytes, query_.element);
    if (!method) return;
    const bool crosses = topology_.cross_memory && crosses_memory(query_.kind) && query_.bytes >= kCrossMemoryFrom;
    const Method over = *method == Method::cross_memory ? Method::staged : *method;
    const double time =
        run::board_time(profile_, query_.kind, bytes(), topology_.ranks, topology_.shares_memory, topology_.caches);
    choices_.push_back({over, time, 1, words_for(over, query_.bytes)});
    if (over != Method::staged || !crosses) return;
    choices_.push_back({Method::cross_memory, cross_memory_time(profile_, query_.kind, bytes(), topology_.ranks), 1,
                        words_for(Method::cross_memory, query_.bytes)});
  }

  void by_messages(const Level& level, int ranks, std::vector<Choice>& list) const {
    const Kind kind = query_.kind;
    const bool symmetric = kind == Kind::allreduce || kind == Kind::barrier || kind == Kind::scan;
    if (exchanges(kind)) by_digits(level, ranks, list);
    else if (goes_by(Method::windows, query_)) windows(level, ranks, list, Method::windows);
    if (goes_by(Method::messages, query_)) direct_messages(level, ranks, list);
    if (goes_by(Method::tree, query_)) {
      if (symmetric) windows(level, ranks, list, Method::tree);
      else tree(level, ranks, list);
    }
    if (goes_by(Method::items, query_)) items(level, ranks, list, symmetric ? 2 : 1);
    if (goes_by(Method::exchange, query_)) exchange(level, ranks, list);
  }

  static double tree_time(const SizedMachine& sized) {
    return static_cast<double>(plan::broadcast_time(plan::broadcast_shape(sized.machine), sized.machine.P).ticks) *
           sized.tick;
  }

  void tree(const Level& level, int ranks, std::vector<Choice>& list) const {
    const bool blocks = query_.kind == Kind::gather || query_.kind == Kind::scatter;
    const bool receives = query_.kind == Kind::reduce;
    const double time =
        tree_time((receives ? receiving_machine_for : machine_for)(level, ranks, blocks ? 0 : bytes(), kTreeTicks));
    list.push_back(
        {Method::tree, blocks ? with_blocks(time, level, ranks) : time, 1, "optimal tree of one message a rank"});
  }

  /// The tree of empty messages takes `empty`; in a gather or scatter every block passes the root's port beside that. Where
  /// bandwidth is shared blocks overlap with the tree: within a sixth of simulated times (16 and 64 ranks, two networks). Where
  /// receives go on at a time the heaviest path counts, a third of the blocks at most there. A twentieth more for the memory that
  /// ranks on the way need: long blocks, where there is nothing to gain, go straight.
  double with_blocks(double empty, const Level& level, int ranks) const {
    const double all = 1.05 * bytes() * level.G.value * (ranks - 1);
    if (query_.kind == Kind::scatter) return empty + (level.shares_bandwidth ? 1.15 : 1) * all;
    if (level.shares_bandwidth) return std::max(empty + all / 2, flight_time(level, 0) + all);
    return empty + (level.receives_in_parallel ? all / 3 : all);
  }

  /// Where so many ranks send at once.
  Senders senders(int ranks) const { return Senders::of(ranks, topology_.nodes); }

  /// Of a pattern in which all ranks send. Where they share something, and where lanes were measured, its waves do not overlap, as in
  /// supersteps.
  static double everybody_time(const LocalPlan& plan, const Level& alone, const Level& crowd, double block) {
    const double time = symmetric_time(plan, crowd, block);
    return crowd == alone && alone.lane_gaps.empty() ? time : std::max(time, superstep_time(plan, crowd, block));
  }

  /// Symmetric plans that fold whole contributions: parts 0 is the plan for ranks that share something, 1 that for a rank alone.
  void windows(const Level& alone, int ranks, std::vector<Choice>& list, Method method) const {
    const Level level = with_everybody_sending(alone, profile_, senders(ranks));
    const double size = query_.kind == Kind::barrier ? 0 : bytes();
    const bool blocks = method == Method::windows;
    const auto plan_for = [&](const Level& seen) {
      Shape shape{.kind = blocks ? Kind::allgather : Kind::allreduce, .size = ranks};
      shape.count = static_cast<std::size_t>(size);
      return local_plan(shape, method, 1, seen);
    };
    const auto time_of = [&](LocalPlan plan) {
      if (blocks) return symmetric_time(plan, level, size);
      for (auto& send : plan.form.sends) send.part.len = 1;
      for (auto& send : plan.form.receives) send.part.len = 1;
      return everybody_time(plan, alone, level, size);
    };
    list.push_back({method, time_of(plan_for(level)), 0, "windows of the optimal all-reduce plan"});
    if (!blocks && query_.kind != Kind::scan && !(level == alone)) {
      list.push_back({method, time_of(plan_for(alone)), 1, "windows of the plan for one rank alone"});
    }
    for (const int radix : blocks ? radices(ranks) : std::vector<int>()) {
      list.push_back({method, symmetric_time(circulant(ranks, 0, radix), level, size), radix, "circulant windows"});
    }
  }

  /// Radices of circulant windows worth a look: those that need fewer rounds than the one before.
  static std::vector<int> radices(int ranks) {
    std::vector<int> list = {2};
    for (int radix = 3; radix <= std::min(4, ranks); ++radix)
      list.push_back(radix);  // more than the ranks is the same again
    for (int rounds = 4; rounds >= 1; --rounds) {
      int radix = list.back();
      while (radix <= kLargestRadix && std::pow(radix, rounds) < ranks) ++radix;
      if (radix > list.back() && radix <= kLargestRadix) list.push_back(radix);
    }
    return list;
  }

  /// Blocks on their way to all, several in one message.
  void by_digits(const Level& alone, int ranks, std::vector<Choice>& list) const {
    const Level level = with_everybody_sending(alone, profile_, senders(ranks));
    for (const int radix : radices(ranks)) {
      if (radix >= ranks) break;  // straight
      list.push_back({Method::windows, symmetric_time(by_distance(ranks, 0, radix), level, bytes()), radix,
                      "several blocks in a message, by digits of the distance"});
    }
  }

  void exchange(const Level& level, int ranks, std::vector<Choice>& list) const {
    const Level crowd = with_everybody_sending(level, profile_, senders(ranks));
    const double block = query_.kind == Kind::reduce_scatter ? bytes() : bytes() / ranks;
    for (const int radix : radices(ranks)) {
      const LocalPlan windows = circulant(ranks, 0, radix);
      const double gather = everybody_time(windows, level, crowd, block);
      LocalPlan reversed = windows;
      reversed.reversed = true;
      const double folding = everybody_time(reversed, level, crowd, block);
      // Blocks between the root and all, along the tree.
      const double rooted = tree_time(machine_for(level, ranks, 0, kTreeTicks)) + bytes() * level.G.value;
      switch (query_.kind) {
        case Kind::broadcast:
          list.push_back({Method::exchange, rooted + gather, radix, "scatter, then all-gather, on circulants"});
          break;
        case Kind::reduce_scatter:
          list.push_back({Method::exchange, folding, radix, "all-gather on circulants, backwards"});
          break;
        case Kind::reduce:
          list.push_back({Method::exchange, folding + rooted, radix, "reduce-scatter, then gather, on circulants"});
          break;
        default:
          list.push_back({Method::exchange, folding + gather, radix, "reduce-scatter, all-gather, on circulants"});
      }
    }
  }

  /// The buffer in k items along the k-item plan (twice for all-reduce: there and back); the best k.
  void items(const Level& level, int ranks, std::vector<Choice>& list, int times) const {
    const std::int64_t elements = static_cast<std::int64_t>(query_.bytes / std::max<std::size_t>(1, query_.element));
    const std::int64_t most = std::min<std::int64_t>({elements, static_cast<std::int64_t>(query_.bytes / 256), 4096});
    Choice best;
    if (times == 2) {  // one item: the tree, there and back
      best = {Method::items, 2 * tree_time(machine_for(level, ranks, bytes(), kTreeTicks)), 1,
              "along a tree, there and back"};
    }
    for (std::int64_t k = 2; k <= most; k += std::max<std::int64_t>(1, k / 8)) {
      const auto sized = item_machine(level, ranks, bytes() / static_cast<double>(k));
      const double time = times * static_cast<double>(plan::quick_kitem_time(sized.machine, k).ticks) * sized.tick;
      if (best.nanoseconds == 0 || time < best.nanoseconds)
        best = {Method::items, time, k, "cut into items that follow each other"};
    }
    if (best.nanoseconds > 0) list.push_back(best);
  }

  void direct_messages(const Level& alone, int ranks, std::vector<Choice>& list) const {
    const bool everybody = query_.kind == Kind::allgather || exchanges(query_.kind);
    const Level level = everybody ? with_everybody_sending(alone, profile_, senders(ranks)) : alone;
    double gap = everybody                     ? spread_step(level, bytes())
                 : query_.kind == Kind::gather ? receive_port_time(level, bytes())
                                               : port_time(level, bytes());
    // Where bandwidth is shared the receiver's own work comes beside the link.
    if (query_.kind == Kind::gather && level.shares_bandwidth)
      gap = std::max(gap, level.o_r.value + level.G.value * bytes());
    list.push_back(
        {Method::messages, flight_time(level, bytes()) + (ranks - 2) * gap, 1, "every block straight to its reader"});
  }

  void in_two_levels() {
    if (too_large(query_, topology_) || !keeps_order(query_, topology_)) return;
    const Level* network = profile_.level("network");
    if (network == nullptr) network = &profile_.levels.front();
    double inside = 0;
    Query between = query_;
    const int ranks = topology_.largest_node;
    switch (query_.kind) {
      case Kind::broadcast:
      case Kind::reduce: inside = board_time(query_.kind, bytes(), ranks, false); break;
      case Kind::allreduce:
      case Kind::barrier:
        inside = board_time(Kind::reduce, bytes(), ranks, false) + board_time(Kind::broadcast, bytes(), ranks, false);
        break;
      case Kind::allgather:
        inside = board_time(Kind::gather, bytes(), ranks, false) +
                 board_time(Kind::broadcast, bytes() * topology_.ranks, ranks, false);
        between.bytes *= static_cast<std::size_t>(ranks);
        break;
      case Kind::gather:
      case Kind::scatter:
        inside = board_time(query_.kind, bytes(), ranks, false);
        between.bytes *= static_cast<std::size_t>(ranks);
        break;
      case Kind::alltoall:
        inside = board_time(Kind::gather, bytes() * topology_.ranks, ranks, false) +
                 board_time(Kind::scatter, bytes() * topology_.ranks, ranks, false);
        between.bytes *= static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks);
        break;
      case Kind::reduce_scatter:
        inside = board_time(Kind::reduce, bytes() * topology_.ranks, ranks, false) +
                 board_time(Kind::scatter, bytes(), ranks, false);
        between.bytes *= static_cast<std::size_t>(ranks);
        break;
      case Kind::scan:
        inside = board_time(Kind::scan, bytes(), ranks, false) + board_time(Kind::broadcast, bytes(), ranks, false);
        break;
      default: return;
    }
    std::vector<Choice> list;
    Chooser(between, topology_, profile_, board_).by_messages(*network, topology_.nodes, list);
    if (exchanges(query_.kind)) std::erase_if(list, [](const Choice& each) { return each.method == Method::windows; });
    const auto best = std::min_element(list.begin(), list.end(),
                                       [](const Choice& a, const Choice& b) { return a.nanoseconds < b.nanoseconds; });
    Choice leaders{Method::two_level, inside + best->nanoseconds, 1,
                   fmt::format("slots in the nodes, {} between them", to_string(best->method))};
    if (const auto piped = piped_leaders(query_, topology_, profile_)) {
      leaders.nanoseconds = piped->nanoseconds;
      leaders.why = fmt::format("{} items, boards while they arrive", piped->items);
    }
    choices_.push_back(std::move(leaders));
    if (auto lanes = lane_way(query_, topology_, profile_)) choices_.push_back(std::move(lanes->choice));
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
  return choices(query, topology, profile, spans_all(topology) ? BoardMethods(topology, profile) : BoardMethods());
}

namespace {

/// Of a method on a board that spans all ranks.
std::string board_objection(Method method, const Query& query, const Topology& topology, const BoardMethods& board) {
  const Kind kind = query.kind;
  const std::size_t bytes = query.bytes;
  if (!spans_all(topology)) return "no board spans all ranks";
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
      if (board.groups()[3].size == 0) return "all ranks share a cache, or nobody knows";
      return slot <= std::max(kSlotPayload, wide) ? "" : too_long(std::max(kSlotPayload, wide));
    case Method::grouped_fold: {
      if (!reduces && kind != Kind::barrier) return "only folds have groups";
      const int lines = lines_of(count, query.element), most = most_lines(topology.ranks);
      if (lines == 0) return "an element does not fit a line";
      if (lines > most) return fmt::format("it takes {} lines, and there are {}", lines, most);
      if (lines == 1 && kind == Kind::reduce) return "a reduction of one line has no groups";
      if (board.groups()[static_cast<std::size_t>(std::min(lines, 3) - 1)].size == 0)
        return fmt::format("this board has no groups for {} lines", lines);
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
    if (choice.parts > 1 && !takes_lanes(query, topology)) return "it has no lanes";
    if (choice.parts > topology.smallest_node)
      return fmt::format("{} lanes, and the smallest node has {} ranks", choice.parts, topology.smallest_node);
    return keeps_order(query, topology) ? "" : "nodes are not intervals of ranks";
  }
  if (!goes_by(method, query)) return "there is no such plan for it";
  const bool needs_radix = method == Method::exchange || (method == Method::windows && exchanges(query.kind));
  if (needs_radix && choice.parts < 2) return fmt::format("a radix of {}", choice.parts);
  return "";
}

}  // namespace chasqui::run
