// SPDX-License-Identifier: MIT
// Many ranks in one thread: all start, then they are polled in turn, so every run is the same. Every method that
// applies to a call is tried, not only the chosen one.
#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/sum.hpp"
#include "chasqui/run/choose.hpp"
#include "chasqui/run/sum.hpp"
#include "chasqui/threads/team.hpp"
#include "run/board/board.hpp"
#include "run/board/process_memory.hpp"
#include "run/choose/board_methods.hpp"
#include "run/choose/lane_cost.hpp"
#include "run/comm/fabric.hpp"
#include "run/wait/cores.hpp"
#include "suite.hpp"
#include "sweep.hpp"
#include "threads/channels.hpp"

namespace chasqui::engines {
namespace {

using Comms = std::vector<std::unique_ptr<run::Comm>>;

constexpr Kind kKinds[] = {Kind::broadcast, Kind::reduce,   Kind::allreduce,      Kind::allgather, Kind::gather,
                           Kind::scatter,   Kind::alltoall, Kind::reduce_scatter, Kind::scan,      Kind::barrier};

/// A network with these parameters (nanoseconds, nanoseconds a byte).
std::shared_ptr<const Profile> network(double L, double o, double G) {
  Profile profile = default_profile();
  for (auto& level : profile.levels) {
    level.L = Estimate::exactly(L);
    level.o_s = level.o_r = level.g = Estimate::exactly(o);
    level.G = Estimate::exactly(G);
  }
  return std::make_shared<const Profile>(profile);
}

/// Runs one recipe on all ranks with one method; says what is wrong.
std::string play(Comms& comms, const Recipe& recipe, const run::Choice& choice) {
  const int size = static_cast<int>(comms.size());
  std::vector<std::unique_ptr<Case>> cases;
  std::vector<run::Request> requests;
  for (int r = 0; r < size; ++r) {
    cases.push_back(recipe.make(r, size));
    comms[static_cast<std::size_t>(r)]->force(choice);
    requests.push_back(comms[static_cast<std::size_t>(r)]->start(cases.back()->call));
  }
  int left = size;
  std::vector<bool> ended(static_cast<std::size_t>(size));
  for (int turns = 0; left > 0; ++turns) {
    if (turns > 100'000) return "does not end";
    for (std::size_t r = 0; r < requests.size(); ++r) {
      if (ended[r] || !requests[r].test()) continue;
      ended[r] = true;
      --left;
    }
  }
  for (const auto& one : cases) {
    if (const auto wrong = one->check(); !wrong.empty()) return wrong;
  }
  return {};
}

/// All ranks live in one memory; reading fails after so many times.
class OneMemory final : public run::ProcessMemory {
 public:
  explicit OneMemory(int good_reads) : good_reads_(good_reads) {}
  void read(int, void* to, const void* from, std::size_t bytes) override {
    if (good_reads_-- == 0) throw Error("that memory is gone");
    std::memcpy(to, from, bytes);
  }
  void write(int, void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }

 private:
  int good_reads_;
};

/// Pipes between all ranks of this process, of the least size that ranks of different processes would take.
std::vector<std::shared_ptr<run::LentPages>> lenders(std::size_t ranks) {
  std::vector<std::shared_ptr<run::LentPages>> all;
  std::vector<std::vector<int>> ends(
      ranks, std::vector<int>(ranks, -1));  // of the pipe from one rank to another: where that one reads
  for (std::size_t from = 0; from < ranks; ++from) {
    std::vector<int> to_rank(ranks, -1);
    for (std::size_t to = 0; to < ranks; ++to) {
      if (from == to) continue;
      int both[2];
      if (pipe2(both, O_NONBLOCK | O_CLOEXEC) != 0) throw Error("no pipe: {}", std::strerror(errno));
      to_rank[to] = open(("/proc/self/fd/" + std::to_string(both[0])).c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
      ends[from][to] = both[0];
      close(both[1]);
    }
    all.push_back(std::make_shared<run::LentPages>(std::move(to_rank)));
  }
  for (std::size_t from = 0; from < ranks; ++from)
    for (std::size_t to = 0; to < ranks; ++to) all[to]->hear_from(static_cast<int>(from), ends[from][to]);
  return all;
}

/// Ranks on nodes with a board each, messages between all of them; perhaps with access to each other's memory.
Comms node_comms(const std::vector<int>& node_of, const std::shared_ptr<const Profile>& profile, int good_reads = -1,
                 const std::vector<std::shared_ptr<run::LentPages>>& lent = {}) {
  const auto channels = std::make_shared<threads::ChannelMemory>(static_cast<int>(node_of.size()));
  std::vector<std::shared_ptr<std::byte>> boards;
  Comms comms;
  for (std::size_t rank = 0; rank < node_of.size(); ++rank) {
    const auto node = static_cast<std::size_t>(node_of[rank]);
    run::BoardShape shape;
    shape.ranks = static_cast<int>(std::count(node_of.begin(), node_of.end(), node_of[rank]));
    shape.stage = 16 * 1024;
    shape.ring = 40 * 1024;
    if (boards.size() <= node) boards.resize(node + 1);
    if (boards[node] == nullptr) {
      constexpr std::align_val_t kPage{4096};
      boards[node] = {static_cast<std::byte*>(::operator new(shape.bytes(), kPage)),
                      [](std::byte* memory) { ::operator delete(memory, kPage); }};
      std::memset(boards[node].get(), 0, shape.bytes());
    }
    const auto place = std::count(node_of.begin(), node_of.begin() + static_cast<std::ptrdiff_t>(rank), node_of[rank]);
    run::Fabric fabric;
    fabric.rank = static_cast<int>(rank);
    fabric.size = static_cast<int>(node_of.size());
    fabric.node_of = node_of;
    fabric.board = {new run::Board(boards[node].get(), shape, static_cast<int>(place), run::available_cores()),
                    [memory = boards[node]](run::Board* board) { delete board; }};
    fabric.messages = std::make_shared<threads::ChannelTransport>(channels, fabric.rank);
    fabric.profile = profile;
    fabric.process_memory = std::make_shared<OneMemory>(good_reads);
    if (!lent.empty()) fabric.process_memory->lend_by(lent[rank]);
    comms.push_back(run::make_comm(std::move(fabric)));
  }
  return comms;
}

void play_all(int size, const std::shared_ptr<const Profile>& profile, const std::vector<int>& counts,
              std::set<run::Method>& used, Comms comms = {}, std::optional<run::Method> only = {},
              std::optional<Kind> kind = {}) {
  static Sweep sweep;
  if (comms.empty()) comms = threads::make_comms(size, profile, false);
  for (const auto& recipe : recipes(size, {0, size / 2, size - 1}, counts)) {
    const auto probe = recipe.make(0, size);
    if (kind && probe->call.kind != *kind) continue;
    run::Call packed = probe->call;
    packed.in_layout = packed.out_layout = {};
    std::set<std::pair<run::Method, std::int64_t>> seen;
    for (const auto& choice : comms[0]->choices_for(packed)) {
      if (only && choice.method != *only) continue;
      if (!seen.insert({choice.method, choice.parts}).second || !sweep.takes_next()) continue;
      used.insert(choice.method);
      const auto wrong = play(comms, recipe, choice);
      ASSERT_EQ(wrong, "") << recipe.name << " on " << size << " ranks by " << to_string(choice.method) << " ("
                           << choice.parts << ")";
    }
  }
}

TEST(Loop, EveryMethodOnManyRanks) {
  std::set<run::Method> used;
  for (const int size : {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17}) {
    play_all(size, network(1000, 300, 0.08), {0, 1, 5, 300}, used);
    if (HasFatalFailure()) return;
  }
  Profile shared = *network(1000, 300, 0.08);
  for (auto& level : shared.levels) level.shares_bandwidth = true;  // sends keep to the plan's times
  for (const int size : {2, 5, 9}) play_all(size, std::make_shared<const Profile>(shared), {0, 1, 2000}, used);
  Profile parallel = *network(1000, 300, 0.08);
  for (auto& level : parallel.levels) level.receives_in_parallel = true;  // reductions by flatter trees
  play_all(11, std::make_shared<const Profile>(parallel), {1, 2000}, used);
  play_all(33, network(25'000, 3000, 0.8), {1, 70}, used);
  play_all(21, network(5'000'000, 10'000, 8), {2, 2000}, used);
  for (const auto method :
       {run::Method::tree, run::Method::items, run::Method::exchange, run::Method::windows, run::Method::messages}) {
    EXPECT_TRUE(used.contains(method)) << to_string(method) << " was never tried";
  }
}

/// Nodes of equal and of different sizes, in order, dealt round robin, and in disorder; every collective by two levels.
TEST(Loop, TwoLevelsOnNodesOfAnyShape) {
  const auto profile = network(20'000, 3000, 0.8);
  for (const std::vector<int>& node_of : std::vector<std::vector<int>>{{0, 0, 1, 1},
                                                                       {0, 1, 0, 1, 0},
                                                                       {0, 0, 0, 1, 2, 2},
                                                                       {0, 1, 1, 0, 2, 1, 0},
                                                                       {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3},
                                                                       {0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1}}) {
    const int size = static_cast<int>(node_of.size());
    const bool ordered = std::is_sorted(node_of.begin(), node_of.end());
    std::set<run::Method> used;
    play_all(size, profile, {0, 1, 5, 3000}, used, node_comms(node_of, profile));
    if (HasFatalFailure()) return;
    EXPECT_TRUE(used.contains(run::Method::two_level));
    const auto comms = node_comms(node_of, profile);
    for (const Kind kind : kKinds) {
      const auto list = run::choices({kind, 8, 8, true}, comms[0]->topology(), *profile);
      const auto offered = [&](bool lanes) {
        return std::any_of(list.begin(), list.end(), [&](const run::Choice& choice) {
          return choice.method == run::Method::two_level && (choice.parts > 1) == lanes;
        });
      };
      EXPECT_EQ(offered(false), ordered || kind != Kind::scan) << to_string(kind);
      if (kind == Kind::scan && !ordered) {
        EXPECT_EQ(offered(true), size == 12);
      }
    }
  }
}

/// Several ranks of a node talk to the others, on nodes of equal and of different sizes, in order and in disorder: whatever root,
/// size and adapter, in every style that a collective has.
TEST(Loop, LanesOnNodesOfAnyShape) {
  using Style = run::LaneWay::Style;
  Profile fast = *network(2000, 400, 0.1);
  for (auto& level : fast.levels) level.node_g = Estimate::exactly(1);
  Profile slow = fast;
  for (auto& level : slow.levels) level.node_g = Estimate::exactly(250);
  Profile wide = fast;  // a rank cannot fill the adapter of its node
  for (auto& level : wide.levels) level.G = Estimate::exactly(20), level.node_G = Estimate::exactly(0.01);
  std::vector<std::vector<int>> shapes = {{0, 0, 1, 1}, {0, 1, 2, 0, 1, 2, 2, 0}, {0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3}};
  for (const auto& [nodes, ranks] : {std::pair{7, 3}, {12, 4}, {17, 2}}) {
    shapes.emplace_back();
    for (int r = 0; r < nodes * ranks; ++r) shapes.back().push_back(nodes == 12 ? r % nodes : r / ranks);
  }
  std::set<std::pair<Kind, Style>> styles;
  std::set<std::pair<Kind, bool>> lanes;  // by collective, and whether there were more than two
  for (const Profile& machine : {fast, slow, wide}) {
    const auto profile = std::make_shared<const Profile>(machine);
    for (const std::vector<int>& node_of : shapes) {
      const int size = static_cast<int>(node_of.size());
      std::set<run::Method> used;
      play_all(size, profile, {0, 1, 200}, used, node_comms(node_of, profile), run::Method::two_level);
      if (HasFatalFailure()) return;
      const auto comms = node_comms(node_of, profile);
      const run::Topology& topology = comms[0]->topology();
      for (const Kind kind : kKinds) {
        for (const std::size_t bytes : {8, 1600}) {
          const auto way = run::lane_way({kind, bytes, 8, true}, topology, machine);
          if (!way) continue;
          EXPECT_LE(way->choice.parts, topology.smallest_node);
          EXPECT_GE(way->choice.parts, 2);
          styles.insert({kind, way->style});
          lanes.insert({kind, way->choice.parts > 2});
        }
        const auto in_order = run::lane_way({kind, 8, 8, false}, topology, machine);
        const bool folds = combines(kind) && kind != Kind::barrier;
        EXPECT_TRUE(!in_order || !folds || in_order->style == Style::brought ||
                    (in_order->style == Style::shares && topology.ordered))
            << to_string(kind);
      }
    }
  }
  for (const Kind kind : kKinds)
    EXPECT_TRUE(lanes.contains({kind, true}) && lanes.contains({kind, false})) << to_string(kind);
  for (const Kind kind : kKinds) {
    const bool whole =
        kind == Kind::broadcast || kind == Kind::reduce || kind == Kind::allreduce || kind == Kind::barrier;
    EXPECT_TRUE(styles.contains({kind, whole ? Style::whole : Style::dealt})) << to_string(kind);
    EXPECT_EQ(styles.contains({kind, Style::shares}), kind != Kind::barrier) << to_string(kind);
  }
}

/// Nodes of two ranks and more, none as large as all others, whose ranks follow each other or lie anywhere.
std::vector<int> unequal_nodes(std::mt19937& random, bool in_order) {
  const auto below = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  const int nodes = 2 + below(8);
  std::vector<int> node_of;
  for (int node = 0; node < nodes; ++node)
    node_of.insert(node_of.end(), static_cast<std::size_t>(2 + (node == 0 ? 3 : node == 1 ? 0 : below(5))), node);
  if (in_order) return node_of;
  std::shuffle(node_of.begin(), node_of.end(), random);
  return node_of;
}

/// Every collective by two levels, by one leader a node and on lanes, on nodes that differ: any root, tiny and odd counts, operators that
/// commute and that do not. Every style that nodes of different sizes have runs for every collective that has it, where they are in order
/// and where they are not.
TEST(Loop, LanesOnNodesOfDifferentSizes) {
  using Style = run::LaneWay::Style;
  Profile fast = *network(2000, 400, 0.1);
  for (auto& level : fast.levels) level.node_g = Estimate::exactly(1);
  Profile wide = fast;
  for (auto& level : wide.levels) level.G = Estimate::exactly(20), level.node_G = Estimate::exactly(0.01);
  std::set<std::tuple<Kind, Style, bool>> ways;
  std::mt19937 random(1711);
  for (int i = 0; i < 24; ++i) {
    const bool in_order = i % 2 == 0;
    const auto profile = std::make_shared<const Profile>(i % 4 < 2 ? fast : wide);
    const std::vector<int> node_of = unequal_nodes(random, in_order);
    const std::vector<int> counts = {i % 3, 1 + static_cast<int>(random() % 12),
                                     100 + static_cast<int>(random() % 200)};
    const int size = static_cast<int>(node_of.size());
    std::set<run::Method> used;
    play_all(size, profile, counts, used, node_comms(node_of, profile), run::Method::two_level);
    if (HasFatalFailure()) return;
    const auto comms = node_comms(node_of, profile);
    const run::Topology& topology = comms[0]->topology();
    ASSERT_LT(topology.smallest_node, topology.largest_node);
    for (const Kind kind : kKinds) {
      for (const int count : counts) {
        for (const bool commutes : {true, false}) {
          const run::Query query{kind, static_cast<std::size_t>(count) * 8, 8, commutes};
          const auto way = run::lane_way(query, topology, *profile);
          if (way) ways.insert({kind, way->style, topology.ordered});
          EXPECT_EQ(run::objection({run::Method::two_level, 0, 2, {}}, query, topology, run::BoardMethods()).empty(),
                    run::takes_lanes(query, topology));
        }
      }
    }
  }
  for (const bool in_order : {true, false}) {
    for (const Kind kind : {Kind::scatter, Kind::gather, Kind::allgather, Kind::alltoall, Kind::reduce_scatter})
      EXPECT_TRUE(ways.contains({kind, Style::dealt, in_order})) << to_string(kind) << in_order;
    for (const Kind kind : {Kind::broadcast, Kind::reduce, Kind::allreduce}) {
      EXPECT_TRUE(ways.contains({kind, Style::whole, in_order})) << to_string(kind) << in_order;
      EXPECT_TRUE(ways.contains({kind, Style::shares, in_order})) << to_string(kind) << in_order;
    }
  }
  EXPECT_TRUE(ways.contains({Kind::scan, Style::dealt, true}));
  EXPECT_TRUE(ways.contains({Kind::scan, Style::shares, true}));
  for (const Kind kind : {Kind::reduce, Kind::allreduce, Kind::reduce_scatter, Kind::scan})
    EXPECT_TRUE(ways.contains({kind, Style::brought, false})) << to_string(kind);
}

/// Long values in items, each on the board of a node while others are under way: whatever root and shape, paced or not.
TEST(Loop, ItemsOnBoardsWhileMessagesAreUnderWay) {
  Profile plain = *network(1000, 300, 0.5);
  Profile shared = plain;
  for (auto& level : shared.levels) level.shares_bandwidth = true;
  std::set<std::pair<Kind, bool>> piped;  // and whether sends keep to the plan's times
  std::set<int> nodes_in_pieces;          // where an all-reduce goes in pieces that ranks lead by turns
  for (const Profile& machine : {plain, shared}) {
    const auto profile = std::make_shared<const Profile>(machine);
    for (const std::vector<int>& node_of : std::vector<std::vector<int>>{{0, 0, 1, 1},
                                                                         {0, 0, 0, 1, 2, 2, 3},
                                                                         {0, 1, 2, 3, 4, 0, 1, 2, 3, 4},
                                                                         {0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1}}) {
      const auto comms = node_comms(node_of, profile);
      const auto lanes = run::lane_way({Kind::allreduce, 160'088, 8, true}, comms[0]->topology(), machine);
      if (lanes && lanes->style == run::LaneWay::Style::led) nodes_in_pieces.insert(comms[0]->topology().nodes);
      for (const Kind kind : {Kind::broadcast, Kind::reduce, Kind::allreduce}) {
        if (run::piped_leaders({kind, 160'000, 8, true}, comms[0]->topology(), machine))
          piped.insert({kind, machine.levels.front().shares_bandwidth});
        EXPECT_FALSE(run::piped_leaders({kind, 8, 8, true}, comms[0]->topology(), machine));
      }
      EXPECT_FALSE(run::piped_leaders({Kind::reduce, 160'000, 8, false}, comms[0]->topology(), machine));
      std::set<run::Method> used;
      play_all(static_cast<int>(node_of.size()), profile, {20'011}, used, node_comms(node_of, profile),
               run::Method::two_level);
      if (HasFatalFailure()) return;
    }
  }
  for (const Kind kind : {Kind::broadcast, Kind::reduce})
    EXPECT_TRUE(piped.contains({kind, false}) && piped.contains({kind, true})) << to_string(kind);
  EXPECT_TRUE(piped.contains({Kind::allreduce, false}) || piped.contains({Kind::allreduce, true}));
  EXPECT_EQ(nodes_in_pieces, (std::set<int>{2, 5}));
}

/// Every collective that can, by the others' memory; stages so small that the board is used in many rounds.
TEST(Loop, CrossMemoryOnNodesOfAnySize) {
  const auto profile = network(20'000, 3000, 0.8);
  for (const std::size_t size : {2, 3, 5, 8}) {
    std::set<run::Method> used;
    const std::vector<int> one_node(size, 0);
    play_all(static_cast<int>(size), profile, {0, 5, 100, 3000, 40'000}, used, node_comms(one_node, profile),
             run::Method::cross_memory);
    if (HasFatalFailure()) return;
    EXPECT_TRUE(used.contains(run::Method::cross_memory));
  }
}

/// Blocks of more than a pipe holds, and of less, in the place of copies by the kernel alone.
TEST(Loop, PagesAreLentOnNodesOfAnySize) {
  const auto profile = network(20'000, 3000, 0.8);
  for (const std::size_t size : {5, 8, 11}) {
    std::set<run::Method> used;
    const std::vector<int> one_node(size, 0);
    play_all(static_cast<int>(size), profile, {0, 5, 100, 3000, 12'000}, used,
             node_comms(one_node, profile, 0, lenders(size)), run::Method::cross_memory, Kind::alltoall);
    if (HasFatalFailure()) return;
    EXPECT_TRUE(used.contains(run::Method::cross_memory)) << "nothing was lent: a copy would have failed";
  }
}

/// A forced method that cannot run a call is refused by every rank, which harms nobody.
TEST(Loop, AForcedMethodRunsOrIsRefused) {
  const auto profile = network(20'000, 3000, 0.8);
  auto comms = node_comms({0, 0, 0}, profile);
  const run::Sum sum;
  std::vector<double> in(9000, 1.0), out(3 * 9000);
  const auto refused = [&](Kind kind, std::int64_t count, run::Method method) {
    std::string heard;
    for (auto& comm : comms) {
      comm->force(run::Choice{method, 0, 1, ""});
      try {
        auto request = comm->start({.kind = kind,
                                    .in = in.data(),
                                    .out = out.data(),
                                    .count = count,
                                    .element = 8,
                                    .op = run::operator_of<double>(sum, true)});
        return std::string("not refused");
      } catch (const Error& error) {
        heard = error.what();
      }
    }
    return heard;
  };
  EXPECT_EQ(refused(Kind::broadcast, 9000, run::Method::cross_memory),
            "broadcast by cross-memory: all would want the same pages");
  EXPECT_EQ(refused(Kind::allreduce, 1, run::Method::cross_memory),
            "allreduce by cross-memory: 8 bytes go through a slot");
  EXPECT_EQ(refused(Kind::allreduce, 9000, run::Method::slots),
            "allreduce by slots: a slot holds 16384 bytes, not 72000");
  EXPECT_EQ(refused(Kind::allgather, 300, run::Method::shared_fold),
            "allgather by shared-fold: only reductions are shared");
  EXPECT_EQ(refused(Kind::allreduce, 9000, run::Method::shared_fold),
            "allreduce by shared-fold: only 113 to 16384 bytes");
  EXPECT_EQ(refused(Kind::allreduce, 9000, run::Method::direct),
            "allreduce by direct: processes do not share their buffers");
  EXPECT_EQ(refused(Kind::allreduce, 9000, run::Method::exposed_fold),
            "allreduce by exposed-fold: only all-reduces of threads");
  EXPECT_EQ(refused(Kind::barrier, 0, run::Method::staged), "barrier by staged: a barrier has nothing to stage");
  EXPECT_EQ(refused(Kind::scan, 1, run::Method::items), "scan by items: there is no such plan for it");
  EXPECT_EQ(refused(Kind::scan, 1, run::Method::two_level), "scan by two-level: there are not two levels");
  EXPECT_EQ(refused(Kind::scan, 1, run::Method::native), "scan by native: there is no MPI library to ask");
  std::vector<run::Request> requests;
  for (auto& comm : comms) {
    comm->unforce();
    requests.push_back(comm->start({.kind = Kind::barrier}));
  }
  for (int turns = 0; std::any_of(requests.begin(), requests.end(), [](auto& request) { return request.active(); });
       ++turns) {
    ASSERT_LT(turns, 10'000) << "does not end";
    for (auto& request : requests) request.test();
  }
}

TEST(Loop, MemoryThatCannotBeReadIsEverybodysError) {
  const auto profile = network(20'000, 3000, 0.8);
  for (const Kind kind :
       {Kind::reduce, Kind::allreduce, Kind::allgather, Kind::scatter, Kind::alltoall, Kind::reduce_scatter}) {
    auto comms = node_comms({0, 0, 0, 0}, profile, kind == Kind::scatter ? 0 : 2);
    const run::Sum sum;
    std::vector<std::vector<double>> in(4, std::vector<double>(4 * 9000, 1.0)), out = in;
    std::vector<run::Request> requests;
    for (std::size_t r = 0; r < 4; ++r) {
      comms[r]->force(run::Choice{run::Method::cross_memory, 0, 1, ""});
      requests.push_back(comms[r]->start({.kind = kind,
                                          .in = in[r].data(),
                                          .out = out[r].data(),
                                          .count = 9000,
                                          .element = 8,
                                          .op = run::operator_of<double>(sum, true)}));
    }
    std::size_t errors = 0;
    for (int turns = 0; errors < 4; ++turns) {
      ASSERT_LT(turns, 10'000) << to_string(kind) << ": somebody waits for ever";
      for (auto& request : requests) {
        try {
          request.test();
        } catch (const std::exception& error) {
          EXPECT_NE(std::string(error.what()).find("that memory is gone"), std::string::npos) << error.what();
          ++errors;
        }
      }
    }
  }
}

/// Operands that must not be reordered are not, by any method of the board that processes have.
TEST(Loop, ReduceScattersInOrder) {
  constexpr std::size_t kRanks = 5;
  const auto value = [](std::size_t rank, std::size_t i) { return 1.0f / static_cast<float>(3 + 7 * rank + i % 11); };
  const auto sum = run::in_order(run::Sum{});
  for (const run::Method method : {run::Method::staged, run::Method::cross_memory}) {
    for (const std::size_t count : {300u, 3000u}) {
      auto comms = node_comms(std::vector<int>(kRanks, 0), network(20'000, 3000, 0.8));
      std::vector<std::vector<float>> in(kRanks, std::vector<float>(kRanks * count)), out(kRanks, in[0]);
      std::vector<run::Request> requests;
      for (std::size_t r = 0; r < kRanks; ++r) {
        for (std::size_t i = 0; i < in[r].size(); ++i) in[r][i] = value(r, i);
        comms[r]->force(run::Choice{method, 0, 1, ""});
        requests.push_back(comms[r]->start({.kind = Kind::reduce_scatter,
                                            .in = in[r].data(),
                                            .out = out[r].data(),
                                            .count = static_cast<std::int64_t>(count),
                                            .element = sizeof(float),
                                            .op = run::operator_of<float>(sum, true)}));
      }
      for (bool done = false; !done;) {
        done = true;
        for (auto& request : requests) done = request.test() && done;
      }
      for (std::size_t r = 0; r < kRanks; ++r) {
        for (std::size_t i = 0; i < count; ++i) {
          float folded = value(0, r * count + i);
          for (std::size_t from = 1; from < kRanks; ++from) folded += value(from, r * count + i);
          ASSERT_EQ(out[r][i], folded) << to_string(method) << ", rank " << r << ", element " << i;
        }
      }
    }
  }
}

TEST(Loop, AHundredAndThirtyRanks) {
  std::set<run::Method> used;
  play_all(130, network(1000, 300, 0.08), {1}, used);
}

/// Polled in turn; every operand where the plan puts it, folded in order.
TEST(Loop, SummationOnManyRanks) {
  for (const int size : {1, 2, 3, 8, 33, 100}) {
    for (const std::int64_t n : {1, 20, 1000}) {
      const auto plan = plan::sum_operands(LogP{size, Time{6}, Time{2}, Time{4}}, n, false);
      auto comms = threads::make_comms(size, nullptr, false);
      std::vector<std::vector<Affine>> mine(static_cast<std::size_t>(size));
      std::vector<Affine> totals(mine.size());
      std::vector<run::Request> requests;
      const Compose compose;
      const auto operand = [](std::int64_t i) {
        return Affine{static_cast<std::uint32_t>(2 * i + 3), static_cast<std::uint32_t>(i * i)};
      };
      for (std::size_t r = 0; r < mine.size(); ++r) {
        for (const auto& range : plan->placement({static_cast<std::int32_t>(r)})) {
          for (std::int64_t i = 0; i < range.count; ++i) mine[r].push_back(operand(range.position + i));
        }
        requests.push_back(run::isum(*comms[r], *plan, std::span<const Affine>(mine[r]), totals[r], compose));
      }
      for (int turns = 0; requests[0].active(); ++turns) {
        ASSERT_LT(turns, 10'000) << "does not end";
        for (auto& request : requests) request.test();
      }
      Affine expected = operand(0);
      for (std::int64_t i = 1; i < n; ++i) expected = compose(expected, operand(i));
      EXPECT_EQ(totals[0], expected) << size << " ranks, " << n << " operands";
    }
  }
}

/// A root that has waited long asks all who are missing at once and folds what has come: with the same bits, whoever comes last. Who gives
/// something does not wait for others; calls of ranks that come together lie between.
void reductions_of_ranks_that_come_apart(int root) {
  constexpr int kRanks = 5;
  constexpr std::size_t kCount = 128;
  constexpr int kLong = 700;  // looks: more than ranks that come together need
  auto comms = threads::make_comms(kRanks, nullptr);
  std::vector<double> in[kRanks], out(kCount), expected(kCount);
  for (int r = 0; r < kRanks; ++r) {
    for (std::size_t i = 0; i < kCount; ++i) in[r].push_back(1.0 / (1 + r + 7 * static_cast<double>(i)));
    for (std::size_t i = 0; i < kCount; ++i) expected[i] = r == 0 ? in[r][i] : expected[i] + in[r][i];
    comms[static_cast<std::size_t>(r)]->force(run::Choice{run::Method::slots, 0, 1, ""});
  }
  std::vector<int> order = {0, 1, 2, 3, 4};
  std::uint64_t calls = 0;
  do {
    std::fill(out.begin(), out.end(), -1);
    const auto begin = [&](int r) {
      run::Call call;
      call.kind = Kind::reduce;
      call.in = in[r].data();
      call.out = r == root ? out.data() : nullptr;
      call.count = kCount;
      call.element = sizeof(double);
      call.root = root;
      static const run::Sum sum;
      call.op = run::operator_of<double>(sum, true);
      return comms[static_cast<std::size_t>(r)]->start(call);
    };
    const int looks = calls++ % 3 == 2 ? 0 : kLong;
    std::vector<std::pair<int, run::Request>> requests;
    for (const int r : order) {
      requests.emplace_back(r, begin(r));
      for (int i = 0; i < looks; ++i) {
        for (auto& [who, request] : requests) request.test();
      }
      for (auto& [who, request] : requests) {
        if (looks == 0 || requests.size() == kRanks) break;
        EXPECT_EQ(request.active(), who == root) << "rank " << who << " of " << requests.size() << " that have come";
      }
    }
    for (int turns = 0;; ++turns) {
      ASSERT_LT(turns, 10'000) << "does not end";
      bool active = false;
      for (auto& [who, request] : requests) active |= !request.test();
      if (!active) break;
    }
    ASSERT_EQ(out, expected) << "rank " << order.back() << " comes last";
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Loop, ReductionsOfRanksThatComeApart) {
  for (const int root : {0, 4}) reductions_of_ranks_that_come_apart(root);
}

/// Both ranks send more than a channel holds before either receives: waiting for one message must move the others.
TEST(Loop, AFullChannelDoesNotStopBothSides) {
  auto comms = threads::make_comms(2, network(1000, 300, 0.08), false);
  constexpr int kMessages = 40;
  int values[2][kMessages] = {}, got[2][kMessages] = {};
  std::vector<run::Transport::Ticket> tickets[2];
  for (const int r : {0, 1}) {
    auto& transport = *run::fabric_of(*comms[static_cast<std::size_t>(r)]).messages;
    for (int i = 0; i < kMessages; ++i) {
      values[r][i] = 100 * r + i;
      tickets[r].push_back(transport.receive(1 - r, 7, &got[r][i], sizeof(int)));
      transport.send(1 - r, 7, &values[r][i], sizeof(int));
    }
  }
  for (int turns = 0, i[2] = {0, 0}; i[0] + i[1] < 2 * kMessages; ++turns) {
    ASSERT_LT(turns, 10'000) << "does not end";
    for (const int r : {0, 1}) {
      if (i[r] < kMessages && run::fabric_of(*comms[static_cast<std::size_t>(r)])
                                  .messages->done(tickets[r][static_cast<std::size_t>(i[r])]))
        ++i[r];
    }
  }
  for (int i = 0; i < kMessages; ++i) EXPECT_EQ(got[1][i], values[0][i]);
}

TEST(Loop, TheChoiceFollowsTheMachine) {
  run::Topology topology;
  topology.ranks = topology.nodes = 64;
  const auto method = [&](Kind kind, std::size_t bytes, const std::shared_ptr<const Profile>& profile) {
    return run::choices({kind, bytes, 8, true}, topology, *profile).front().method;
  };
  EXPECT_EQ(method(Kind::broadcast, 8, network(1000, 300, 0.08)), run::Method::tree);
  EXPECT_EQ(method(Kind::broadcast, 1 << 20, network(1000, 300, 0.08)), run::Method::items);
  EXPECT_EQ(method(Kind::allreduce, 8, network(25'000, 3000, 0.8)), run::Method::tree);
  EXPECT_EQ(method(Kind::allreduce, 1 << 20, network(1000, 300, 0.08)), run::Method::exchange);
}

TEST(Loop, ExplainNamesTheChoiceTheRunnerUpAndWhyInLinesThatFit) {
  for (const int nodes : {1, 4, 16}) {
    run::Topology topology;
    topology.ranks = 16;
    topology.nodes = nodes;
    topology.largest_node = 16 / nodes;
    topology.board = nodes < 16;
    for (const Kind kind : {Kind::broadcast, Kind::reduce, Kind::allreduce, Kind::allgather, Kind::gather,
                            Kind::scatter, Kind::scan, Kind::barrier}) {
      const auto text = run::explain({kind, 1 << 22, 1, true}, topology, *network(1e7, 3e5, 8));
      const bool alone = text.find("nothing else applies") != std::string::npos;
      EXPECT_EQ(text.find("\nrunner-up ") == std::string::npos, alone) << text;
      for (const char* word : {"\nchosen ", "\nwhy "}) EXPECT_NE(text.find(word), std::string::npos) << text;
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        EXPECT_LE(end - at, 80u) << text.substr(at, end - at);
        at = end + 1;
      }
    }
  }
}

/// What the first of them that fails says; empty if none does for long.
std::string first_error(std::vector<run::Request>& requests) {
  try {
    for (int i = 0; i < 1000; ++i) {
      for (auto& request : requests) request.test();
    }
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

/// Ranks 1 and 3 share a node: they know each other by their numbers in the communicator.
TEST(Loop, ErrorsNameRanksOfTheCommunicator) {
  const auto comms = node_comms({0, 1, 0, 1}, network(1000, 300, 0.08));
  std::vector<run::Request> requests;
  std::vector<std::vector<long>> data(4, std::vector<long>(8));
  for (std::size_t r = 0; r < 4; ++r) {
    comms[r]->force(run::Choice{run::Method::two_level, 0, 0, {}});
    requests.push_back(comms[r]->ibroadcast(std::span(data[r]).first(r == 3 ? 5 : 4), 1));
  }
  const std::string heard = first_error(requests);
  EXPECT_NE(
      heard.find(
          "rank 3 calls broadcast of 5 x 8 bytes from rank 1 where rank 1 calls broadcast of 4 x 8 bytes from rank 1 (call 1 of this node)"),
      std::string::npos)
      << heard;
}

/// Over the board of a node: beside the lines, and by the stages.
TEST(Loop, WhoTakesAnotherLengthThanItIsGivenFindsOut) {
  for (const auto& [gives, takes] : {std::pair{1, 0}, {0, 1}, {5, 4}, {3000, 2999}}) {
    const auto comms = node_comms({0, 0, 0}, network(1000, 300, 0.08));
    std::vector<std::vector<long>> in(3, std::vector<long>(9000)), out = in;
    std::vector<run::Request> requests;
    const std::vector<std::int64_t> none(3), given = {0, 0, gives}, taken = {takes, 0, 0};
    for (std::size_t r = 0; r < 3; ++r)
      requests.push_back(comms[r]->ialltoallv(std::span<const long>(in[r]), r == 0 ? given : none, std::span(out[r]),
                                              r == 2 ? taken : none));
    const std::string heard = first_error(requests);
    EXPECT_NE(heard.find(fmt::format("rank 0 gives {} bytes to rank 2, which takes {}", 8 * gives, 8 * takes)),
              std::string::npos)
        << heard;
  }
}

/// 199 and 200 elements are three shares of 67: the ranks of a node must compare what was called.
TEST(Loop, LanesCompareWhatWasCalled) {
  Profile profile = default_profile();
  for (auto& level : profile.levels) {
    level.G = Estimate::exactly(20);
    level.node_g = Estimate::exactly(1);
    level.node_G = Estimate::exactly(0.01);
  }
  for (const Kind kind : {Kind::broadcast, Kind::reduce, Kind::allreduce}) {
    const auto comms = node_comms({0, 0, 0, 1, 1, 1}, std::make_shared<const Profile>(profile));
    std::vector<std::vector<double>> data(6, std::vector<double>(200));
    std::vector<run::Request> requests;
    const run::Sum sum;
    for (std::size_t r = 0; r < 6; ++r) {
      comms[r]->force(run::Choice{run::Method::two_level, 0, 3, {}});
      run::Call call;
      call.kind = kind;
      call.out = data[r].data();
      if (kind == Kind::reduce && r != 5) call.in = data[r].data();
      call.count = r == 1 ? 199 : 200;
      call.element = sizeof(double);
      call.root = kind == Kind::allreduce ? 0 : 5;
      call.op = run::operator_of<double>(sum, true);
      requests.push_back(comms[r]->start(call));
    }
    const std::string heard = first_error(requests);
    const std::string whose = kind == Kind::broadcast ? " from rank 5" : kind == Kind::reduce ? " to rank 5" : "";
    EXPECT_NE(heard.find(fmt::format("{} of 199 x 8 bytes{}", to_string(kind), whose)), std::string::npos) << heard;
    EXPECT_NE(heard.find(fmt::format("{} of 200 x 8 bytes{}", to_string(kind), whose)), std::string::npos) << heard;
  }
}

}  // namespace
}  // namespace chasqui::engines
