// SPDX-License-Identifier: MIT
// A long all-reduce in pieces that ranks lead by turns: all ranks' programs are played against each other, with messages that leave
// only when they are asked for and boards that nobody leaves before all have come. Both ends must have the messages of all pieces in
// one order, the ranks of a node the same steps on their board, everybody must come to its end, and have the sum.
#include "run/messages/led_pieces.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <map>
#include <numeric>

#include "chasqui/model/profile.hpp"

namespace chasqui::run {
namespace {

using Word = std::uint64_t;

struct Setting {
  Nodes nodes;
  LedPieces pieces;
  LedCosts costs;
  std::size_t count;

  int ranks() const { return static_cast<int>(nodes.ranks()); }
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

/// In place: what a rank contributes lies where it gets the sum.
class Play {
 public:
  Play(const Setting& s, bool in_place) : s_(s) {
    std::vector<int> names(static_cast<std::size_t>(s.ranks()));
    std::iota(names.rbegin(), names.rend(), 0);  // messages call the ranks in another order
    const LedTimetable timetable = led_timetable(s.pieces, s.costs);
    for (int r = 0; r < s.ranks(); ++r) {
      const Shape shape{
          .kind = Kind::allreduce, .rank = r, .size = s.ranks(), .count = s.count, .element = sizeof(Word)};
      One one{led_program(shape, s.pieces, timetable, s.nodes, names)};
      one.output.resize(s.count);
      one.input.resize(s.count);
      for (std::size_t i = 0; i < s.count; ++i) one.input[i] = contribution(r, i);
      if (in_place) one.output.swap(one.input);
      one.scratch.resize((one.program.scratch + sizeof(Word) - 1) / sizeof(Word));
      one.in_place = in_place;
      ranks_.push_back(std::move(one));
    }
  }
  /// Empty: everybody has the sum, and nothing is left over.
  std::string run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int r = 0; r < s_.ranks(); ++r)
        while (wrong_.empty() && step(r)) moved = true;
    }
    for (int r = 0; r < s_.ranks() && wrong_.empty(); ++r) {
      if (rank(r).next != rank(r).program.list.size()) return "rank " + std::to_string(r) + " waits for ever";
      for (std::size_t i = 0; i < s_.count; ++i) {
        Word sum = 0;
        for (int other = 0; other < s_.ranks(); ++other) sum += contribution(other, i);
        if (rank(r).output[i] != sum) return "rank " + std::to_string(r) + " has another sum";
      }
    }
    for (const auto& [pair, sent] : sent_)
      if (wrong_.empty() && sent.size() != asked_[pair].size()) return "messages are left over";
    return wrong_;
  }

 private:
  using Pair = std::pair<int, int>;  // from, to
  struct Place {
    Pair pair;
    std::size_t number;
    Address at;
  };
  struct One {
    Program program;
    std::vector<Word> input{}, output{}, scratch{};
    bool in_place = false;
    std::size_t next = 0;
    std::vector<Place> posts{}, sends{};
    std::vector<BoardStep> boards{};
  };
  static Word contribution(int rank, std::size_t i) { return (static_cast<Word>(rank) + 1) * (i * i + 3); }
  One& rank(int r) { return ranks_[static_cast<std::size_t>(r)]; }
  int named(int name) const { return s_.ranks() - 1 - name; }

  Word* at(One& one, Address address) {
    auto& memory = address.memory == Memory::scratch                  ? one.scratch
                   : address.memory == Memory::output || one.in_place ? one.output
                                                                      : one.input;
    return memory.data() + address.offset / sizeof(Word);
  }

  bool step(int r) {
    One& own = rank(r);
    if (own.next == own.program.list.size()) return false;
    const Instruction& now = own.program.list[own.next];
    using What = Instruction::What;
    switch (now.what) {
      case What::post: {
        const Pair pair{named(now.other), r};
        own.posts.push_back({pair, asked_[pair].size(), now.to});
        asked_[pair].push_back(now.size);
        break;
      }
      case What::send: {
        const Pair pair{r, named(now.other)};
        own.sends.push_back({pair, sent_[pair].size(), now.from});
        const Word* from = at(own, now.from);
        sent_[pair].emplace_back(from, from + now.size / sizeof(Word));
        break;
      }
      case What::arrive: {
        const Place& post = own.posts.at(static_cast<std::size_t>(now.other));
        if (sent_[post.pair].size() <= post.number) return false;
        const auto& message = sent_[post.pair][post.number];
        if (message.size() * sizeof(Word) != asked_[post.pair][post.number])
          wrong_ = "rank " + std::to_string(r) + " gets another message than it asked for";
        std::copy(message.begin(), message.end(), at(own, post.at));
        break;
      }
      case What::fold:
        for (std::size_t i = 0; i < now.size; ++i) at(own, now.to)[i] = at(own, now.from)[i] + at(own, now.right)[i];
        break;
      case What::copy: std::memmove(at(own, now.to), at(own, now.from), now.size); break;
      case What::finish:
        for (std::size_t i = 0; i + now.size < own.sends.size(); ++i)
          if (asked_[own.sends[i].pair].size() <= own.sends[i].number) return false;
        break;
      case What::board: return board(r, own.program.steps[static_cast<std::size_t>(now.other)]);
      default: break;
    }
    ++own.next;
    return true;
  }

  /// The last of a node to come does it for all.
  bool board(int r, const BoardStep& step) {
    One& own = rank(r);
    const auto number = static_cast<std::size_t>(own.program.list[own.next].other);
    if (own.boards.size() <= number) own.boards.push_back(step);
    const std::int64_t node = s_.nodes.node_of({r});
    const auto first = static_cast<int>(s_.nodes.first_rank(node)), end = first + static_cast<int>(s_.nodes.size(node));
    for (int other = first; other < end; ++other) {
      if (rank(other).boards.size() <= number) return false;
      const BoardStep& theirs = rank(other).boards[number];
      if (theirs.kind != step.kind || theirs.root != step.root || theirs.count != step.count)
        wrong_ = "the ranks of a node do different steps";
    }
    One& root = rank(first + step.root);
    const BoardStep& rooted = root.boards[number];
    for (std::size_t i = 0; i < step.count && step.kind == Kind::reduce; ++i) {
      Word sum = 0;
      for (int other = first; other < end; ++other) sum += at(rank(other), rank(other).boards[number].in)[i];
      at(root, rooted.out)[i] = sum;
    }
    for (int other = first; other < end; ++other) {
      if (step.kind == Kind::broadcast && other != first + step.root)
        std::copy_n(at(root, rooted.in), step.count, at(rank(other), rank(other).boards[number].out));
      ++rank(other).next;
    }
    return true;
  }

  Setting s_;
  std::vector<One> ranks_;
  std::map<Pair, std::vector<std::vector<Word>>> sent_;
  std::map<Pair, std::vector<std::size_t>> asked_;
  std::string wrong_;
};

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
  const std::string wrong = Play(s, *rc::gen::arbitrary<bool>()).run();
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
