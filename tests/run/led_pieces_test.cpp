// SPDX-License-Identifier: MIT
// A long all-reduce in pieces that ranks lead by turns.
#include "run/messages/led_pieces.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "chasqui/model/profile.hpp"
#include "play_of_all.hpp"

namespace chasqui::run {
namespace {

struct Setting {
  Nodes nodes;
  LedPieces pieces;
  LedCosts costs;
  std::size_t count;
};

Level led_network(double L, double o, double G, bool shares) {
  Level level = default_profile().levels.back();
  level.L = Estimate::exactly(L);
  level.o_s = level.o_r = level.g = Estimate::exactly(o);
  level.G = Estimate::exactly(G);
  level.switches.clear();
  level.shares_bandwidth = shares;
  return level;
}

RC_GTEST_PROP(LedPieces, OfAnAllReduceMeet, ()) {
  Setting s{};
  const int nodes = *rc::gen::inRange(2, 14);
  for (int i = 0; i < nodes; ++i) s.nodes.add(*rc::gen::inRange(2, 5), 1);
  const int count = *rc::gen::inRange(1, 9);
  s.pieces = {count, *rc::gen::inRange(1, 1 + std::min(count, static_cast<int>(s.nodes.smallest()))),
              *rc::gen::inRange(2, 6), *rc::gen::inRange(1, 1 + count)};
  s.count = static_cast<std::size_t>(nodes * count + *rc::gen::inRange(0, 300));
  const auto some = [](int most) { return static_cast<double>(*rc::gen::inRange(0, most)); };
  s.costs = {nodes,
             s.nodes.largest() > s.pieces.leaders,
             8.0 * static_cast<double>(s.count) / count,
             some(2000),
             some(2000),
             led_network(some(3000), some(500), some(10), *rc::gen::arbitrary<bool>()),
             some(10)};
  const LedTimetable timetable = led_timetable(s.pieces, s.costs);
  const Shape call{.kind = Kind::allreduce, .count = s.count};
  const auto program = [&](const Shape& shape, const std::vector<int>& names) {
    return led_program(shape, s.pieces, timetable, s.nodes, names);
  };
  const std::string wrong = Play(s.nodes, call, *rc::gen::arbitrary<bool>(), program).run();
  if (!wrong.empty())
    RC_FAIL(wrong + ": " + std::to_string(nodes) + " nodes, " + std::to_string(count) + " pieces, " +
            std::to_string(s.pieces.leaders) + " lead, radix " + std::to_string(s.pieces.radix) + ", lag " +
            std::to_string(s.pieces.lag) + ", elements " + std::to_string(s.count));
}

/// Two nodes of two ranks that lead a piece each; a message, half a piece, takes the adapter 400 ns.
TEST(LedPieces, TimetableOfFourRanks) {
  const auto timetable = [](bool shares) {
    return led_timetable({2, 2, 2, 2}, {2, false, 800, 200, 200, led_network(1000, 100, 1, shares), 1});
  };
  // Rank 1 brings until 100; rank 0 folds until 200, sends until 300 and brings until 400; rank 1 folds until 500 and sends. The messages
  // begin at 1300 and 1600, and share the adapter: they are there at 1800 and 2100. Each is taken and the answer sent; those begin at 3000
  // and 3300 and are there at 3500 and 3800. Rank 0 hands out until 3700, rank 1 reads until 3800, and hands out until 4000.
  EXPECT_DOUBLE_EQ(timetable(true).nanoseconds, 4100);
  EXPECT_EQ(timetable(true).order, (std::vector<std::vector<int>>{{0, 1, 0, 0, 0, 1}, {0, 1, 1, 0, 1, 1}}));
  // The message of 200 is there at 1700; that of 500 queues behind it until 600, and is there at 2100. The answers of 1800 and 2200 are
  // there at 3300 and 3700. Rank 0 hands out until 3500, rank 1 from 3800 to 3900.
  EXPECT_DOUBLE_EQ(timetable(false).nanoseconds, 4000);
}

/// No shorter than what keeps the adapter busy, nor than what one piece takes alone; and one piece alone takes just that.
RC_GTEST_PROP(LedPieces, TimetablesAreAboveTheirBounds, ()) {
  const int nodes = *rc::gen::inRange(2, 40), count = *rc::gen::inRange(1, 17);
  const LedPieces pieces{count, *rc::gen::inRange(1, 1 + count), *rc::gen::inRange(2, 9),
                         *rc::gen::inRange(1, 1 + count)};
  const auto some = [](int most) { return static_cast<double>(*rc::gen::inRange(1, most)); };
  const LedCosts costs{
      nodes, true, some(1 << 16), some(9000), some(9000), led_network(some(3000), some(500), 0.08, true), 0.08};
  const double link = 2 * (nodes - 1.0) / nodes * costs.bytes * costs.adapter;
  const double alone = led_timetable({1, 1, pieces.radix, 1}, costs).nanoseconds;
  const double time = led_timetable(pieces, costs).nanoseconds;
  RC_ASSERT(alone >= costs.fold + link + costs.hand_out);
  RC_ASSERT(time >= alone * (1 - 1e-9));
  RC_ASSERT(time >= (costs.fold + count * link + costs.hand_out) * (1 - 1e-9));
}

}  // namespace
}  // namespace chasqui::run
