// SPDX-License-Identifier: MIT
#include "chasqui/solve/bounds.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/kitem.hpp"
#include "chasqui/plan/stream.hpp"
#include "plan/recurrence.hpp"

namespace chasqui::solve {
namespace {

/// The counting bound by its table, on the postal machine: L + min{ t : Σ_{j<=t} min(f_j, P-1) >= k(P-1) }.
std::int64_t by_table(std::int64_t P, std::int64_t L, std::int64_t k) {
  test::Recurrence f(L);
  std::int64_t sum = 0;
  for (std::int64_t t = 0;; ++t) {
    sum += std::min(f(t), P - 1);
    if (sum >= k * (P - 1)) return L + t;
  }
}

TEST(Bounds, CountingBoundEqualsItsTable) {
  for (std::int64_t P = 2; P <= 40; ++P) {
    for (std::int64_t L = 1; L <= 8; ++L) {
      for (std::int64_t k = 1; k <= 12; ++k) {
        EXPECT_EQ(plan::kitem_bound(LogP::postal(P, Time{L}), k).ticks, by_table(P, L, k)) << P << " " << L << " " << k;
      }
    }
  }
}

TEST(Bounds, PublishedClosedFormIsTooLargeWhereFewItemsAreSent) {
  // B(P-1) + L + (k-1) - k*: printed as a lower bound, yet schedules finish earlier when k <= k*.
  const auto closed_form = [](std::int64_t P, std::int64_t L, std::int64_t k) {
    test::Recurrence f(L);
    std::int64_t sum = 0, n = 0;
    for (; f(n) < P - 1; ++n) sum += f(n);
    return n + L + (k - 1) - sum / (P - 1);
  };
  EXPECT_GT(closed_form(6, 3, 1), 6);
  EXPECT_GT(closed_form(3, 5, 2), 8);
  EXPECT_GT(closed_form(8, 5, 2), 12);
  EXPECT_GT(closed_form(10, 4, 2), 11);
  EXPECT_EQ(closed_form(10, 3, 8), plan::kitem_bound(LogP::postal(10, Time{3}), 8).ticks);
}

TEST(Bounds, LatencyTwoStreamsWhereTheLettersDoNotBalance) {
  // Delay 2 + B(P-1) for P = 20, 21; one more for P = 22, 33..35, 50..56.
  const auto excess = [](std::int64_t P) {
    return plan::stream_bound(LogP::postal(P, Time{2})).ticks - 2 - test::Recurrence(2).height(P - 1);
  };
  for (std::int64_t P = 2; P <= 56; ++P) {
    const bool unbalanced = P == 22 || (P >= 33 && P <= 35) || P >= 50;
    EXPECT_EQ(excess(P), unbalanced ? 1 : 0) << P;
  }
}

TEST(Bounds, OneProcessorNeedsNothing) {
  EXPECT_EQ(lower_bound({.machine = LogP::postal(1, Time{3}), .problem = {}}).time, Time{0});
}

TEST(Instance, RefusesWhatItCannotSearch) {
  const auto complaint = [](const Instance& instance) -> std::string {
    try {
      validate(instance);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const LogP machine = LogP::postal(4, Time{2});
  EXPECT_EQ(complaint({.machine = machine, .problem = {}}), "");
  EXPECT_NE(complaint({.machine = machine, .problem = {.kind = Kind::sum}}).find("no exact search for sum"),
            std::string::npos);
  EXPECT_NE(complaint({.machine = LogP::postal(100'000, Time{2}), .problem = {}}).find("P=100000"), std::string::npos);
  EXPECT_NE(complaint({.machine = machine, .problem = {.kind = Kind::stream}}).find("period=0"), std::string::npos);
  EXPECT_EQ(complaint({.machine = machine, .problem = {.kind = Kind::allreduce, .commutative = false}}), "");
  EXPECT_NE(complaint({.machine = machine, .problem = {.commutative = false}}).find("--non-commutative"),
            std::string::npos);
  EXPECT_NE(complaint({.machine = machine, .problem = {}, .two_values = true}).find("two values"), std::string::npos);
  EXPECT_NE(complaint({.machine = machine, .problem = {.kind = Kind::reduce, .items = 2}}).find("reduce of 2 items"),
            std::string::npos);
  EXPECT_NE(complaint({.machine = machine, .problem = {.items = 1'000'000}}).find("items=1000000"), std::string::npos);
}

}  // namespace
}  // namespace chasqui::solve
