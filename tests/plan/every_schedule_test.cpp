// SPDX-License-Identifier: MIT
// The optima of trees.md against every schedule there is, on small machines: all that could be one are made here without any plan, and the
// verifier says which of them are legal.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "chasqui/plan/broadcast.hpp"
#include "chasqui/plan/reduce.hpp"
#include "chasqui/plan/scatter.hpp"
#include "chasqui/verify/verify.hpp"

namespace chasqui::plan {
namespace {

std::vector<LogP> small_machines(std::int64_t P) {
  std::vector<LogP> machines;
  for (std::int64_t L = 0; L <= 2; ++L) {
    for (std::int64_t o = 0; o <= 2; ++o) {
      for (std::int64_t g = 1; g <= 3; ++g) {
        if (L + o > 0) machines.push_back({P, Time{L}, Time{o}, Time{g}});
      }
    }
  }
  return machines;
}

std::vector<std::int64_t> sorted_availabilities(const Schedule& schedule) {
  std::vector<std::int64_t> times{0};  // the root's
  for (const Send& send : schedule.sends) times.push_back(available(schedule.machine, send).ticks);
  std::sort(times.begin(), times.end());
  return times;
}

/// All broadcasts from rank 0 that are over by `end`, up to the names of ranks: each rank has one parent, and ranks are numbered as their
/// messages begin. Those that are not legal come, too.
void every_broadcast(const LogP& machine, Time end, const std::function<void(const Schedule&)>& visit) {
  Schedule schedule;
  schedule.machine = machine;
  schedule.problem = {.kind = Kind::broadcast};
  const std::function<void(std::int32_t, Time)> add = [&](std::int32_t rank, Time earliest) {
    if (rank == machine.P) {
      schedule.finish = actual_finish(schedule);
      visit(schedule);
      return;
    }
    for (Time begin = earliest; begin + machine.lambda() <= end; begin = begin + Time{1}) {
      for (std::int32_t parent = 0; parent < rank; ++parent) {
        schedule.sends.push_back(send_item(begin, Rank{parent}, Rank{rank}, 0));
        add(rank + 1, begin);
        schedule.sends.pop_back();
      }
    }
  };
  add(1, Time{0});
}

/// Theorem 2 and Corollary 3: of no broadcast is the j-th rank earlier than in ours, for any j. With it the sum of the labels is least,
/// and that of every function of them that does not decrease.
TEST(EverySchedule, TheJthRankOfNoBroadcastIsEarlierThanOurs) {
  std::int64_t legal = 0;
  for (std::int64_t P = 2; P <= 5; ++P) {
    for (const LogP& machine : small_machines(P)) {
      const auto plan = broadcast(machine);
      const auto ours = sorted_availabilities(plan->schedule());
      std::vector<std::int64_t> earliest(ours.size(), std::numeric_limits<std::int64_t>::max());
      std::int64_t least_sum = std::numeric_limits<std::int64_t>::max();
      every_broadcast(machine, plan->claim().finish + Time{1}, [&](const Schedule& schedule) {
        if (!verify(schedule).legal()) return;
        ++legal;
        const auto times = sorted_availabilities(schedule);
        std::int64_t sum = 0;
        for (std::size_t j = 0; j < times.size(); ++j) {
          earliest[j] = std::min(earliest[j], times[j]);
          sum += times[j];
        }
        least_sum = std::min(least_sum, sum);
      });
      std::int64_t our_sum = 0;
      for (const std::int64_t time : ours) our_sum += time;
      ASSERT_EQ(ours, earliest) << to_string(machine);
      ASSERT_EQ(our_sum, least_sum) << to_string(machine);
    }
  }
  EXPECT_GT(legal, 1'000) << "hardly any broadcast was found";
}

/// An item's way from one rank to another over ranks that it has not been at, and when each of its messages begins.
using Way = std::vector<Send>;

void every_way(const LogP& machine, std::int32_t item, Rank at, Rank to, Time ready, Time end, Way& way,
               std::vector<Way>& found) {
  for (std::int32_t next = 0; next < machine.P; ++next) {
    const auto been = [&](const Send& send) { return send.from.index == next; };
    if (next == at.index || std::any_of(way.begin(), way.end(), been)) continue;
    for (Time begin = ready; begin + machine.lambda() <= end; begin = begin + Time{1}) {
      way.push_back(send_item(begin, at, Rank{next}, item));
      if (next == to.index) found.push_back(way);
      else every_way(machine, item, Rank{next}, to, begin + machine.lambda(), end, way, found);
      way.pop_back();
    }
  }
}

/// Is there a legal scatter from, or gather to, rank 0 that is over by `end`? Items may go over other ranks.
bool some_exchange(const LogP& machine, Kind kind, Time end) {
  std::vector<std::vector<Way>> ways(static_cast<std::size_t>(machine.P));
  for (std::int32_t item = 1; item < machine.P; ++item) {
    Way way;
    const Rank root{0}, other{item};
    every_way(machine, item, kind == Kind::scatter ? root : other, kind == Kind::scatter ? other : root, Time{0}, end,
              way, ways[static_cast<std::size_t>(item)]);
  }
  Schedule schedule;
  schedule.machine = machine;
  schedule.problem = {.kind = kind};
  // No further message mends what two of them break: whose gaps or overheads meet, rules 2 to 4.
  const auto meet = [&] { return !verify(schedule, {.rules = 0b1'1100}).legal(); };
  const std::function<bool(std::size_t)> choose = [&](std::size_t item) {
    if (item == ways.size()) {
      Schedule whole = schedule;
      normalise(whole);
      whole.finish = actual_finish(whole);
      return verify(whole).legal();
    }
    if (meet()) return false;
    for (const Way& way : ways[item]) {
      schedule.sends.insert(schedule.sends.end(), way.begin(), way.end());
      const bool found = choose(item + 1);
      schedule.sends.resize(schedule.sends.size() - way.size());
      if (found) return true;
    }
    return false;
  };
  return choose(1);
}

/// Theorem 8.
TEST(EverySchedule, NoScatterOrGatherIsFasterThanOneMessageAfterAnother) {
  for (std::int64_t P = 2; P <= 4; ++P) {
    for (const LogP& machine : small_machines(P)) {
      const Time finish = machine.lambda() + (P - 2) * machine.gap();
      for (const Kind kind : {Kind::scatter, Kind::gather}) {
        ASSERT_TRUE(some_exchange(machine, kind, finish)) << to_string(kind) << " " << to_string(machine);
        ASSERT_FALSE(some_exchange(machine, kind, finish - Time{1})) << to_string(kind) << " " << to_string(machine);
      }
    }
  }
}

/// Theorems 7 and 8 for what is too large to try out: legal, over when the formula says, and claimed to be optimal.
TEST(EverySchedule, PlansFinishWhenTheFormulasSay) {
  for (std::int64_t P = 1; P <= 40; P = P < 6 ? P + 1 : P + 7) {
    for (std::int64_t L = 0; L <= 9; L += 3) {
      for (std::int64_t o = 0; o <= 4; o += 2) {
        for (std::int64_t g = 1; g <= 7; g += 3) {
          if (L + o == 0) continue;
          const LogP machine{P, Time{L}, Time{o}, Time{g}};
          const Rank root{static_cast<std::int32_t>(P / 2)};
          const Time apart = P == 1 ? Time{0} : machine.lambda() + (P - 2) * machine.gap();
          const Time tree = broadcast(machine)->claim().finish;
          for (const auto& [plan, finish] :
               {std::pair{scatter(machine, root), apart}, std::pair{gather(machine, root), apart},
                std::pair{reduce(machine, root, true), tree}}) {
            const std::string what = std::string(to_string(plan->problem().kind)) + " " + to_string(machine);
            const Report report = verify(plan->schedule());
            ASSERT_TRUE(report.legal()) << what << "\n" << to_string(report);
            ASSERT_EQ(report.finish, finish) << what;
            ASSERT_EQ(plan->claim().finish, finish) << what;
            ASSERT_TRUE(plan->claim().optimal()) << what;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace chasqui::plan
