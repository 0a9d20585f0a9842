// SPDX-License-Identifier: MIT
// A stream is judged modulo its period. Here the pattern is written out for many periods and judged as a
// broadcast.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "chasqui/schedule/json.hpp"
#include "chasqui/verify/verify.hpp"
#include "verify/any.hpp"
#include "verify/legal_examples.hpp"

namespace chasqui {
namespace {

/// Rank r passes every item on to rank r+1 as soon as it has it; `items` of them are the period.
Schedule chain(const LogP& machine, std::int32_t items) {
  Schedule s;
  s.machine = machine;
  s.problem.kind = Kind::stream;
  s.period = items * machine.gap();
  for (std::int32_t r = 0; r + 1 < machine.P; ++r) {
    for (std::int32_t j = 0; j < items; ++j) {
      s.sends.push_back(send_item(j * machine.gap() + r * machine.lambda(), Rank{r}, Rank{r + 1}, j));
    }
  }
  s.delay = (machine.P - 1) * machine.lambda();
  return s;
}

/// The first n items of a stream as a broadcast.
Schedule written_out(const Schedule& stream, std::int32_t n) {
  Schedule s = stream;
  s.problem = {Kind::broadcast, stream.problem.root, n};
  s.sends.clear();
  const std::int64_t items = stream.period.ticks / stream.machine.gap().ticks;
  for (const Send& send : stream.sends) {
    const std::int64_t first = ((send.part.lo % items) + items) % items;
    for (std::int64_t item = first; item < n; item += items) {
      const std::int64_t periods = (item - send.part.lo) / items;
      s.sends.push_back(
          send_item(send.begin + periods * stream.period, send.from, send.to, static_cast<std::int32_t>(item)));
    }
  }
  s.period = s.delay = Time{0};
  s.finish = actual_finish(s);
  return s;
}

bool root_sends_an_item_before_it_is_there(const Schedule& s) {
  return std::any_of(s.sends.begin(), s.sends.end(), [&](const Send& send) {
    return send.from == s.problem.root && send.begin < send.part.lo * s.machine.gap();
  });
}

TEST(Stream, Chains) {
  for (const LogP& machine : {LogP::postal(5, Time{1}), LogP::postal(4, Time{3}), LogP{4, Time{5}, Time{2}, Time{4}}}) {
    for (const std::int32_t items : {1, 2, 5}) {
      EXPECT_TRUE(verify(chain(machine, items)).legal()) << to_string(verify(chain(machine, items)));
    }
  }
}

TEST(Stream, AnotherRepresentativeIsTheSameStream) {
  Schedule s = examples::small_stream();
  for (Send& send : s.sends) {
    send.begin += 3 * s.period;
    send.part.lo += 6;
  }
  EXPECT_TRUE(verify(s).legal()) << to_string(verify(s));
  s.sends[1].begin += s.period;  // without its item
  EXPECT_FALSE(verify(s).legal());
}

TEST(Stream, ThePeriodIsAMultipleOfTheStep) {
  Schedule s = chain({4, Time{5}, Time{2}, Time{4}}, 2);
  s.period = Time{6};
  const Report report = verify(s);
  ASSERT_EQ(report.violations.size(), 1U);
  EXPECT_EQ(to_string(report.violations[0]), "rule 6 (existence): the period 6 is no positive multiple of the step 4");
}

TEST(Stream, BuffersAreRefused) {
  EXPECT_ANY_THROW(verify(examples::small_stream(), {.receptions = Receptions::buffered}));
}

RC_GTEST_PROP(Stream, IsLegalWhenItsBeginningIs, ()) {
  const int o = any(0, 3);
  const LogP machine{any(2, 6), Time{any(1, 5)}, Time{o}, Time{std::max(2 * o, 1) + any(0, 2)}};
  Schedule s = chain(machine, any(1, 5));
  for (int n = any(0, 4); n > 0; --n) {
    Send& send = s.sends[static_cast<std::size_t>(any(0, static_cast<int>(s.sends.size())))];
    switch (any(0, 4)) {
      case 0: send.begin += Time{any(-3, 9)}; break;
      case 1: send.part.lo += any(-3, 4); break;
      case 2: send.from = Rank{any(0, static_cast<int>(machine.P))}; break;
      default: send.to = Rank{any(0, static_cast<int>(machine.P))}; break;
    }
  }
  s.delay = verify(s).finish;
  RC_PRE(!root_sends_an_item_before_it_is_there(s));
  const Report stream = verify(s);
  const Report beginning = verify(written_out(s, 60));
  if (rules_in(stream) != rules_in(beginning)) RC_LOG() << to_json(s) << to_string(stream) << to_string(beginning);
  RC_ASSERT(rules_in(stream) == rules_in(beginning));
}

}  // namespace
}  // namespace chasqui
