// SPDX-License-Identifier: MIT
// The moves of all ranks together, played with sequences of ranks as values: every contribution is in every result once,
// in rank order where the operator wants that; and nobody writes on what is the caller's.
#include "run/messages/program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>

#include "run/messages/script_of_plan.hpp"

namespace chasqui::run {
namespace {

using Value = std::vector<int>;

Level network(double L, double o, double g) {
  Level level;
  level.L = Estimate::exactly(L);
  level.o_s = level.o_r = Estimate::exactly(o);
  level.g = Estimate::exactly(g);
  return level;
}

Script script_of(Method method, Kind kind, const Level& level, int ranks, int root, bool commutative, bool exclusive,
                 int rank) {
  Choice choice;
  choice.method = method;
  choice.parts = 1;
  return plan_script(choice, kind, level, ranks, root, 8, commutative, exclusive, rank);
}

/// All ranks take turns; whoever waits passes.
class Stage {
 public:
  explicit Stage(std::vector<Moves> moves)
      : moves_(std::move(moves)), next_(moves_.size(), 0), room_(moves_.size()), target_(moves_.size()) {
    for (std::size_t r = 0; r < moves_.size(); ++r) room_[r].resize(static_cast<std::size_t>(moves_[r].room));
  }
  void set_target(int rank, Value value) { target_[static_cast<std::size_t>(rank)] = std::move(value); }
  const Value& target(int rank) const { return target_[static_cast<std::size_t>(rank)]; }

  /// False: somebody waits for ever.
  bool play() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t r = 0; r < moves_.size(); ++r) {
        while (next_[r] < moves_[r].list.size() && step(r)) moved = true;
      }
    }
    for (std::size_t r = 0; r < moves_.size(); ++r) {
      if (next_[r] < moves_[r].list.size()) return false;
      if (moves_[r].result != kNowhere) target_[r] = value(r, moves_[r].result);
    }
    return std::all_of(mail_.begin(), mail_.end(), [](const auto& box) { return box.second.empty(); });
  }

 private:
  Value value(std::size_t r, Spot spot) const {
    if (spot == kOwn) return {static_cast<int>(r)};
    return spot == kTarget ? target_[r] : room_[r][static_cast<std::size_t>(spot)];
  }
  Value& at(std::size_t r, Spot spot) {
    EXPECT_NE(spot, kOwn) << "a rank overwrites its contribution";
    return spot == kTarget ? target_[r] : room_[r][static_cast<std::size_t>(spot)];
  }
  bool step(std::size_t r) {
    const Move& move = moves_[r].list[next_[r]];
    if (move.what == Move::What::arrive) {
      const Reception& reception = moves_[r].receives[static_cast<std::size_t>(move.other)];
      auto& box = mail_[{static_cast<std::size_t>(reception.peer), r}];
      if (box.empty()) return false;
      EXPECT_EQ(box.front().size(), reception.values);
      for (int i = 0; i < reception.values; ++i)
        at(r, reception.to + (reception.to == kTarget ? 0 : i)) = box.front()[static_cast<std::size_t>(i)];
      box.pop_front();
    } else if (move.what == Move::What::send) {
      std::vector<Value> message;
      for (int i = 0; i < move.values; ++i) message.push_back(value(r, move.from < 0 ? move.from : move.from + i));
      mail_[{r, static_cast<std::size_t>(move.other)}].push_back(std::move(message));
    } else {
      Value made = value(r, move.from);
      if (move.what == Move::What::fold) {
        const Value right = value(r, move.right);
        made.insert(made.end(), right.begin(), right.end());
      }
      at(r, move.to) = made;
    }
    ++next_[r];
    return true;
  }

  std::vector<Moves> moves_;
  std::vector<std::size_t> next_;
  std::vector<std::vector<Value>> room_;
  std::vector<Value> target_;
  std::map<std::pair<std::size_t, std::size_t>, std::deque<std::vector<Value>>> mail_;  ///< in order, from and to
};

Value first_ranks(int n) {
  Value all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

class EveryMachine : public testing::TestWithParam<Level> {};

TEST_P(EveryMachine, FoldsHoldEveryContributionOnce) {
  const Level& level = GetParam();
  for (const int ranks : {2, 3, 5, 8, 13, 16, 31}) {
    for (const bool commutative : {true, false}) {
      for (const Kind kind : {Kind::reduce, Kind::allreduce, Kind::scan}) {
        const bool exclusive = kind == Kind::scan && commutative;
        const int root = kind == Kind::reduce ? ranks / 2 : 0;
        std::vector<Moves> moves;
        for (int r = 0; r < ranks; ++r) {
          const Script script = script_of(Method::tree, kind, level, ranks, root, commutative, exclusive, r);
          moves.push_back(fold_moves(script, kind, r, ranks, root, commutative, exclusive, true));
        }
        Stage stage(std::move(moves));
        ASSERT_TRUE(stage.play()) << to_string(kind) << " on " << ranks;
        for (int r = 0; r < ranks; ++r) {
          const bool counts = kind != Kind::reduce || r == root;
          const int expected = kind == Kind::scan ? (exclusive ? r : r + 1) : ranks;
          Value result = stage.target(r);
          if (kind != Kind::scan && commutative) std::sort(result.begin(), result.end());
          EXPECT_EQ(result, counts ? first_ranks(expected) : Value{})
              << to_string(kind) << " on " << ranks << ", rank " << r;
        }
      }
    }
  }
}

TEST_P(EveryMachine, TreesReachEverybody) {
  const Level& level = GetParam();
  for (const int ranks : {2, 3, 5, 8, 13, 16, 31}) {
    const int root = ranks / 3;
    std::vector<Moves> there, back;
    for (int r = 0; r < ranks; ++r) {
      there.push_back(spread_moves(script_of(Method::tree, Kind::broadcast, level, ranks, root, true, false, r)));
      const Script folding = script_of(Method::items, Kind::allreduce, level, ranks, 0, true, false, r);
      back.push_back(there_and_back_moves(
          folding, script_of(Method::items, Kind::broadcast, level, ranks, 0, true, false, r), true));
    }
    Stage one(std::move(there)), two(std::move(back));
    one.set_target(root, {42});
    ASSERT_TRUE(one.play()) << ranks;
    ASSERT_TRUE(two.play()) << ranks;
    for (int r = 0; r < ranks; ++r) {
      EXPECT_EQ(one.target(r), Value{42}) << ranks << ", rank " << r;
      Value all = two.target(r);
      std::sort(all.begin(), all.end());
      EXPECT_EQ(all, first_ranks(ranks)) << ranks << ", rank " << r;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, EveryMachine,
                         testing::Values(network(1e6, 5000, 5000), network(1000, 300, 300), network(20, 10, 40)));

}  // namespace
}  // namespace chasqui::run
