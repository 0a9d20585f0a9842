// SPDX-License-Identifier: MIT
#include "chasqui/model/nearness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace chasqui {
namespace {

using Groups = std::vector<int>;

Seat on(int l3, int socket) { return {-1, -1, l3, -1, socket}; }

TEST(Nearness, CachesInSockets) {
  const auto near = nearness_of({on(0, 0), on(0, 0), on(1, 0), on(1, 0), on(2, 7), on(2, 7), on(3, 7)});
  ASSERT_EQ(near->levels().size(), 2u);
  EXPECT_EQ(near->levels()[0].what, Shared::l3);
  EXPECT_EQ(near->levels()[0].group_of, (Groups{0, 0, 1, 1, 2, 2, 3}));
  EXPECT_EQ(near->levels()[0].groups, 4);
  EXPECT_EQ(near->levels()[0].largest, 2);
  EXPECT_EQ(near->levels()[1].what, Shared::socket);
  EXPECT_EQ(near->levels()[1].group_of, (Groups{0, 0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(near->levels()[1].largest, 4);
  EXPECT_EQ(near->most_inside(-1, 0), 2);
  EXPECT_EQ(near->most_inside(-1, 1), 4);
  EXPECT_EQ(near->most_inside(0, 1), 2);
  EXPECT_EQ(near->most_inside(-1, 2), 7);
  EXPECT_EQ(near->most_inside(0, 2), 4);
  EXPECT_EQ(near->most_inside(1, 2), 2);
  EXPECT_TRUE(near->in_rank_order(0));
}

TEST(Nearness, WhatMakesTheSameGroupsIsOneLevel) {
  const auto near = nearness_of({{0, 0, 0, 0, 0}, {1, 1, 0, 0, 0}, {2, 2, 1, 1, 1}, {3, 3, 1, 1, 1}});
  ASSERT_EQ(near->levels().size(), 1u) << "nobody shares a core, and a socket has one cache and one memory";
  EXPECT_EQ(near->levels()[0].what, Shared::l3);
}

TEST(Nearness, SomeCachesLieInMemoriesAndOthersTheOtherWayRound) {
  std::vector<Seat> caches, memories;
  for (int r = 0; r < 16; ++r) {
    caches.push_back({-1, -1, r / 2, r / 8, -1});
    memories.push_back({-1, -1, r / 8, r / 4, -1});
  }
  const auto a = nearness_of(caches), b = nearness_of(memories);
  ASSERT_EQ(a->levels().size(), 2u);
  EXPECT_EQ(a->levels()[0].what, Shared::l3);
  EXPECT_EQ(a->levels()[1].what, Shared::numa);
  ASSERT_EQ(b->levels().size(), 2u);
  EXPECT_EQ(b->levels()[0].what, Shared::numa);
  EXPECT_EQ(b->levels()[1].what, Shared::l3);
}

TEST(Nearness, RanksInAnyOrderAndNowhere) {
  const auto near = nearness_of({on(4, 0), on(9, 0), kNoSeat, on(4, 0), on(-1, 0), on(9, 0), on(2, 1), on(2, 1)});
  ASSERT_EQ(near->levels().size(), 2u);
  EXPECT_EQ(near->levels()[0].group_of, (Groups{0, 1, 2, 0, 3, 1, 4, 4}))
      << "whose place is not known is a group by itself";
  EXPECT_EQ(near->levels()[1].group_of, (Groups{0, 0, 1, 0, 0, 0, 2, 2}));
  EXPECT_FALSE(near->in_rank_order(0));
  EXPECT_FALSE(near->in_rank_order(1));
}

TEST(Nearness, NoneWhereNothingIsNearer) {
  EXPECT_EQ(nearness_of({}), nullptr);
  EXPECT_EQ(nearness_of({on(0, 0), on(0, 0), on(1, 0)}), nullptr) << "too few";
  EXPECT_EQ(nearness_of({on(0, 0), on(0, 0), on(0, 0), on(0, 0)}), nullptr) << "all share one";
  EXPECT_EQ(nearness_of({on(0, 0), on(1, 1), on(2, 2), on(3, 3)}), nullptr) << "nobody shares one";
  EXPECT_EQ(nearness_of({kNoSeat, kNoSeat, kNoSeat, kNoSeat}), nullptr) << "nobody knows";
}

/// Whatever the seats: levels are nested, coarser and coarser, and nobody shares a group of a level without sharing that, or something nearer.
TEST(Nearness, AnySeats) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    const int ranks = 4 + static_cast<int>(random() % 30);
    std::vector<Seat> seats;
    for (int r = 0; r < ranks; ++r) {
      Seat seat = kNoSeat;
      int unit = static_cast<int>(random() % 32);
      for (int& each : seat) {
        if (random() % 8 != 0) each = unit;
        unit /= 2;
      }
      seats.push_back(seat);
    }
    const auto near = nearness_of(seats);
    if (near == nullptr) continue;
    const auto& levels = near->levels();
    for (std::size_t i = 0; i < levels.size(); ++i) {
      EXPECT_GT(levels[i].groups, 1);
      EXPECT_LT(levels[i].groups, i == 0 ? ranks : levels[i - 1].groups);
      EXPECT_EQ(std::set<int>(levels[i].group_of.begin(), levels[i].group_of.end()).size(),
                static_cast<std::size_t>(levels[i].groups));
      for (std::size_t a = 0; a < seats.size(); ++a) {
        for (std::size_t b = 0; b < a; ++b) {
          if (i > 0 && levels[i - 1].group_of[a] == levels[i - 1].group_of[b]) {
            EXPECT_EQ(levels[i].group_of[a], levels[i].group_of[b]) << "not nested";
          }
          if (levels[i].group_of[a] != levels[i].group_of[b]) continue;
          bool shares = false;
          for (std::size_t what = 0; what <= static_cast<std::size_t>(levels[i].what); ++what)
            shares = shares || (seats[a][what] >= 0 && seats[a][what] == seats[b][what]);
          EXPECT_TRUE(shares) << "ranks " << a << " and " << b;
        }
      }
    }
  }
}

TEST(MadeUpSeats, AreFilledInRankOrder) {
  const auto seats = *made_up_seats("socket:2 l3:2,core:2", 8);
  EXPECT_EQ(seats[0], (Seat{0, -1, 0, -1, 0}));
  EXPECT_EQ(seats[3], (Seat{3, -1, 1, -1, 0}));
  EXPECT_EQ(seats[7], (Seat{7, -1, 3, -1, 1}));
  const auto twice = *made_up_seats("socket:2 core:4", 16);  // two ranks on each core
  EXPECT_EQ(twice[1][0], 0);
  EXPECT_EQ(twice[2][0], 1);
  const auto half = *made_up_seats("socket:2 core:4", 6);
  EXPECT_EQ(half[2][4], 0);
  EXPECT_EQ(half[3][4], 1) << "as many on each, where there are fewer ranks than cores";
  for (const char* wrong : {"", "0", "off", "socket", "socket:", "socket:0", "socket:-1", "socket:2x", "l4:2",
                            "l3:2 l3:2", "socket:4097", "socket:4096 core:2", ":2", "socket:2:3"})
    EXPECT_FALSE(made_up_seats(wrong, 8).has_value()) << wrong;
}

}  // namespace
}  // namespace chasqui
