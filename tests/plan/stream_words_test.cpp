// SPDX-License-Identifier: MIT
// The parts of a stream: the order of words, balancing, the exceptions.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/plan/stream_certificate.hpp"
#include "plan/growth.hpp"
#include "plan/recurrence.hpp"
#include "plan/stream/balance.hpp"
#include "plan/stream/compose.hpp"
#include "plan/stream/even_exception.hpp"
#include "plan/stream/juggling.hpp"
#include "plan/stream/short_latency.hpp"
#include "plan/stream/word_table.hpp"

namespace chasqui::plan::stream_detail {
namespace {

/// Does the solution use exactly the pool and meet every demand?
bool meets(const Instance& instance, const Balanced& balanced) {
  Letters used;
  if (balanced.letters.size() != instance.blocks.size()) return false;
  for (std::size_t b = 0; b < instance.blocks.size(); ++b) {
    const Demand& demand = instance.blocks[b];
    const Letters& letters = balanced.letters[b];
    if (size_of(letters) != demand.q - 1 || modulo(sum_of(letters) - demand.residue, demand.q) != 0) return false;
    for (const auto& [y, count] : letters) used[y] += count;
  }
  if (balanced.receive_only) ++used[*balanced.receive_only];
  if (instance.K) {
    if (balanced.receive_only != instance.K) return false;
    if (sum_of(balanced.letters[0]) != std::int64_t{*instance.K} * instance.blocks[0].q) return false;
  }
  Letters pool = instance.pool;
  std::erase_if(pool, [](const auto& entry) { return entry.second == 0; });
  return used == pool;
}

TEST(Recipe, IsNotSoundWhenSomethingIsOff) {
  const Recipe good = *compose(4, 100);
  ASSERT_TRUE(is_sound(good, 100));
  EXPECT_FALSE(is_sound(good, 101));
  EXPECT_FALSE(is_sound(good, 99));
  Recipe bad = good;
  ++*bad.receive_only;
  EXPECT_FALSE(is_sound(bad, 100)) << "a letter that the tree does not have";
  bad = good;
  ++bad.blocks.begin()->second;
  EXPECT_FALSE(is_sound(bad, 100)) << "a block too many";
  for (const auto& [type, count] : good.blocks) {
    if (type.q < 2) continue;
    bad = good;
    BlockType changed = type;
    const auto [y, times] = *changed.letters.begin();
    changed.letters.erase(y);
    if (times > 1) changed.letters[y] = times - 1;
    ++changed.letters[y + 1];
    if (--bad.blocks[type] == 0) bad.blocks.erase(type);
    ++bad.blocks[changed];
    EXPECT_FALSE(is_sound(bad, 100)) << "a sum that does not fit, potential " << type.potential;
  }
}

using Word = std::vector<std::int32_t>;

/// Exhaustive and independent of juggling_order: is there any legal order?
bool some_order_juggles(Word values) {
  std::sort(values.begin(), values.end());
  const std::size_t q = values.size();
  do {
    std::vector<bool> hit(q);
    bool legal = true;
    for (std::size_t j = 0; j < q && legal; ++j) {
      const std::size_t landing = (j + static_cast<std::size_t>(values[j])) % q;
      legal = !hit[landing];
      hit[landing] = true;
    }
    if (legal) return true;
  } while (std::next_permutation(values.begin(), values.end()));
  return false;
}

TEST(JugglingOrder, ExistsExactlyWhenTheSumVanishesForAllSmallWords) {
  for (std::int32_t q = 1; q <= 6; ++q) {
    Word values(static_cast<std::size_t>(q), 0);
    for (;;) {
      const std::int32_t sum = std::accumulate(values.begin(), values.end(), 0);
      if (std::is_sorted(values.begin(), values.end())) {
        EXPECT_EQ(some_order_juggles(values), sum % q == 0);
        if (sum % q == 0) {
          Word word = juggling_order(values);
          EXPECT_TRUE(is_juggling(word));
          std::sort(word.begin(), word.end());
          EXPECT_EQ(word, values);
        }
      }
      std::size_t digit = 0;
      while (digit < values.size() && ++values[digit] == q) values[digit++] = 0;
      if (digit == values.size()) break;
    }
  }
}

RC_GTEST_PROP(JugglingOrder, OrdersAnyMultisetWithSumZero, ()) {
  const auto q = *rc::gen::inRange<std::int32_t>(1, 400);
  const auto spread = *rc::gen::inRange<std::int32_t>(1, 500);
  Word values = *rc::gen::container<Word>(static_cast<std::size_t>(q), rc::gen::inRange<std::int32_t>(0, spread));
  const std::int64_t sum = std::accumulate(values.begin(), values.end(), std::int64_t{0});
  values[0] += static_cast<std::int32_t>((q - sum % q) % q);
  Word word = juggling_order(values);
  RC_ASSERT(is_juggling(word));
  std::sort(word.begin(), word.end());
  std::sort(values.begin(), values.end());
  RC_ASSERT(word == values);
}

TEST(IsJuggling, RejectsTwoLandingsInOnePlace) {
  EXPECT_TRUE(is_juggling({4, 4, 1}));
  EXPECT_FALSE(is_juggling({4, 3, 2}));
}

TEST(Balance, SolutionsMeetTheirDemandsAndMeetsCanTell) {
  const Growth f(5, 1000);
  Instance instance;
  instance.L = 5;
  instance.blocks = {{7, 0}, {2, 0}, {1, 0}};
  instance.pool = {{4, 3}, {3, 2}, {2, 1}, {1, 1}, {0, 1}};
  const auto balanced = balance(instance, 20);
  ASSERT_TRUE(balanced);
  EXPECT_TRUE(meets(instance, *balanced));
  Balanced broken = *balanced;
  ++broken.letters[0][3];
  EXPECT_FALSE(meets(instance, broken));
  instance.pool[4] += 1;
  EXPECT_FALSE(meets(instance, *balanced));
}

TEST(Balance, FindsNothingWhereTheResiduesForbidIt) {
  // Even L, n = L+3: the letters other than the receive-only rank's can never sum to 0 modulo L+1.
  for (std::int64_t L = 4; L <= 24; L += 2) {
    Growth f(L, L + 3);
    EXPECT_FALSE(direct(f, 2 * L, 2, std::nullopt)) << L;
  }
}

/// The books of a base case, kept without the library's own: f from its recurrence, blocks and letters
/// counted anew.
void expect_books_balance(std::int64_t L, const BaseName& name, const BaseCase& base) {
  test::Recurrence at(L);
  std::map<std::int64_t, std::int64_t> whole, pruned, letters;
  const auto count = [&](const BlockType& type, std::int64_t times) {
    ASSERT_TRUE(type.missing == 0 || type.missing == 1);
    ASSERT_EQ(type.q, type.potential - type.missing);
    (type.missing == 0 ? whole : pruned)[type.potential] += times;
    std::int64_t sum = 0;
    std::int64_t size = 0;
    for (const auto& [y, n] : type.letters) {
      letters[y] += n * times;
      sum += y * n;
      size += n;
    }
    ASSERT_EQ(size, type.q - 1);
    ASSERT_EQ(((sum - type.missing) % type.q + type.q) % type.q, 0);
  };
  count(base.root, 1);
  for (const auto& [type, times] : base.others) count(type, times);
  ASSERT_TRUE(base.receive_only);
  ++letters[*base.receive_only];
  std::int64_t missing = 0;
  for (std::int64_t r = 1; r <= name.t - L + 1; ++r) {
    const std::int64_t nodes = r == name.t - L + 1 ? 1 : at(name.t - 2 * L + 1 - r);
    const std::int64_t gone = r == 1 ? letters[-1] : pruned[r];  // a node of potential 1 without its child is a leaf
    ASSERT_EQ(whole[r] + gone, nodes) << "potential " << r;
    missing += gone;
  }
  ASSERT_EQ(missing, at(name.t - L) - name.u);
  for (std::int64_t y = 0; y < L; ++y) {
    ASSERT_EQ(letters[y], y == L - 1 ? name.u : at(name.t - 2 * L + 1 + y)) << "co-letter " << y;
  }
}

/// The certificate: with these finitely many trees balanced, composition reaches every P.
TEST(Certificate, EveryBaseCaseIsBalancedForLatencies3To24) {
  for (std::int64_t L = 3; L <= 24; ++L) {
    Growth f(L, 1);
    f.extend_to(base_range(L).first + L + 1);
    std::int64_t cases = L % 2 == 0 ? 1 : 0;
    for (const BaseName& name : base_names(L)) {
      SCOPED_TRACE(testing::Message() << "L=" << L << " t=" << name.t << " u=" << name.u);
      const auto base = direct(f, name.t, name.u, name.K);
      ASSERT_TRUE(base);
      expect_books_balance(L, name, *base);
      if (HasFatalFailure()) return;
      ++cases;
      if (!name.K) continue;
      std::int64_t sum = 0;
      for (const auto& [y, count] : base->root.letters) sum += y * count;
      ASSERT_EQ(sum, *name.K * base->root.q);
      ASSERT_EQ(base->receive_only, name.K);
      ASSERT_EQ(base->root.missing, 0);
    }
    const StreamCertificate certificate = certify_streams(L);
    EXPECT_TRUE(certificate.holds()) << certificate.failure;
    EXPECT_EQ(certificate.cases, cases);
  }
}

/// The names cover what composition asks for: every u at every height below and within the strong range.
TEST(Certificate, NamesCoverEveryTreeOfTheirHeights) {
  for (std::int64_t L = 3; L <= 24; ++L) {
    const BaseRange range = base_range(L);
    Growth f(L, 1);
    f.extend_to(range.first + L);
    std::map<std::int64_t, std::int64_t> strong, weak;
    for (const BaseName& name : base_names(L)) {
      if (!name.K) ++weak[name.t];
      if (name.K == range.K) ++strong[name.t];
    }
    for (std::int64_t t = L; t < range.first; ++t) {
      EXPECT_EQ(weak[t], f(t - L) - (L % 2 == 0 && t == 2 * L ? 1 : 0)) << L << " " << t;
    }
    for (std::int64_t t = range.first; t < range.first + L; ++t)
      EXPECT_EQ(strong[t] + weak[t], f(t - L)) << L << " " << t;
  }
}

TEST(EvenException, DisplacementsAreTheLeavesOfTheTreeUpToLatency300) {
  for (std::int64_t L = 4; L <= 300; L += 2) {
    const auto layout = even_exception(L);
    ASSERT_TRUE(layout) << L;
    const StreamRun& run = layout->runs.at(0);
    EXPECT_TRUE(is_juggling(run.word)) << L;
    std::map<std::int32_t, std::int64_t> letters;
    for (std::size_t j = 1; j + 1 < run.word.size(); ++j) ++letters[run.word[j]];
    ++letters[*layout->receive_only];
    std::map<std::int32_t, std::int64_t> expected = {{0, 2}};
    for (std::int32_t x = 1; x < L; ++x) expected[x] = 1;
    EXPECT_EQ(letters, expected) << L;
  }
}

TEST(LatencyOne, TheBooksBalanceForEveryN) {
  for (std::int64_t n = 2; n <= 5000; ++n) ASSERT_TRUE(is_sound(latency_one(n), n)) << n;
  for (std::int64_t n : {(1LL << 58) - 1, (1LL << 58) + 1, 500'000'000'000'000'000LL}) {
    EXPECT_TRUE(is_sound(latency_one(n), n)) << n;
  }
}

TEST(LatencyTwo, TheBooksBalanceWhereTheCriterionAllowsAndOneStepHigherElsewhere) {
  std::vector<std::int64_t> beyond;
  for (std::int64_t n = 2; n <= 2000; ++n) {
    if (n == 5 || n == 8) continue;
    const std::int64_t t = Growth(2, n).last();
    const bool reaches = two_reaches_bound(n);
    const auto recipe = latency_two(n, reaches ? t : t + 1);
    ASSERT_TRUE(recipe) << n;
    EXPECT_TRUE(is_sound(*recipe, n)) << n;
    if (!reaches && n <= 55) beyond.push_back(n + 1);
  }
  EXPECT_EQ(beyond, (std::vector<std::int64_t>{22, 33, 34, 35, 50, 51, 52, 53, 54, 55, 56}));
}

/// Base cases of L = 2: composition reaches every larger n from these.
TEST(LatencyTwo, EveryBaseCaseIsBalanced) {
  Growth f(2, 1);
  f.extend_to(12);
  for (const TwoBase& base : kTwoBases) {
    for (std::int64_t n = base.low; n <= base.high; ++n) {
      const auto heads = cut_heads(f, base.t, n);
      ASSERT_TRUE(heads) << n;
      ASSERT_TRUE(balance_tree(2, base.t, *heads, 0, 400)) << base.t << " " << n;
    }
  }
}

using Word = std::vector<std::int32_t>;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Which words a rank can have, and which sets of them use every letter of the tree once a step.
class WordSearch {
 public:
  WordSearch(std::int64_t L, std::int64_t t, std::int64_t period) : L_(L), t_(t), period_(period) {
    Growth f(L, 1);
    f.extend_to(t);
    n_ = f(t);
    for (std::int64_t d = 0; d <= t; ++d) {
      if (f.at_label(d) > 0) each_step_[static_cast<std::int32_t>(t - d)] = f.at_label(d);
    }
  }

  std::optional<WordTable> run() {
    Word word;
    list_words(word);
    left_.assign(index(period_), each_step_);
    if (!choose(0)) return std::nullopt;
    return WordTable{L_, t_, period_, chosen_};
  }

 private:
  bool sends_fit(const Word& word) const {
    std::vector<bool> busy(index(period_));
    for (std::int64_t j = 0; j < period_; ++j) {
      for (std::int64_t c = 0; c < word[index(j)] - L_ + 1; ++c) {
        if (c >= period_ || busy[index((j + c) % period_)]) return false;
        busy[index((j + c) % period_)] = true;
      }
    }
    return true;
  }

  void list_words(Word& word) {
    if (std::ssize(word) == period_) {
      if (is_juggling(word) && sends_fit(word)) words_.push_back(word);
      return;
    }
    for (const auto& [letter, count] : each_step_) {
      word.push_back(letter);
      list_words(word);
      word.pop_back();
    }
  }

  /// Words are taken in their order in the list, so each set is met once.
  bool choose(std::size_t from) {
    if (std::ssize(chosen_) == n_) return true;
    for (std::size_t w = from; w < words_.size(); ++w) {
      if (!take(words_[w])) continue;
      if (still_possible(w)) {
        chosen_.push_back(words_[w]);
        if (choose(w)) return true;
        chosen_.pop_back();
      }
      put_back(words_[w]);
    }
    return false;
  }

  bool take(const Word& word) {
    for (std::int64_t j = 0; j < period_; ++j) {
      if (left_[index(j)][word[index(j)]]-- == 0) {
        for (std::int64_t back = 0; back <= j; ++back) ++left_[index(back)][word[index(back)]];
        return false;
      }
    }
    return true;
  }

  void put_back(const Word& word) {
    for (std::int64_t j = 0; j < period_; ++j) ++left_[index(j)][word[index(j)]];
  }

  /// Words are listed by their first letter: letters below it must be used up in step 0.
  bool still_possible(std::size_t w) const {
    for (const auto& [letter, count] : left_[0]) {
      if (letter < words_[w][0] && count > 0) return false;
    }
    return true;
  }

  std::int64_t L_, t_, period_;
  std::int64_t n_ = 0;
  std::map<std::int32_t, std::int64_t> each_step_;
  std::vector<std::map<std::int32_t, std::int64_t>> left_;
  std::vector<Word> words_, chosen_;
};

TEST(SearchWords, FindsTheTwoExceptionsAtTheirPeriodsOnly) {
  for (std::int64_t period = 1; period <= 6; ++period) {
    EXPECT_EQ(WordSearch(2, 4, period).run().has_value(), period == 4) << period;
    if (period < 6) {
      EXPECT_EQ(WordSearch(2, 5, period).run().has_value(), period == 5) << period;
    }
  }
  EXPECT_EQ(WordSearch(2, 4, 4).run()->words, words_of_two(5).words);
  EXPECT_EQ(WordSearch(2, 5, 5).run()->words, words_of_two(8).words);
}

}  // namespace
}  // namespace chasqui::plan::stream_detail
