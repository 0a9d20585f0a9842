// SPDX-License-Identifier: MIT
#include "chasqui/plan/sum.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <string>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/universal_tree.hpp"
#include "plan/local_equals_schedule.hpp"

namespace chasqui::plan {
namespace {

/// n(t) by definition: the most that any choice of participating ranks and labels gives. Σ over the smallest labels,
/// one rank after another as long as it brings more than it costs.
std::int64_t operands_by_labels(const LogP& machine, std::int64_t t) {
  const TreeShape shape{machine.lambda() + Time{1}, std::max(machine.g, machine.o + Time{1})};
  std::int64_t n = t + 1;
  for (std::int64_t i = 2; i <= machine.P; ++i) {
    n += std::max<std::int64_t>(0, t - broadcast_time(shape, i).ticks - machine.o.ticks);
  }
  return n;
}

/// Exhaustive search, sharing nothing with the plan: the most operands a rank can have folded into the value it sends
/// at S, with at most `ranks` ranks in its subtree. Receptions at R_1 < R_2 < … at least `gap` apart.
class Exhaustive {
 public:
  explicit Exhaustive(const LogP& machine) : machine_(machine) {}

  std::int64_t best(std::int64_t ranks, std::int64_t S) {
    if (S < 0) return -1'000'000;
    const auto key = std::pair{ranks, S};
    if (const auto found = best_.find(key); found != best_.end()) return found->second;
    const std::int64_t value = S + 1 + receptions(ranks - 1, S - machine_.o.ticks - 1, S);
    return best_[key] = value;
  }

 private:
  // What receptions beginning at or before `latest` can add, with `ranks` ranks to spend; each costs o + 1 ticks.
  std::int64_t receptions(std::int64_t ranks, std::int64_t latest, std::int64_t S) {
    if (ranks == 0 || latest < 0) return 0;
    const auto key = std::tuple{ranks, latest};
    if (const auto found = more_.find(key); found != more_.end()) return found->second;
    std::int64_t most = receptions(ranks, latest - 1, S);
    const std::int64_t sent = latest - machine_.L.ticks - machine_.o.ticks;
    if (sent >= 0) {
      const std::int64_t gap = std::max(machine_.g.ticks, machine_.o.ticks + 1);
      for (std::int64_t used = 1; used <= ranks; ++used) {
        most = std::max(most, best(used, sent) - machine_.o.ticks - 1 + receptions(ranks - used, latest - gap, S));
      }
    }
    return more_[key] = most;
  }

  LogP machine_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> best_;
  std::map<std::tuple<std::int64_t, std::int64_t>, std::int64_t> more_;
};

TEST(Sum, CapacityEqualsExhaustiveSearch) {
  for (std::int64_t L = 0; L <= 3; ++L) {
    for (std::int64_t o = 0; o <= 2; ++o) {
      for (std::int64_t g = 1; g <= 4; ++g) {
        if (L + o == 0) continue;
        for (std::int64_t P = 1; P <= 7; ++P) {
          const LogP machine{P, Time{L}, Time{o}, Time{g}};
          Exhaustive search(machine);
          for (std::int64_t t = 0; t <= 24; ++t) {
            ASSERT_EQ(most_operands(machine, Time{t}), search.best(P, t)) << to_string(machine) << " t=" << t;
            ASSERT_EQ(most_operands(machine, Time{t}), operands_by_labels(machine, t)) << to_string(machine);
          }
        }
      }
    }
  }
}

/// Folds strings with the plan's placement, in the order of the plan's additions; every operand is its own letter.
std::vector<std::int64_t> fold(const SumPlan& plan, Rank rank) {
  const LocalForm local = plan.local(rank);
  std::vector<std::int64_t> own;
  for (const auto& range : plan.placement(rank)) {
    for (std::int64_t i = 0; i < range.count; ++i) own.push_back(range.position + i);
  }
  EXPECT_EQ(static_cast<std::int64_t>(own.size()), local.operands);
  std::vector<std::int64_t> value;  // reversed: folding goes from right to left
  const auto take_own = [&] {
    value.push_back(own.back());
    own.pop_back();
  };
  take_own();
  for (const Add& add : local.adds) {
    if (add.from == rank) {
      for (std::int64_t i = 0; i < add.count; ++i) take_own();
    } else {
      const auto received = fold(plan, add.from);
      value.insert(value.end(), received.begin(), received.end());
    }
  }
  EXPECT_TRUE(own.empty());
  return value;
}

void expect_order_is_kept(const SumPlan& plan) {
  const auto value = fold(plan, Rank{0});
  ASSERT_EQ(static_cast<std::int64_t>(value.size()), plan.operands()) << to_string(plan.machine());
  for (std::size_t i = 0; i < value.size(); ++i) {
    ASSERT_EQ(value[value.size() - 1 - i], static_cast<std::int64_t>(i)) << to_string(plan.machine());
  }
}

TEST(Sum, EveryOperandCountsOnceAndOrderIsKept) {
  for (std::int64_t L = 0; L <= 5; ++L) {
    for (std::int64_t o = 0; o <= 2; ++o) {
      for (std::int64_t g = 1; g <= 5; g += 2) {
        if (L + o == 0) continue;
        for (std::int64_t P = 1; P <= 13; P += 3) {
          const LogP machine{P, Time{L}, Time{o}, Time{g}};
          for (std::int64_t t = 0; t <= 30; t += 3) {
            const auto plan = sum(machine, Time{t}, false);
            expect_order_is_kept(*plan);
            expect_local_forms_equal_schedule(*plan);
          }
          for (const std::int64_t n : {1, 2, 3, 10, 37, 100}) {
            const auto plan = sum_operands(machine, n, false);
            ASSERT_EQ(plan->operands(), n);
            expect_order_is_kept(*plan);
            expect_local_forms_equal_schedule(*plan);
            if (plan->claim().finish > Time{0}) {
              ASSERT_LT(most_operands(machine, plan->claim().finish - Time{1}), n);
            }
          }
        }
      }
    }
  }
}

TEST(Sum, RandomMachines) {
  EXPECT_TRUE(rc::check("order kept, local forms agree", [] {
    const LogP machine{*rc::gen::inRange<std::int64_t>(1, 60), Time{*rc::gen::inRange<std::int64_t>(0, 40)},
                       Time{*rc::gen::inRange<std::int64_t>(1, 9)}, Time{*rc::gen::inRange<std::int64_t>(1, 20)}};
    const auto plan = sum_operands(machine, *rc::gen::inRange<std::int64_t>(1, 3000), false);
    expect_order_is_kept(*plan);
    expect_local_forms_equal_schedule(*plan);
    RC_ASSERT(!testing::Test::HasFailure());
  }));
}

TEST(Sum, HugeMachinesAnswerLocally) {
  const LogP machine{1'000'000'000, Time{5'000'000}, Time{2'000}, Time{4'000}};
  const auto plan = sum_operands(machine, 20'000'000'000'000'000, true);
  EXPECT_EQ(plan->participants(), machine.P);
  const LocalForm local = plan->local(Rank{123'456'789});
  EXPECT_GT(local.operands, 0);
  EXPECT_EQ(local.sends.size(), 1u);
}

TEST(Sum, BadInputIsNamed) {
  EXPECT_THROW(sum(LogP::postal(4, Time{1}), Time{-1}), Error);
  EXPECT_THROW(sum_operands(LogP::postal(4, Time{1}), 0), Error);
  EXPECT_THROW(sum({1'000'000'000, Time{1}, Time{1}, Time{1}}, Time{1'000'000'000'000'000}), Error);
}

}  // namespace
}  // namespace chasqui::plan
