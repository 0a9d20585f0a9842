// SPDX-License-Identifier: MIT
// Collectives that go level by level, on nodes that are made up: sockets, caches and cores of equal and unequal sizes, ranks that lie in them in any
// order, some of them nowhere. One thread polls all ranks in turn; what each gets is compared with a plain fold in rank order.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <new>
#include <numeric>
#include <random>

#include "chasqui/base/error.hpp"
#include "run/board/board.hpp"
#include "run/choose/board_methods.hpp"
#include "run/comm/engine.hpp"
#include "sweep.hpp"
#include "threads/channels.hpp"

namespace chasqui::engines {
namespace {

using Seats = std::vector<Seat>;

/// A board of so many ranks on these seats, of threads or as processes have it.
class Made {
 public:
  Made(const Seats& seats, bool threads) {
    const auto ranks = static_cast<int>(seats.size());
    run::BoardShape shape =
        threads ? run::BoardShape::for_threads(ranks) : run::BoardShape::for_ranks(ranks, 64 * 1024);
    shape.near = nearness_of(seats);
    constexpr std::align_val_t kPage{4096};
    const std::shared_ptr<std::byte> memory = {static_cast<std::byte*>(::operator new(shape.bytes(), kPage)),
                                               [](std::byte* m) { ::operator delete(m, kPage); }};
    std::memset(memory.get(), 0, shape.bytes());
    const auto profile = std::make_shared<const Profile>(default_profile());
    for (int rank = 0; rank < ranks; ++rank) {
      run::Fabric fabric;
      fabric.rank = rank;
      fabric.size = ranks;
      fabric.board = {new run::Board(memory.get(), shape, rank, 1), [memory](run::Board* board) { delete board; }};
      fabric.shares_memory = threads;
      fabric.profile = profile;
      comms.push_back(run::make_comm(std::move(fabric)));
    }
  }
  int ranks() const { return static_cast<int>(comms.size()); }
  const Nearness& near() const { return *comms[0]->topology().near; }
  run::Comm& comm(int rank) { return *comms[static_cast<std::size_t>(rank)]; }

  void go_by(run::Method method, const run::Climb& climb, unsigned relay) {
    for (auto& comm : comms) {
      run::BoardGroups groups = run::Engine::of(*comm).selection().board_methods().groups();
      for (std::size_t i = 0; i < groups.climbs.size(); ++i) {
        constexpr int kLines[] = {1, 2, 19};
        const int lines = std::min(kLines[i], run::most_lines(ranks()));
        const bool fits = climb.sets() <= run::line_sets(lines, run::most_lines(ranks()) > 2);
        if (!climb.none() && fits) groups.climbs[i] = climb;
      }
      if (relay != 0) groups.relay = relay;
      run::fabric_of(*comm).board->arrange(groups);
      comm->force(run::Choice{method, 0, 1, ""});
      run::Engine::of(*comm).forget_methods();
    }
  }
  void expect_ran(run::Method method) {
    for (auto& comm : comms) {
      ASSERT_EQ(run::Engine::of(*comm).methods_run(), 1u << static_cast<unsigned>(method)) << to_string(method);
    }
  }

  std::vector<std::unique_ptr<run::Comm>> comms;
};

/// Starts a call on all ranks, polls them in turn until all are through, the last rank first.
template <typename Start>
void on_all(Made& made, Start start) {
  std::vector<run::Request> requests;
  for (int r = 0; r < made.ranks(); ++r) requests.push_back(start(made.comm(r), r));
  for (int left = 1000;; --left) {
    ASSERT_GT(left, 0) << "it does not end";
    bool all = true;
    for (std::size_t r = requests.size(); r-- > 0;) all = requests[r].test() && all;
    if (all) return;
  }
}

/// Two by two, modulo a prime: the product is associative and does not commute.
struct Matrix {
  std::array<std::uint16_t, 4> of{};
  friend bool operator==(const Matrix&, const Matrix&) = default;
};
struct Product {
  Matrix operator()(const Matrix& a, const Matrix& b) const {
    const auto at = [&](std::size_t i, std::size_t j) {
      const std::uint64_t sum = std::uint64_t{a.of[2 * i]} * b.of[j] + std::uint64_t{a.of[2 * i + 1]} * b.of[2 + j];
      return static_cast<std::uint16_t>(sum % 65521);
    };
    return {{at(0, 0), at(0, 1), at(1, 0), at(1, 1)}};
  }
};
Matrix brought(int rank, std::size_t i) {
  const auto x = static_cast<std::uint16_t>(7 * rank + static_cast<int>(i) + 2);
  return {{x, static_cast<std::uint16_t>(x + 1), 1, static_cast<std::uint16_t>(rank + 3)}};
}

/// An element that leaves a byte of each line unused, and needs to be copied.
struct Odd {
  std::array<std::uint8_t, 5> bytes{};
  friend bool operator==(const Odd&, const Odd&) = default;
};
struct Added {
  Odd operator()(const Odd& a, const Odd& b) const {
    Odd both;
    for (std::size_t i = 0; i < both.bytes.size(); ++i)
      both.bytes[i] = static_cast<std::uint8_t>(a.bytes[i] + b.bytes[i]);
    return both;
  }
};
Odd odd(int rank, std::size_t i) {
  Odd made;
  for (std::size_t j = 0; j < made.bytes.size(); ++j)
    made.bytes[j] = static_cast<std::uint8_t>((static_cast<std::size_t>(rank) * 37 + i * 11 + j * 101) % 251);
  return made;
}

/// root < 0: all want it.
template <typename Element, typename Op>
void check_fold(Made& made, std::size_t count, int root, bool in_place, Element (*brought_by)(int, std::size_t),
                Op op) {
  const auto ranks = static_cast<std::size_t>(made.ranks());
  std::vector<Element> expected(count);
  for (std::size_t i = 0; i < count; ++i) {
    expected[i] = brought_by(0, i);
    for (int r = 1; r < made.ranks(); ++r) expected[i] = op(expected[i], brought_by(r, i));
  }
  std::vector<std::vector<Element>> in(ranks), out(ranks, std::vector<Element>(count));
  for (std::size_t r = 0; r < ranks; ++r) {
    for (std::size_t i = 0; i < count; ++i) in[r].push_back(brought_by(static_cast<int>(r), i));
  }
  auto& results = in_place ? in : out;
  on_all(made, [&](run::Comm& comm, int r) {
    const auto rank = static_cast<std::size_t>(r);
    const std::span<const Element> mine(in[rank]);
    const std::span<Element> to(results[rank]);
    return root < 0 ? comm.iallreduce(mine, to, op) : comm.ireduce(mine, to, root, op);
  });
  for (std::size_t r = 0; r < ranks && !testing::Test::HasFatalFailure(); ++r) {
    if (root < 0 || static_cast<int>(r) == root) {
      ASSERT_EQ(results[r], expected) << count << " elements, rank " << r << ", root " << root;
    } else if (!in_place) {
      ASSERT_EQ(results[r], std::vector<Element>(count)) << "rank " << r << " is not the root";
    }
  }
}

/// Nobody gets through before the last one has come.
void check_barrier(Made& made, int last) {
  std::vector<run::Request> requests(static_cast<std::size_t>(made.ranks()));
  const auto some_are_through = [&] {
    bool some = false;
    for (int turn = 0; turn < 20; ++turn) {
      for (int r = 0; r < made.ranks(); ++r) some = (r != last && requests[static_cast<std::size_t>(r)].test()) || some;
    }
    return some;
  };
  for (int r = 0; r < made.ranks(); ++r) {
    if (r != last) requests[static_cast<std::size_t>(r)] = made.comm(r).ibarrier();
  }
  ASSERT_FALSE(some_are_through()) << "without rank " << last;
  requests[static_cast<std::size_t>(last)] = made.comm(last).ibarrier();
  for (int left = 1000; !std::all_of(requests.begin(), requests.end(), [](auto& each) { return each.test(); }); --left)
    ASSERT_GT(left, 0);
}

void check_broadcast(Made& made, std::size_t bytes, int root) {
  std::vector<std::vector<std::uint8_t>> data(static_cast<std::size_t>(made.ranks()), std::vector<std::uint8_t>(bytes));
  auto& from = data[static_cast<std::size_t>(root)];
  for (std::size_t i = 0; i < bytes; ++i)
    from[i] = static_cast<std::uint8_t>(i * 7 + static_cast<std::size_t>(root) + 1);
  const auto expected = from;
  on_all(made, [&](run::Comm& comm, int r) {
    return comm.ibroadcast(std::span<std::uint8_t>(data[static_cast<std::size_t>(r)]), root);
  });
  for (const auto& each : data) ASSERT_EQ(each, expected) << bytes << " bytes from " << root;
}

struct Place {
  std::string name;
  Seats seats;
};

Seat at(int core, int l3, int socket) { return {core, -1, l3, -1, socket}; }

/// Machines of one, two and three levels, ranks in order and not, groups of equal and unequal sizes.
std::vector<Place> places(int ranks) {
  std::vector<Place> all;
  const auto made = [&](const char* text) { return *made_up_seats(text, ranks); };
  all.push_back({"two caches", made("l3:2")});
  all.push_back({"sockets by turns", made("socket:2")});
  for (int r = 0; r < ranks; ++r) all.back().seats[static_cast<std::size_t>(r)] = at(-1, -1, r % 2);
  all.push_back({"two sockets of three caches", made("socket:2 l3:3")});
  all.push_back({"three levels", made("socket:2 l3:2 core:3")});
  all.push_back({"unequal", {}});
  for (int r = 0; r < ranks; ++r) all.back().seats.push_back(at(-1, r * r / (2 * ranks), r * r / (5 * ranks)));
  all.push_back({"three levels, shuffled, some nowhere", made("socket:3 l3:2 core:4")});
  std::mt19937 random(static_cast<unsigned>(ranks));
  std::shuffle(all.back().seats.begin(), all.back().seats.end(), random);
  for (int r = 0; r < ranks; r += 5) all.back().seats[static_cast<std::size_t>(r)] = kNoSeat;
  std::erase_if(all, [](const Place& place) { return nearness_of(place.seats) == nullptr; });
  return all;
}

std::vector<run::Climb> climbs(const Nearness& near, int ranks) {
  std::vector<run::Climb> all;
  const unsigned levels = 1u << near.levels().size();
  for (unsigned up = 1; up < levels; ++up) {
    for (unsigned down = 0; down < levels; ++down) {
      if ((down & ~up) != 0) continue;
      for (const int chunk : {0, 2, 3}) {
        const run::Climb climb{up, down, chunk, std::countr_zero(up)};
        if (climb.sets() <= run::line_sets(1, run::most_lines(ranks) > 2)) all.push_back(climb);
      }
    }
  }
  for (int of = 0; of < static_cast<int>(near.levels().size()); ++of) {
    for (const unsigned down : {0u, 1u, levels - 1}) all.push_back({0, down, 2 + of, of});  // chunks alone
  }
  return all;
}

class Levels : public testing::TestWithParam<int> {};

TEST_P(Levels, FoldsByEveryClimb) {
  const int ranks = GetParam();
  static Sweep sweep;
  int root = 0;
  std::size_t most = 0;
  for (const Place& place : places(ranks)) {
    for (const bool threads : {false, true}) {
      Made made(place.seats, threads);
      most = std::max(most, made.near().levels().size());
      for (const run::Climb& climb : climbs(made.near(), ranks)) {
        if (!sweep.takes_next()) continue;
        SCOPED_TRACE(fmt::format("{}, {} ranks, up {:b}, down {:b}, chunks of {} in {}", place.name, ranks, climb.up,
                                 climb.down, climb.chunk, climb.of));
        made.go_by(run::Method::level_fold, climb, 0);
        const std::size_t longest = run::most_lines(ranks) > 2 ? 133 : 14;
        for (const std::size_t count :
             {std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{14}, std::size_t{24}, longest}) {
          if (count > longest) continue;
          root = (root + 5) % ranks;
          check_fold(made, count, -1, count % 2 == 0, brought, Product{});
          check_fold(made, count, root, count % 2 != 0, brought, Product{});
          check_fold(made, count, -1, false, odd, run::commuting(Added{}));
          check_fold(made, count, root, false, odd, run::commuting(Added{}));
          if (HasFailure()) return;
        }
        check_barrier(made, root);
        made.expect_ran(run::Method::level_fold);
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GE(most, ranks >= 16 ? 3u : 1u);
}

TEST_P(Levels, ReductionsToEveryRootAndBroadcastsFromIt) {
  const int ranks = GetParam();
  for (const Place& place : places(ranks)) {
    Made made(place.seats, false);
    const unsigned levels = 1u << made.near().levels().size();
    for (unsigned relay = 1; relay < levels; ++relay) {
      SCOPED_TRACE(fmt::format("{}, {} ranks, levels {:b}", place.name, ranks, relay));
      made.go_by(run::Method::relay, {}, relay);
      for (int root = 0; root < ranks; ++root) {
        for (const std::size_t bytes : {8, 100, 1000}) check_broadcast(made, bytes, root);
        if (HasFailure()) return;
      }
      made.expect_ran(run::Method::relay);
    }
    made.go_by(run::Method::level_fold, {}, 0);
    for (int root = 0; root < ranks; ++root) check_fold(made, 3, root, false, brought, Product{});
    if (HasFailure()) return;
  }
}
INSTANTIATE_TEST_SUITE_P(Ranks, Levels, testing::ValuesIn(sweep_of({4, 5, 7, 16, 24, 64}, {6, 8, 12, 33, 70})));

/// The root's line has few readers: those of its own cache, and one of each other cache or socket.
TEST(Relayed, WhoReadsWhom) {
  const auto near = nearness_of(*made_up_seats("socket:2 l3:2", 16));  // 4 to a cache, 8 to a socket
  const auto part = [&](unsigned levels, int rank, int root) { return run::Relayed(near, levels, rank).part(root); };
  constexpr unsigned kCaches = 1, kSockets = 2;
  EXPECT_EQ(part(kCaches | kSockets, 1, 0).from, 0);
  EXPECT_EQ(part(kCaches | kSockets, 4, 0).from, 0) << "of another cache of the socket";
  EXPECT_TRUE(part(kCaches | kSockets, 4, 0).publishes);
  EXPECT_EQ(part(kCaches | kSockets, 5, 0).from, 4);
  EXPECT_FALSE(part(kCaches | kSockets, 5, 0).publishes);
  EXPECT_EQ(part(kCaches | kSockets, 8, 0).from, 0) << "of the other socket";
  EXPECT_EQ(part(kCaches | kSockets, 12, 0).from, 8);
  EXPECT_EQ(part(kCaches | kSockets, 13, 0).from, 12);
  EXPECT_EQ(part(kCaches, 12, 0).from, 0);
  EXPECT_EQ(part(kSockets, 12, 0).from, 8);
  EXPECT_EQ(part(kSockets, 4, 0).from, 0);
  EXPECT_FALSE(part(kSockets, 4, 0).publishes);
  EXPECT_EQ(part(kCaches | kSockets, 12, 13).from, 13) << "the root is in its cache";
  EXPECT_FALSE(part(kCaches | kSockets, 12, 13).publishes);
  EXPECT_EQ(part(kCaches | kSockets, 8, 13).from, 13);
  EXPECT_EQ(part(kCaches | kSockets, 0, 13).from, 13);
  EXPECT_EQ(part(kCaches | kSockets, 13, 13).from, 13);
}

}  // namespace
}  // namespace chasqui::engines
