// SPDX-License-Identifier: MIT
// The papers' all-to-all broadcast and combining broadcast, as printed: where they hold and where they do
// not.
#include <gtest/gtest.h>

#include <algorithm>

#include "chasqui/plan/allgather.hpp"
#include "chasqui/plan/allreduce.hpp"
#include "chasqui/plan/universal_tree.hpp"
#include "chasqui/verify/verify.hpp"
#include "plan/referee.hpp"

namespace chasqui {
namespace {

/// TR 5.1: rank i sends its item to i+1, i+2, … at 0, g, 2g, …; claimed finish L + 2o + (P-2)g.
Schedule printed_all_to_all(const LogP& m) {
  Schedule s{.machine = m,
             .problem = {.kind = Kind::allgather},
             .finish = {},
             .bound = {},
             .sends = {},
             .operands = {},
             .adds = {}};
  for (std::int32_t j = 1; j < m.P; ++j) {
    for (std::int32_t i = 0; i < m.P; ++i) {
      const auto to = static_cast<std::int32_t>((i + j) % m.P);
      s.sends.push_back(send_item((j - 1) * m.g, Rank{i}, Rank{to}, i));
    }
  }
  s.finish = s.bound = m.lambda() + (m.P - 2) * m.g;
  normalise(s);
  return s;
}

std::vector<int> broken_rules(const Schedule& s) {
  std::vector<int> rules;
  for (const Violation& v : verify(s).violations) rules.push_back(v.rule);
  std::sort(rules.begin(), rules.end());
  rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
  return rules;
}

TEST(PaperAllToAll, PrintedAllToAllIsRightWithoutOverhead) {
  for (std::int64_t P = 2; P <= 12; ++P) {
    for (std::int64_t L = 1; L <= 6; ++L) {
      for (std::int64_t g = 1; g <= 4; ++g) {
        const Schedule s = printed_all_to_all({P, Time{L}, Time{0}, Time{g}});
        EXPECT_TRUE(verify(s).legal());
        EXPECT_EQ(plan::allgather(s.machine)->claim().finish, s.finish);
      }
    }
  }
}

TEST(PaperAllToAll, PrintedAllToAllLetsOverheadsMeet) {
  const LogP small{3, Time{1}, Time{1}, Time{2}}, usual{4, Time{6}, Time{2}, Time{4}};
  EXPECT_EQ(broken_rules(printed_all_to_all(small)), std::vector<int>{4});
  EXPECT_EQ(broken_rules(printed_all_to_all(usual)), std::vector<int>{4});
  EXPECT_EQ(printed_all_to_all(small).finish, Time{5});
  EXPECT_EQ(plan::allgather_bound(small), Time{6});
  EXPECT_EQ(printed_all_to_all(usual).finish, Time{18});
  EXPECT_EQ(plan::allgather_bound(usual), Time{20});
  EXPECT_TRUE(plan::allgather(small)->claim().optimal());
  EXPECT_TRUE(plan::allgather(usual)->claim().optimal());
}

/// TR 5.1, k items each: k repetitions, claimed L + 2o + g(k(P-1) - 1).
TEST(PaperAllToAll, PrintedRepetitionsLetOverheadsMeet) {
  const LogP m{2, Time{1}, Time{1}, Time{2}};
  Schedule s{.machine = m,
             .problem = {.kind = Kind::allgather, .items = 2},
             .finish = Time{5},
             .bound = Time{5},
             .sends = {},
             .operands = {},
             .adds = {}};
  for (std::int32_t i = 0; i < 2; ++i) {
    for (std::int32_t k = 0; k < 2; ++k) s.sends.push_back(send_item(k * m.g, Rank{i}, Rank{1 - i}, 2 * i + k));
  }
  normalise(s);
  EXPECT_EQ(broken_rules(s), std::vector<int>{4});
  EXPECT_EQ(plan::allgather_bound(m, 2), Time{6});
  EXPECT_TRUE(plan::allgather(m, 2)->claim().optimal());
}

/// TR 5.2.1: at j = 0, 1, …, T - L rank i sends its current value to i + f_{j+L-1}, T = B(P).
Schedule printed_combining(std::int64_t P, std::int64_t L) {
  const LogP m = LogP::postal(P, Time{L});
  const plan::TreeShape shape = plan::broadcast_shape(m);
  const Time T = plan::broadcast_time(shape, P);
  Schedule s{.machine = m,
             .problem = {.kind = Kind::allreduce},
             .finish = T,
             .bound = T,
             .sends = {},
             .operands = {},
             .adds = {}};
  for (std::int64_t j = 0; j <= T.ticks - L; ++j) {
    const std::int64_t distance = plan::reach(shape, Time{j + L - 1}), held = plan::reach(shape, Time{j});
    for (std::int64_t i = 0; i < P; ++i) {
      s.sends.push_back({Time{j},
                         Rank{static_cast<std::int32_t>(i)},
                         Rank{static_cast<std::int32_t>((i + distance) % P)},
                         {static_cast<std::int32_t>((i - held + 1 + P) % P), static_cast<std::int32_t>(held)}});
    }
  }
  normalise(s);
  return s;
}

TEST(PaperAllToAll, PrintedCombiningIsRightForNiceSizesOnly) {
  int nice = 0, other = 0;
  for (std::int64_t L = 1; L <= 5; ++L) {
    for (std::int64_t P = 2; P <= 40; ++P) {
      const Schedule s = printed_combining(P, L);
      const bool is_nice = plan::reach(plan::broadcast_shape(s.machine), s.finish) == P;
      // The referee folds everything received, as the paper does; else contributions count twice.
      EXPECT_EQ(referee::judge(s) == "", is_nice) << "P=" << P << " L=" << L;
      EXPECT_EQ(plan::allreduce(s.machine)->claim().finish, s.finish);  // every P, in the same time
      ++(is_nice ? nice : other);
    }
  }
  EXPECT_GT(nice, 10);
  EXPECT_GT(other, 10);
}

TEST(PaperAllToAll, NiceSizesNeedNoRounding) {
  for (const auto& [P, L] : {std::pair{8, 1}, std::pair{13, 2}, std::pair{19, 3}}) {
    EXPECT_EQ(printed_combining(P, L).sends, plan::allreduce(LogP::postal(P, Time{L}))->schedule().sends);
  }
}

}  // namespace
}  // namespace chasqui
