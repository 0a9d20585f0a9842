// SPDX-License-Identifier: MIT
// The buffered rules: arrivals wait, the message needed first is received first.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "chasqui/schedule/json.hpp"
#include "chasqui/verify/verify.hpp"
#include "verify/any.hpp"
#include "verify/legal_examples.hpp"

namespace chasqui {
namespace {

const VerifyOptions kBuffered{.receptions = Receptions::buffered};

TEST(Buffered, WhatIsLegalWithoutBuffersIsLegalWithThem) {
  for (const LogP& machine : {LogP::postal(13, Time{3}), LogP{8, Time{6}, Time{2}, Time{4}}}) {
    for (const Schedule& s : {examples::greedy_broadcast(machine, Rank{0}), examples::doubling_allreduce(machine),
                              examples::doubling_scan(machine, false), examples::star_sum(machine)}) {
      const Report report = verify(s, kBuffered);
      EXPECT_TRUE(report.legal()) << to_string(report);
      EXPECT_EQ(report.rules, "buffered");
      EXPECT_EQ(report.finish, s.finish);
    }
  }
}

/// Items 0 and 1 arrive at rank 1 at time 5; it must send item 0, which is listed later, at once.
Schedule two_arrivals() {
  Schedule s;
  s.machine = LogP::postal(4, Time{2});
  s.problem.items = 2;
  s.sends = {send_item(Time{0}, Rank{0}, Rank{2}, 0), send_item(Time{3}, Rank{0}, Rank{1}, 1),
             send_item(Time{3}, Rank{2}, Rank{1}, 0), send_item(Time{4}, Rank{0}, Rank{2}, 1),
             send_item(Time{5}, Rank{0}, Rank{3}, 1), send_item(Time{5}, Rank{1}, Rank{3}, 0)};
  s.finish = Time{8};
  return s;
}

TEST(Buffered, TheMessageNeededFirstIsReceivedFirst) {
  EXPECT_TRUE(verify(two_arrivals(), kBuffered).legal()) << to_string(verify(two_arrivals(), kBuffered));
  EXPECT_FALSE(verify(two_arrivals()).legal());
}

TEST(Buffered, TheBufferHasASize) {
  Schedule s = two_arrivals();
  EXPECT_TRUE(verify(s, {.receptions = Receptions::buffered, .buffer = 1}).legal());
  const Report report = verify(s, {.receptions = Receptions::buffered, .buffer = 0});
  ASSERT_EQ(report.violations.size(), 2U);
  EXPECT_EQ(report.violations[0].rule, 5);
  EXPECT_EQ(report.violations[0].rank, Rank{1});
  EXPECT_EQ(report.violations[1].rank, Rank{3});
}

TEST(Buffered, ReceptionsMakeWayForSends) {
  // The two overheads of rank 1 would overlap; with a buffer the reception waits for the end of the send.
  Schedule s;
  s.machine = {2, Time{1}, Time{2}, Time{4}};
  s.problem = {.kind = Kind::allgather};
  s.sends = {send_item(Time{0}, Rank{0}, Rank{1}, 0), send_item(Time{2}, Rank{1}, Rank{0}, 1)};
  s.finish = Time{7};
  EXPECT_FALSE(verify(s).legal());
  const Report report = verify(s, kBuffered);
  EXPECT_TRUE(report.legal()) << to_string(report);
}

/// Is there any order in which `receiver` can take its messages so that it has every item when it sends it?
bool some_order_works(const Schedule& s, Rank receiver) {
  std::vector<Send> in, out;
  for (const Send& send : s.sends) {
    if (send.to == receiver) in.push_back(send);
    if (send.from == receiver) out.push_back(send);
  }
  std::vector<std::size_t> order(in.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  do {
    std::vector<std::int64_t> received(in.size());
    std::int64_t free = 0;
    for (const std::size_t i : order) {
      received[i] = std::max(free, available(s.machine, in[i]).ticks);
      free = received[i] + 1;
    }
    const bool works = std::all_of(out.begin(), out.end(), [&](const Send& send) {
      for (std::size_t i = 0; i < in.size(); ++i) {
        if (in[i].part == send.part && received[i] <= send.begin.ticks) return true;
      }
      return false;
    });
    if (works) return true;
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

RC_GTEST_PROP(Buffered, NoOtherOrderOfReceptionsDoesBetter, ()) {
  Schedule s;
  s.machine = LogP::postal(8, Time{any(1, 4)});
  s.problem.items = 6;
  const int messages = any(1, 7);
  for (int i = 0; i < messages; ++i) s.sends.push_back(send_item(Time{any(0, 5)}, Rank{0}, Rank{1}, i));
  for (int n = any(1, 6); n > 0; --n)
    s.sends.push_back(send_item(Time{any(1, 14)}, Rank{1}, Rank{any(2, 8)}, any(0, messages)));
  s.problem.items = messages;
  VerifyOptions possession = kBuffered;
  possession.rules = 1U << 1;
  RC_ASSERT(verify(s, possession).legal() == some_order_works(s, Rank{1}));
}

}  // namespace
}  // namespace chasqui
