// SPDX-License-Identifier: MIT
// Published numbers on trees and summation, and the places where the papers are wrong (docs/errata.md).
// "TR" is Karp, Sahay, Santos; "SPAA" their paper with Schauser; "SC" Shou and Chen, 1995.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "chasqui/plan/broadcast.hpp"
#include "chasqui/plan/sum.hpp"
#include "chasqui/plan/universal_tree.hpp"

namespace chasqui::plan {
namespace {

void for_each_grid_shape(const std::function<void(const LogP&)>& visit) {
  for (std::int64_t L = 0; L <= 8; ++L) {
    for (std::int64_t o = 0; o <= 3; ++o) {
      for (std::int64_t g = std::max<std::int64_t>(o, 1); g <= 9; ++g) {
        for (std::int64_t P = 1; P <= 300; P += 7) {
          if (L + o > 0) visit({P, Time{L}, Time{o}, Time{g}});
        }
      }
    }
  }
}

/// The root above 1 of x^d = x^(d-1) + 1, by bisection.
double growth(std::int64_t d) {
  double low = 1.0;
  double high = 2.0;
  for (int i = 0; i < 200; ++i) {
    const double x = (low + high) / 2;
    (std::pow(x, d) - std::pow(x, d - 1) < 1 ? low : high) = x;
  }
  return high;
}

TEST(PaperBroadcast, Figure1) {
  const LogP machine{8, Time{6}, Time{2}, Time{4}};
  const auto plan = broadcast(machine);
  std::vector<std::int64_t> labels = {0};
  for (const Send& send : plan->schedule().sends) labels.push_back(available(machine, send).ticks);
  EXPECT_EQ(labels, (std::vector<std::int64_t>{0, 10, 14, 18, 20, 22, 24, 24}));
  EXPECT_EQ(plan->claim().finish, Time{24});
}

TEST(PaperBroadcast, Theorem33OfTheReportHolds) {
  for_each_grid_shape([](const LogP& machine) {
    const double d = static_cast<double>((machine.lambda().ticks + machine.g.ticks - 1) / machine.g.ticks);
    const double log_P = std::log(static_cast<double>(machine.P)) / std::log(growth(static_cast<std::int64_t>(d)));
    const double bound = static_cast<double>(machine.lambda().ticks) + static_cast<double>(machine.g.ticks) * log_P;
    EXPECT_LE(static_cast<double>(broadcast(machine)->claim().finish.ticks), bound + 1e-9) << to_string(machine);
  });
}

TEST(PaperBroadcast, Section33OfTheReportFailsByOneStepBetweenNiceSizes) {
  // TR 3.3: B(P) <= L - 1 + log_γ P on the postal machine. True with L in place of L - 1.
  bool fails = false;
  for (std::int64_t L = 1; L <= 10; ++L) {
    for (std::int64_t P = 1; P <= 300; ++P) {
      const double log_P = std::log(static_cast<double>(P)) / std::log(growth(L));
      const auto finish = static_cast<double>(broadcast(LogP::postal(P, Time{L}))->claim().finish.ticks);
      fails = fails || finish > static_cast<double>(L - 1) + log_P + 1e-9;
      EXPECT_LE(finish, static_cast<double>(L) + log_P + 1e-9) << "P=" << P << " L=" << L;
    }
  }
  EXPECT_TRUE(fails);
}

TEST(PaperBroadcast, Theorem4OfShouAndChenHolds) {
  for_each_grid_shape([](const LogP& machine) {
    const auto finish = static_cast<double>(broadcast(machine)->claim().finish.ticks);
    const auto P = static_cast<double>(machine.P);
    EXPECT_GE(finish + 1e-9, static_cast<double>(std::min(machine.g, machine.lambda()).ticks) * std::log2(P))
        << to_string(machine);
    EXPECT_LT(finish, static_cast<double>(std::max(machine.g, machine.lambda()).ticks) * std::log2(4 * P))
        << to_string(machine);
  });
}

TEST(PaperBroadcast, RecurrenceOfShouAndChenEqualsTheClosedForm) {
  for (std::int64_t lambda = 1; lambda <= 12; ++lambda) {
    for (std::int64_t g = 1; g <= 15; ++g) {
      std::vector<std::int64_t> f;
      for (std::int64_t n = 0; n <= 60; ++n) {
        const auto at = [&](std::int64_t i) { return f[static_cast<std::size_t>(i)]; };
        if (n < lambda) {
          f.push_back(1);
        } else if (n < g) {
          f.push_back(1 + n / lambda);
        } else {
          f.push_back(at(n - g) + at(n - lambda));
        }
        ASSERT_EQ(reach({Time{lambda}, Time{g}}, Time{n}), f.back()) << "lambda=" << lambda << " g=" << g << " n=" << n;
      }
    }
  }
}

TEST(PaperBroadcast, AGapBelowTheOverheadIsTheOverhead) {
  // The papers' L + 2o + g = 6 would have two send overheads overlap.
  EXPECT_EQ(broadcast({3, Time{1}, Time{2}, Time{1}})->claim().finish, Time{7});
}

TEST(PaperSum, Figure6OfSpaa) {
  const LogP machine{8, Time{5}, Time{2}, Time{4}};
  EXPECT_EQ(sum(machine, Time{28})->operands(), 79);
}

TEST(PaperSum, TheConstantIsOTimesPMinusOne) {
  // TR Lemma 4.2 and SPAA print Σ S_i - oP + 1; counting (o+1)k_i over the P-1 messages gives - o(P-1) + 1.
  const LogP machine{8, Time{5}, Time{2}, Time{4}};
  const auto plan = sum(machine, Time{28});
  std::int64_t send_times = 28;
  for (const Send& send : plan->schedule().sends) send_times += send.begin.ticks;
  EXPECT_EQ(plan->operands(), send_times - 2 * 7 + 1);
  EXPECT_NE(plan->operands(), send_times - 2 * 8 + 1);
}

/// SC's tree: the first P nodes in preorder of the full tree. Returns Σ T_i - oP + o + 1, its Theorem 5.
std::int64_t preorder_operands(const TreeShape& shape, std::int64_t P, std::int64_t o) {
  const Time T = broadcast_time(shape, P);
  std::int64_t left = P;
  std::int64_t times = 0;
  const std::function<void(Time)> visit = [&](Time remaining) {
    if (left == 0 || remaining < Time{0}) return;
    --left;
    times += remaining.ticks;
    for (Time child = remaining - shape.lambda; child >= Time{0}; child -= shape.gap) visit(child);
  };
  visit(T);
  return times - o * P + o + 1;
}

TEST(PaperSum, Figure2OfShouAndChenIsNotOptimal) {
  // S*(7;5,2,4): 47 operands in 24 cycles where 51 are possible; its 82 operands are 47 + 7·5, and 84 fit.
  const LogP machine{7, Time{5}, Time{2}, Time{4}};
  const TreeShape shape{Time{10}, Time{4}};
  EXPECT_EQ(broadcast_time(shape, 7), Time{24});
  EXPECT_EQ(preorder_operands(shape, 7, 2), 47);
  EXPECT_EQ(sum(machine, Time{24})->operands(), 51);
  EXPECT_EQ(preorder_operands(shape, 7, 2) + 7 * 5, 82);
  EXPECT_EQ(sum(machine, Time{29})->operands(), 84);
  EXPECT_EQ(sum_operands(machine, 82)->claim().finish, Time{29});
}

TEST(PaperSum, ChildCountOfShouAndChenIsThatOfTheFullTree) {
  // SC Algorithm 2, step 4: K = ⌊(T - (L+2o+1))/g⌋ + 1. Negative for leaves, too many in pruned trees.
  const TreeShape shape{Time{10}, Time{4}};
  const UniversalTree tree(shape, 7);
  bool negative = false;
  bool too_many = false;
  for (std::int64_t i = 0; i < tree.size(); ++i) {
    const auto node = tree.node(i);
    const double left = static_cast<double>((tree.finish() - node.label - shape.lambda).ticks);
    const double printed = std::floor(left / static_cast<double>(shape.gap.ticks)) + 1;
    negative = negative || printed < 0;
    too_many = too_many || printed > static_cast<double>(node.children);
  }
  EXPECT_TRUE(negative);
  EXPECT_TRUE(too_many);
}

}  // namespace
}  // namespace chasqui::plan
