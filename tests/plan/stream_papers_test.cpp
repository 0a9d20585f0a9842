// SPDX-License-Identifier: MIT
// The literature's constructions: published numbers, and every schedule before the verifier.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/kitem.hpp"
#include "chasqui/plan/stream.hpp"
#include "chasqui/plan/stream_algorithms.hpp"
#include "chasqui/plan/word_automaton.hpp"
#include "chasqui/schedule/json.hpp"
#include "chasqui/verify/verify.hpp"
#include "plan/published/block_cyclic.hpp"
#include "plan/published/single_sending.hpp"
#include "plan/recurrence.hpp"
#include "plan/stream/juggling.hpp"
#include "plan/stream_player.hpp"

namespace chasqui::plan {
namespace {

std::int64_t nice(std::int64_t L, std::int64_t t) { return test::Recurrence(L)(t) + 1; }

LogP postal(std::int64_t P, std::int64_t L) { return LogP::postal(P, Time{L}); }

std::string complaint(const Schedule& schedule, bool buffered = false) {
  VerifyOptions options;
  if (buffered) options.receptions = Receptions::buffered;
  options.most = 3;
  const Report report = verify(schedule, options);
  return report.legal() ? "" : to_string(report);
}

/// All words of r-1 letters for a block of r ranks, in alphabetical order, by walking the automaton.
std::vector<std::vector<std::int32_t>> legal_words(const WordAutomaton& automaton, std::int64_t r) {
  std::vector<std::vector<const WordAutomaton::Edge*>> out(automaton.states.size());
  for (const auto& edge : automaton.edges) out[edge.from].push_back(&edge);
  std::vector<std::vector<std::int32_t>> words;
  std::vector<std::int32_t> walk;
  const auto go = [&](auto&& self, std::size_t start, std::size_t at, std::int64_t steps) -> void {
    if (steps == r) {
      if (at != start) return;
      // walk holds the state's letters and r more; the head is its first letter, and the period is r.
      words.emplace_back(walk.begin() + 1, walk.begin() + r);
      return;
    }
    for (const auto* edge : out[at]) {
      walk.push_back(edge->letter);
      self(self, start, edge->to, steps + 1);
      walk.pop_back();
    }
  };
  for (std::size_t s = 0; s < automaton.states.size(); ++s) {
    if (!automaton.starts[s]) continue;
    walk = automaton.states[s];
    go(go, s, s, 0);
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

TEST(Verified, StreamsOfOnePeriod) {
  for (std::int64_t L = 1; L <= 9; ++L) {
    for (std::int64_t P = 2; P <= 60; ++P) {
      const StreamPtr stream = make_stream(P, L, P / 2);
      if (stream->period() * P > 60'000) continue;
      ASSERT_EQ(complaint(stream_plan(postal(P, L), stream)->schedule()), "") << "P=" << P << " L=" << L;
    }
  }
}

RC_GTEST_PROP(Verified, WindowsOfAnyStream, ()) {
  const auto L = *rc::gen::inRange<std::int64_t>(1, 40);
  const auto P = *rc::gen::inRange<std::int64_t>(2, 300);
  const auto k = *rc::gen::inRange<std::int64_t>(1, 25);
  const auto root = *rc::gen::inRange<std::int32_t>(0, static_cast<std::int32_t>(P));
  const PlanPtr plan = stream_window(postal(P, L), k, Rank{root});
  RC_ASSERT(complaint(plan->schedule()) == "");
}

TEST(Verified, GapsAndOverheadsWhereAStreamFits) {
  for (const LogP& machine : {LogP{10, Time{6}, Time{0}, Time{2}}, LogP{17, Time{7}, Time{0}, Time{3}},
                              LogP{12, Time{10}, Time{2}, Time{5}}, LogP{9, Time{2}, Time{1}, Time{2}}}) {
    EXPECT_EQ(complaint(stream(machine)->schedule()), "") << to_string(machine);
    EXPECT_EQ(complaint(stream_window(machine, 9)->schedule()), "") << to_string(machine);
  }
}

// Where sends and receptions would meet in steps of g, the step is longer, and what the plan lists says so.
RC_GTEST_PROP(Verified, StreamsOnAnyMachine, ()) {
  const LogP machine{*rc::gen::inRange<std::int64_t>(2, 30), Time{*rc::gen::inRange<std::int64_t>(1, 20)},
                     Time{*rc::gen::inRange<std::int64_t>(0, 6)}, Time{*rc::gen::inRange<std::int64_t>(1, 8)}};
  const PlanPtr plan = stream(machine, Rank{1});
  RC_ASSERT(plan->claim().finish >= plan->claim().bound);
  RC_ASSERT(plan->machine().g >= machine.g);
  RC_ASSERT(plan->machine().L == machine.L);
  RC_ASSERT(plan->machine().o == machine.o);
  const PlanPtr window = stream_window(machine, 5, Rank{1});
  RC_ASSERT(complaint(window->schedule()) == "");
  try {
    const Schedule schedule = plan->schedule();
    if (schedule.sends.size() > 30'000) return;
    RC_ASSERT(complaint(schedule) == "");
  } catch (const Error&) {
    RC_DISCARD("the period is too long to list");
  }
}

TEST(Automaton, OfLatencyThreeSpellsThePapersWords) {
  const WordAutomaton automaton = word_automaton(3);
  std::vector<std::string> words;
  for (const auto& word : legal_words(automaton, 5)) words.push_back(spell(word));
  EXPECT_EQ(words, (std::vector<std::string>{"abbb", "abca", "acab", "cccc"}));
  EXPECT_EQ(automaton.states.size(), 6U);  // ca and cc are the start states; aa is on no walk through them
  EXPECT_NE(to_text(automaton).find("((ca))"), std::string::npos);
  EXPECT_THROW(word_automaton(1), Error);
}

TEST(Automaton, WordsAreExactlyTheJugglingSequences) {
  for (std::int64_t L = 2; L <= 4; ++L) {
    const WordAutomaton automaton = word_automaton(L);
    for (std::int64_t r = L; r <= 7; ++r) {
      std::vector<std::vector<std::int32_t>> expected;
      std::vector<std::int32_t> word(static_cast<std::size_t>(r - 1), 0);
      for (bool more = true; more;) {
        std::vector<std::int32_t> whole = {static_cast<std::int32_t>(L - 1 + r)};
        whole.insert(whole.end(), word.begin(), word.end());
        if (stream_detail::is_juggling(whole)) expected.push_back(word);
        std::size_t digit = word.size();
        for (more = false; digit > 0 && !more;) {
          more = ++word[--digit] < L;
          if (!more) word[digit] = 0;
        }
      }
      EXPECT_EQ(legal_words(automaton, r), expected) << "L=" << L << " r=" << r;
    }
  }
}

TEST(BlockCyclic, InductionReachesTheBoundForLatencies3To10) {
  for (std::int64_t L = 3; L <= 10; ++L) {
    const auto base = stream_detail::block_cyclic_base(L, 6 * L);
    ASSERT_TRUE(base) << L;
    for (const std::int64_t t : {*base, *base + L, *base + 2 * L + 1}) {
      const std::int64_t P = nice(L, t);
      if (P > 3000) continue;
      const auto recipe = stream_detail::block_cyclic(L, P - 1);
      ASSERT_TRUE(recipe) << L << " " << t;
      EXPECT_EQ(recipe->receive_only, L - 2) << "the letter b";
      const PlanPtr plan = stream_algorithm("block-cyclic").items(postal(P, L), 12, Rank{0});
      EXPECT_EQ(plan->claim().finish.ticks, L + t + 11);
      EXPECT_EQ(complaint(plan->schedule()), "") << L << " " << t;
    }
  }
}

TEST(BlockCyclic, FigureThreeHasTheBlocksOfThePaper) {
  // L = 3, P-1 = 41 = f_11: one block each of 9, 6, 5, 4, two of 3, three of 2, four of 1, and a receive-only
  // rank.
  const auto recipe = stream_detail::block_cyclic(3, 41);
  ASSERT_TRUE(recipe);
  std::map<std::int32_t, std::int64_t> blocks;
  for (const auto& [type, count] : recipe->blocks) blocks[type.q] += count;
  EXPECT_EQ(blocks, (std::map<std::int32_t, std::int64_t>{{9, 1}, {6, 1}, {5, 1}, {4, 1}, {3, 2}, {2, 3}, {1, 4}}));
  EXPECT_THROW(stream_algorithm("block-cyclic").items(postal(43, 3), 4, Rank{0}), Error);
}

TEST(BlockCyclic, NoneForEvenLatencyAndHeightTwiceIt) {
  EXPECT_FALSE(stream_detail::block_cyclic(4, 7));  // L = 4, t = 8, as the paper says
  EXPECT_EQ(make_stream(8, 4)->delay().ticks, 12);  // another shape reaches the bound
}

TEST(ReceptionPattern, IsLegalForEveryBlockAndAsPrintedOnlyForOne) {
  const auto legal = [](const std::vector<std::vector<std::int64_t>>& offsets) {
    const auto r = static_cast<std::int64_t>(offsets.size());
    for (std::int64_t time = 0; time < r; ++time) {
      std::vector<bool> busy(static_cast<std::size_t>(r));
      busy[static_cast<std::size_t>(time)] = true;  // the active item's processor
      for (std::int64_t step = 0; step <= r - 2; ++step) {
        const auto& item = offsets[static_cast<std::size_t>((time - step + r) % r)];
        std::int64_t receivers = 0;
        for (std::size_t j = 0; j < item.size(); ++j) {
          if (item[j] != step) continue;
          if (busy[j]) return false;
          busy[j] = true;
          ++receivers;
        }
        if (receivers != 1) return false;
      }
    }
    return true;
  };
  for (std::int64_t r = 4; r <= 60; ++r) EXPECT_TRUE(legal(stream_detail::reception_pattern(r))) << r;
  for (std::int64_t L = 3; L <= 15; L += 2) {
    for (std::int64_t r = std::max<std::int64_t>(L, 4); r < 2 * L; ++r) {
      EXPECT_EQ(legal(stream_detail::reception_pattern(r, L)), r % 2 != 0 ? r == L + 2 : r == L + 3)
          << "L=" << L << " r=" << r;
    }
  }
}

// errata.md, Erratum 13: its file is the construction on seven ranks with the offsets that are printed.
TEST(ReceptionPattern, TheDrawnScheduleIsThePrintedOne) {
  const Schedule drawn = read_schedule(CHASQUI_SOURCE_DIR "/docs/theory/errata/13.json");
  const std::int64_t L = 3, r = 4, t = 6;
  ASSERT_EQ(drawn.machine, postal(nice(L, t), L));
  std::vector<Send> printed = single_sending(drawn.machine, drawn.problem.items)->schedule().sends;
  const auto right = stream_detail::reception_pattern(r), as_printed = stream_detail::reception_pattern(r, L);
  for (Send& send : printed) {
    const auto residue = static_cast<std::size_t>(send.item().index % r),
               inner = static_cast<std::size_t>(send.to.index - 1);
    if (inner >= right.size() || right[residue][inner] < 0) continue;  // not of the block, or the active item
    send.begin.ticks += as_printed[residue][inner] - right[residue][inner];
  }
  std::sort(printed.begin(), printed.end());
  EXPECT_EQ(drawn.sends, printed);
  EXPECT_NE(complaint(drawn).find("reception gap"), std::string::npos) << complaint(drawn);
}

TEST(ReceptionPattern, FigureFour) {
  // L = 5, r = 7: in which order p_1 … p_7 receive items 1..16, active and inactive (the figure's rows).
  const auto pattern = stream_detail::reception_pattern(7);
  std::vector<std::vector<std::int64_t>> rows(7);
  for (std::int64_t j = 1; j <= 7; ++j) {
    std::vector<std::pair<std::int64_t, std::int64_t>> events;  // time, item
    for (std::int64_t i = 1; i <= 16; ++i) {
      const std::int64_t residue = (i - 1) % 7;
      const std::int64_t step = pattern[static_cast<std::size_t>(residue)][static_cast<std::size_t>(j - 1)];
      events.emplace_back(step < 0 ? i - 7 : i + step, i);
    }
    std::sort(events.begin(), events.end());
    for (const auto& [time, item] : events) rows[static_cast<std::size_t>(j - 1)].push_back(item);
  }
  EXPECT_EQ(rows[0], (std::vector<std::int64_t>{1, 8, 2, 3, 4, 5, 7, 15, 6, 9, 10, 11, 12, 14, 13, 16}));
  EXPECT_EQ(rows[1], (std::vector<std::int64_t>{2, 1, 9, 3, 4, 5, 8, 16, 7, 6, 10, 11, 12, 15, 14, 13}));
  EXPECT_EQ(rows[2], (std::vector<std::int64_t>{3, 1, 10, 2, 6, 4, 5, 8, 9, 7, 13, 11, 12, 15, 16, 14}));
  // In the printed rows 4 to 6 item 14 comes once more at the end, where nothing is left to receive.
  EXPECT_EQ(rows[3], (std::vector<std::int64_t>{4, 1, 11, 2, 3, 6, 7, 5, 8, 9, 10, 13, 14, 12, 15, 16}));
  EXPECT_EQ(rows[4], (std::vector<std::int64_t>{5, 1, 12, 2, 3, 4, 7, 6, 8, 9, 10, 11, 14, 13, 15, 16}));
  EXPECT_EQ(rows[5], (std::vector<std::int64_t>{6, 1, 13, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 14, 15, 16}));
  EXPECT_EQ(rows[6], (std::vector<std::int64_t>{7, 2, 3, 4, 5, 1, 14, 6, 9, 10, 11, 12, 8, 13, 16, 15}));
}

TEST(SingleSending, EndsAsThePaperSaysForEveryNiceSize) {
  for (std::int64_t L = 3; L <= 9; L += 2) {
    for (std::int64_t t = 2 * L; t <= 5 * L && nice(L, t) < 700; ++t) {
      for (const std::int64_t k : {1, 2, 5, 14, 33}) {
        const std::int64_t P = nice(L, t);
        const PlanPtr plan = single_sending(postal(P, L), k, Rank{1});
        EXPECT_LE(plan->claim().finish.ticks, t + 2 * L + k - 2) << P << " " << L << " " << k;
        if (t >= 3 * L) {
          EXPECT_EQ(plan->claim().finish.ticks, t + 2 * L + k - 2);
        }
        ASSERT_EQ(complaint(plan->schedule()), "") << "P=" << P << " L=" << L << " k=" << k;
      }
    }
  }
  EXPECT_THROW(single_sending(postal(43, 3), 4), Error);
  EXPECT_THROW(single_sending(postal(8, 4), 4), Error);
}

TEST(Buffered, FigureFive) {
  const PlanPtr plan = buffered_items(postal(14, 3), 14);
  EXPECT_EQ(plan->claim().finish.ticks, 3 + 8 + 13);
  EXPECT_EQ(complaint(plan->schedule(), true), "");
}

RC_GTEST_PROP(Buffered, MeetsTheSingleSendingBoundForEveryMachine, ()) {
  const auto L = *rc::gen::inRange<std::int64_t>(1, 12);
  const auto P = *rc::gen::inRange<std::int64_t>(2, 200);
  const auto k = *rc::gen::inRange<std::int64_t>(1, 30);
  const PlanPtr plan = buffered_items(postal(P, L), k);
  const std::int64_t bound = make_stream(P, L)->bound().ticks - (L == 2 && !stream_bound_reachable_at_two(P) ? 1 : 0);
  RC_ASSERT(plan->claim().finish.ticks == bound + k - 1);
  RC_ASSERT(complaint(plan->schedule(), true) == "");
  RC_ASSERT(complaint(simple_items(postal(P, L), k)->schedule(), true) == "");
}

TEST(Buffered, WithoutBuffersReceptionsMeet) { EXPECT_NE(complaint(buffered_items(postal(8, 4), 20)->schedule()), ""); }

/// SV 6's assignment protocol inside one group of q ranks: each step the group gets one internal node (the
/// item that completes `head` steps later, ranks in turn) and one leaf per letter. "Arbitrary" is read as
/// "the first rank that may". How long does a leaf wait at most, if a rank receives one item a step and the
/// internal node goes first?
std::int64_t longest_wait(std::int64_t q, std::vector<std::int64_t> letters, std::int64_t head) {
  std::sort(letters.begin(), letters.end());  // the oldest item first, as the protocol says
  std::vector<std::set<std::int64_t>> promised(static_cast<std::size_t>(q));
  std::vector<std::deque<std::int64_t>> waiting(static_cast<std::size_t>(q));  // arrival times
  std::int64_t longest = 0;
  for (std::int64_t time = 0; time < 300; ++time) {
    waiting[static_cast<std::size_t>(time % q)].push_front(time);
    std::vector<bool> marked(static_cast<std::size_t>(q));
    for (const std::int64_t letter : letters) {
      const std::int64_t item = time + letter;
      std::size_t rank = 0;
      while (marked.at(rank) || promised[rank].contains(item) ||
             static_cast<std::int64_t>(rank) == (item - head + 100 * q) % q) {
        ++rank;  // at() throws if the protocol fails, which Lemma 6.3 rightly rules out
      }
      marked[rank] = true;
      promised[rank].insert(item);
      waiting[rank].push_back(time);
    }
    for (auto& queue : waiting) {
      if (queue.empty()) continue;
      if (time > 100) longest = std::max(longest, time - queue.front());
      queue.pop_front();
    }
  }
  return longest;
}

TEST(Simple, AnArbitraryAssignmentMakesLeavesLate) {
  // Trees of latency 3 on a machine of latency 2 have one step to spare; a group of three with the leaves a
  // and c waits three.
  EXPECT_EQ(longest_wait(3, {0, 2}, 5), 3);
  EXPECT_LE(longest_wait(2, {1}, 4), 1);
}

/// SV 6 on the machine whose only group is that of the root: q ranks, the leaves `letters` (0: the last label t of
/// the tree of latency L+1) of every item. Tries all choices of the protocol: can an item be late for the step
/// that the tree has for it, though its messages come a step before?
class AnyChoice {
 public:
  AnyChoice(std::int64_t q, std::vector<std::int64_t> letters, std::int64_t L, std::int64_t items)
      : q_(q), L_(L), t_(L + q), items_(items) {
    for (std::int64_t item = 0; item < items; ++item) {
      for (const std::int64_t letter : letters) leaves_.push_back({item + L_ + t_ - letter, item, -1});
    }
    std::sort(leaves_.begin(), leaves_.end());
  }

  bool may_be_late() { return choose(0); }

 private:
  struct Leaf {
    std::int64_t due, item, rank;
    auto operator<=>(const Leaf&) const = default;
  };

  bool choose(std::size_t next) {
    if (next == leaves_.size()) return late();
    Leaf& leaf = leaves_[next];
    for (std::int64_t rank = 0; rank < q_; ++rank) {
      const bool taken =
          rank == leaf.item % q_ ||
          std::any_of(leaves_.begin(), leaves_.begin() + static_cast<std::ptrdiff_t>(next), [&](const Leaf& other) {
            return other.rank == rank && (other.due == leaf.due || other.item == leaf.item);
          });
      if (taken) continue;
      leaf.rank = rank;
      if (choose(next + 1)) return true;
    }
    return false;
  }

  /// A rank receives one item a step: what it must pass on first, then the leaf that came first.
  bool late() const {
    for (std::int64_t rank = 0; rank < q_; ++rank) {
      std::deque<std::int64_t> due;
      for (std::int64_t time = 0; time < items_ + L_ + 2 * t_; ++time) {
        for (const Leaf& leaf : leaves_) {
          if (leaf.rank == rank && leaf.due == time + 1) due.push_back(leaf.due);
        }
        const std::int64_t item = time - L_;
        if ((item >= 0 && item < items_ && item % q_ == rank) || due.empty()) continue;
        if (due.front() < time) return true;
        due.pop_front();
      }
    }
    return false;
  }

  std::int64_t q_, L_, t_, items_;
  std::vector<Leaf> leaves_;
};

// errata.md, Erratum 14.
TEST(Simple, EightItemsOnFiveRanksMayBeLateAndNothingSmaller) {
  EXPECT_TRUE(AnyChoice(3, {0, 2}, 2, 8).may_be_late());
  for (const std::vector<std::int64_t>& letters : {std::vector<std::int64_t>{0, 1}, {0, 2}, {1, 2}}) {
    EXPECT_FALSE(AnyChoice(3, letters, 2, 7).may_be_late());
  }
  for (std::int64_t L = 1; L <= 4; ++L) {
    for (std::int64_t letter = 0; letter < 2; ++letter) EXPECT_FALSE(AnyChoice(2, {letter}, L, 10).may_be_late()) << L;
  }
  const Schedule drawn = read_schedule(CHASQUI_SOURCE_DIR "/docs/theory/errata/14.json");
  EXPECT_EQ(complaint(drawn, true), "");
}

TEST(Pruning, OfThePaperServesNiceSizesAtLatencyTwo) {
  for (std::int64_t t = 7; t <= 13; ++t) {
    const std::int64_t P = nice(2, t);
    const PlanPtr plan = stream_algorithm("pruning").items(postal(P, 2), 8, Rank{0});
    EXPECT_EQ(plan->claim().finish.ticks, 2 + t + 1 + 7);
    EXPECT_EQ(complaint(plan->schedule()), "") << t;
  }
}

TEST(Waiting, IsTheSimpleScheduleWithoutBuffers) {
  for (const auto& [P, L] : {std::pair{30, 3}, {100, 4}, {57, 7}, {12, 2}}) {
    const PlanPtr plan = stream_algorithm("waiting").items(postal(P, L), 9, Rank{0});
    EXPECT_EQ(plan->claim().finish, simple_items(postal(P, L), 9)->claim().finish);
    EXPECT_EQ(complaint(plan->schedule()), "");
  }
}

TEST(Algorithms, AreListedAndUnknownOnesRefused) {
  for (const StreamAlgorithm& algorithm : stream_algorithms()) {
    EXPECT_EQ(&stream_algorithm(algorithm.name), &algorithm);
  }
  EXPECT_THROW(stream_algorithm("fastest"), Error);
}

}  // namespace
}  // namespace chasqui::plan
