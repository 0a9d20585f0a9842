// SPDX-License-Identifier: MIT
#include "chasqui/run/choose.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/kitem.hpp"
#include "chasqui/plan/universal_tree.hpp"
#include "run/board/board.hpp"
#include "run/board/process_memory.hpp"
#include "run/choose/board_cost.hpp"
#include "run/choose/pattern_cost.hpp"
#include "run/messages/local_plan.hpp"
#include "run/messages/message_cost.hpp"

namespace chasqui::run {

std::string_view to_string(Method method) {
  switch (method) {
    case Method::slots: return "slots";
    case Method::staged: return "staged";
    case Method::direct: return "direct";
    case Method::across: return "across";
    case Method::tree: return "tree";
    case Method::items: return "items";
    case Method::exchange: return "exchange";
    case Method::windows: return "windows";
    case Method::messages: return "messages";
    case Method::two_level: return "two-level";
    case Method::native: return "native";
  }
  return "?";
}

namespace {

SizedMachine with_gap(double g, const Level& level, std::int64_t ranks, double bytes, std::int64_t most) {
  const double o = std::min(g, (level.o_s.value + level.o_r.value) / 2);  // what a lone message costs beyond is latency
  const double L = flight_time(level, bytes) - 2 * o;
  const auto whole = [](double x) { return std::max<std::int64_t>(0, std::llround(std::min(x, 1e14))); };
  std::int64_t ticks[3] = {whole(L), whole(o), std::max<std::int64_t>(1, whole(g))};
  std::int64_t common = std::gcd(std::gcd(ticks[0], ticks[1]), ticks[2]);
  double tick = static_cast<double>(common);
  for (auto& t : ticks) t /= common;
  const std::int64_t lambda = ticks[0] + 2 * ticks[1];
  if (lambda > most) {
    const double scale = static_cast<double>(lambda) / static_cast<double>(most);
    tick *= scale;
    for (auto& t : ticks) t = whole(static_cast<double>(t) / scale);
    ticks[2] = std::max<std::int64_t>(1, ticks[2]);
  }
  if (ticks[0] + 2 * ticks[1] == 0) ticks[0] = 1;
  return {LogP{ranks, Time{ticks[0]}, Time{ticks[1]}, Time{ticks[2]}}, tick};
}

}  // namespace

SizedMachine machine_for(const Level& level, std::int64_t ranks, double bytes, std::int64_t most) {
  return with_gap(port_time(level, bytes), level, ranks, bytes, most);
}

SizedMachine receiving_machine_for(const Level& level, std::int64_t ranks, double bytes, std::int64_t most) {
  return with_gap(receive_port_time(level, bytes), level, ranks, bytes, most);
}

const Level& message_level(const Terrain& terrain, const Profile& profile) {
  const Level* found = profile.level(terrain.nodes > 1 || !terrain.board ? "network" : "node");
  return found != nullptr ? *found : profile.levels.front();
}

SizedMachine item_machine(const Level& level, std::int64_t ranks, double bytes) {
  constexpr double kMost = 1e9;  // steps; beyond, items do not follow each other
  // Where messages under way share the link, sends keep to the plan's times, with a margin for headers and rounding.
  const double own = level.shares_bandwidth
                         ? std::max(1.01 * port_time(level, bytes), level.o_s.value + level.o_r.value)
                         : std::max(level.g.value, level.o_s.value + level.o_r.value + level.G.value * bytes);
  const double step = std::max(own, 1e-6);
  const double lambda = flight_time(level, bytes);
  const auto steps =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(std::min(lambda / step, kMost) - 1e-9)));
  return {LogP::postal(ranks, Time{steps}), step};
}

namespace {

constexpr std::int64_t kTreeTicks = 1'000'000'000;
constexpr int kLargestRadix = 256;  ///< beyond, choosing itself would take long

class Chooser {
 public:
  Chooser(const Query& query, const Terrain& terrain, const Profile& profile)
      : query_(query), terrain_(terrain), profile_(profile) {}

  std::vector<Choice> all() {
    if (terrain_.ranks == 1) return {{Method::slots, bytes() * board_copy(), 1, "one rank: at most a copy"}};
    if (terrain_.board && terrain_.nodes == 1) on_board();
    if (terrain_.messages && terrain_.ranks > 1) {
      by_messages(message_level(terrain_, profile_), terrain_.ranks, choices_);
    }
    if (terrain_.board && terrain_.nodes > 1 && terrain_.largest_node > 1) in_two_levels();
    native();
    std::stable_sort(choices_.begin(), choices_.end(),
                     [](const Choice& a, const Choice& b) { return a.nanoseconds < b.nanoseconds; });
    if (terrain_.board && terrain_.nodes == 1) {
      // Where a board spans all ranks it is used: it also finds out when ranks disagree about sizes.
      std::stable_partition(choices_.begin(), choices_.end(), [](const Choice& choice) {
        return choice.method == Method::slots || choice.method == Method::staged || choice.method == Method::direct ||
               choice.method == Method::across || choice.method == Method::native;
      });
    }
    // What fits a slot goes over the board unasked: asking would take as long.
    const bool slot = terrain_.board && terrain_.nodes == 1 && query_.bytes <= kSlotPayload;
    if (choices_.size() > 1 && choices_[0].method == Method::native && (slot || !trusts_native_))
      std::swap(choices_[0], choices_[1]);
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

  /// An element that the stages of the board cannot hold: such folds go by messages.
  bool too_large() const {
    const bool folds = query_.kind == Kind::reduce || query_.kind == Kind::allreduce || query_.kind == Kind::scan;
    return folds && query_.element > terrain_.largest_element && terrain_.messages && terrain_.ranks > 1;
  }

  void on_board() {
    if (too_large()) return;
    const Way way = board_way(profile_, query_.kind, bytes(), terrain_.ranks, terrain_.shares_memory);
    const Method method = way == Way::direct || way == Way::lent ? Method::direct
                          : way == Way::staged                   ? Method::staged
                                                                 : Method::slots;
    const char* why = way == Way::lent               ? "some ranks fold a share each of all buffers"
                      : method == Method::direct     ? "copied once, from buffer to buffer"
                      : method != Method::slots      ? "shared memory of the node"
                      : query_.bytes <= kSlotPayload ? "value and number in one line that all read"
                      : way == Way::dealt            ? "some ranks fold a share each of what all publish"
                                                     : "published once, read by all who need it";
    choices_.push_back({method, board_time(query_.kind, bytes(), terrain_.ranks, terrain_.shares_memory), 1, why});
    if (method != Method::staged || !terrain_.reaches || terrain_.ranks < 2 || !goes_across(query_.kind)) return;
    if (query_.bytes < kReachFrom) return;
    choices_.push_back({Method::across, across_time(profile_, query_.kind, bytes(), terrain_.ranks), 1,
                        "from process to process, by the kernel"});
  }

  void by_messages(const Level& level, int ranks, std::vector<Choice>& list) const {
    switch (query_.kind) {
      case Kind::broadcast:
        tree(level, ranks, list);
        items(level, ranks, list, 1);
        exchange(level, ranks, list);
        break;
      case Kind::reduce:
        tree(level, ranks, list);
        if (query_.commutative) {
          items(level, ranks, list, 1);
          exchange(level, ranks, list);
        }
        break;
      case Kind::allreduce:
        windows(level, ranks, list, Method::tree);
        if (query_.commutative) {
          items(level, ranks, list, 2);
          exchange(level, ranks, list);
        }
        break;
      case Kind::allgather:
        windows(level, ranks, list, Method::windows);
        direct_messages(level, ranks, list);
        break;
      case Kind::gather:
      case Kind::scatter:
        direct_messages(level, ranks, list);
        tree(level, ranks, list);
        break;
      case Kind::barrier:
        windows(level, ranks, list, Method::tree);
        items(level, ranks, list, 2);
        break;
      default: windows(level, ranks, list, Method::tree); break;
    }
  }

  static double tree_time(const SizedMachine& sized) {
    return static_cast<double>(plan::broadcast_time(plan::broadcast_shape(sized.machine), sized.machine.P).ticks) *
           sized.tick;
  }

  void tree(const Level& level, int ranks, std::vector<Choice>& list) const {
    const bool blocks = query_.kind == Kind::gather || query_.kind == Kind::scatter;
    const bool receives = query_.kind == Kind::reduce;
    double time =
        tree_time((receives ? receiving_machine_for : machine_for)(level, ranks, blocks ? 0 : bytes(), kTreeTicks));
    if (blocks) time += bytes() * level.G.value * (ranks - 1) * 1.5;
    list.push_back({Method::tree, time, 1, "optimal tree of one message a rank"});
  }

  /// Symmetric plans that fold whole contributions: parts 0 is the plan for ranks that share something, 1 that for a rank alone.
  void windows(const Level& alone, int ranks, std::vector<Choice>& list, Method method) const {
    const Level level = with_everybody_sending(alone, profile_);
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
      const double time = symmetric_time(plan, level, size);
      return level == alone ? time : std::max(time, superstep_time(plan, level, size));
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

  void exchange(const Level& level, int ranks, std::vector<Choice>& list) const {
    const Level crowd = with_everybody_sending(level, profile_);
    const double block = bytes() / ranks;
    for (const int radix : radices(ranks)) {
      const LocalPlan windows = circulant(ranks, 0, radix);
      const double gather = symmetric_time(windows, crowd, block);
      LocalPlan reversed = windows;
      reversed.reversed = true;
      const double folding = symmetric_time(reversed, crowd, block);
      // Blocks between the root and all, along the tree.
      const double rooted = tree_time(machine_for(level, ranks, 0, kTreeTicks)) + bytes() * level.G.value;
      switch (query_.kind) {
        case Kind::broadcast:
          list.push_back({Method::exchange, rooted + gather, radix, "scatter, then all-gather, on circulants"});
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
    const bool everybody = query_.kind == Kind::allgather;
    const Level level = everybody ? with_everybody_sending(alone, profile_) : alone;
    const double gap = everybody                     ? spread_step(level, bytes())
                       : query_.kind == Kind::gather ? receive_port_time(level, bytes())
                                                     : port_time(level, bytes());
    list.push_back(
        {Method::messages, flight_time(level, bytes()) + (ranks - 2) * gap, 1, "every block straight to its reader"});
  }

  void in_two_levels() {
    if (too_large()) return;
    const bool folds = query_.kind == Kind::reduce || query_.kind == Kind::allreduce;
    if (!terrain_.ordered && (query_.kind == Kind::scan || (folds && !query_.commutative))) return;
    const Level* network = profile_.level("network");
    if (network == nullptr) network = &profile_.levels.front();
    double inside = 0;
    Query between = query_;
    const int ranks = terrain_.largest_node;
    switch (query_.kind) {
      case Kind::broadcast:
      case Kind::reduce: inside = board_time(query_.kind, bytes(), ranks, false); break;
      case Kind::allreduce:
      case Kind::barrier:
        inside = board_time(Kind::reduce, bytes(), ranks, false) + board_time(Kind::broadcast, bytes(), ranks, false);
        break;
      case Kind::allgather:
        inside = board_time(Kind::gather, bytes(), ranks, false) +
                 board_time(Kind::broadcast, bytes() * terrain_.ranks, ranks, false);
        between.bytes *= static_cast<std::size_t>(ranks);
        break;
      case Kind::gather:
      case Kind::scatter:
        inside = board_time(query_.kind, bytes(), ranks, false);
        between.bytes *= static_cast<std::size_t>(ranks);
        break;
      case Kind::scan:
        inside = board_time(Kind::scan, bytes(), ranks, false) + board_time(Kind::broadcast, bytes(), ranks, false);
        break;
      default: return;
    }
    std::vector<Choice> list;
    Chooser(between, terrain_, profile_).by_messages(*network, terrain_.nodes, list);
    const auto best = std::min_element(list.begin(), list.end(),
                                       [](const Choice& a, const Choice& b) { return a.nanoseconds < b.nanoseconds; });
    choices_.push_back({Method::two_level, inside + best->nanoseconds, 1,
                        fmt::format("slots in the nodes, {} between them", to_string(best->method))});
  }

  /// The library counts in `int`, also inside, where it puts blocks together: what all ranks bring stays below 2 GiB.
  void native() {
    const bool blocks = query_.kind == Kind::allgather || query_.kind == Kind::gather || query_.kind == Kind::scatter;
    if (bytes() * (blocks ? terrain_.ranks : 1) > std::numeric_limits<int>::max()) return;
    const auto time = native_time(profile_, terrain_, query_.kind, bytes());
    if (!time) return;
    trusts_native_ = time->clearly_faster;
    choices_.push_back({Method::native, time->nanoseconds, 1, "the MPI library's own, as measured"});
  }

  Query query_;
  Terrain terrain_;
  const Profile& profile_;
  std::vector<Choice> choices_;
  bool trusts_native_ = false;
};

}  // namespace

std::vector<Choice> choices(const Query& query, const Terrain& terrain, const Profile& profile) {
  CHASQUI_CHECK(!profile.levels.empty(), "a profile has at least one level, host={}", profile.host);
  return Chooser(query, terrain, profile).all();
}

}  // namespace chasqui::run
