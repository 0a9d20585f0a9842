// SPDX-License-Identifier: MIT
// GOAL text read back by a small LogGOPS simulator that shares nothing with ours: one CPU per rank for overheads and
// calculations, one network port per rank and direction with a gap, messages under way for L. G = O = 0, S = ∞.
#include "chasqui/simulate/goal.hpp"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "chasqui/plan/allgather.hpp"
#include "chasqui/plan/allreduce.hpp"
#include "chasqui/plan/broadcast.hpp"
#include "chasqui/plan/reduce.hpp"
#include "chasqui/plan/scan.hpp"
#include "chasqui/plan/sum.hpp"
#include "chasqui/simulate/simulate.hpp"

namespace chasqui::simulate {
namespace {

struct Operation {
  char kind = 0;  // s, r, c
  std::int64_t peer = 0;
  std::int64_t tag = 0;
  std::int64_t ticks = 0;
  std::vector<std::size_t> requires_;
  std::int64_t end = -1;  // when it completed
};

struct Goal {
  std::vector<std::vector<Operation>> ranks;
};

Goal parse(const std::string& text) {
  Goal goal;
  std::istringstream lines(text);
  std::string line;
  std::size_t rank = 0;
  std::map<std::string, std::size_t> labels;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first == "num_ranks") {
      std::size_t count = 0;
      words >> count;
      goal.ranks.resize(count);
    } else if (first == "rank") {
      words >> rank;
      labels.clear();
    } else if (first.ends_with(':')) {
      first.pop_back();
      Operation operation;
      std::string kind;
      std::string size;
      std::string direction;
      std::string tag;
      words >> kind;
      operation.kind = kind[0];
      if (kind == "calc") {
        words >> operation.ticks;
      } else {
        words >> size >> direction >> operation.peer >> tag >> operation.tag;
      }
      labels[first] = goal.ranks[rank].size();
      goal.ranks[rank].push_back(operation);
    } else if (!first.empty() && first != "}") {
      std::string word;
      std::string other;
      words >> word >> other;
      EXPECT_EQ(word, "requires") << line;
      goal.ranks[rank][labels.at(first)].requires_.push_back(labels.at(other));
    }
  }
  return goal;
}

/// Tick by tick. Of operations that could begin at once, the first in the file does.
std::int64_t finish(Goal goal, const LogP& machine) {
  const std::int64_t o = machine.o.ticks;
  const std::int64_t g = machine.gap().ticks;
  const std::int64_t L = machine.L.ticks;
  struct Port {
    std::int64_t cpu = 0;
    std::int64_t out = 0;
    std::int64_t in = 0;
  };
  std::vector<Port> ports(goal.ranks.size());
  std::map<std::int64_t, std::int64_t> arrival;  // by tag
  std::size_t left = 0;
  for (const auto& operations : goal.ranks) left += operations.size();
  std::int64_t last = 0;
  for (std::int64_t now = 0; left > 0 && now < 100'000; ++now) {
    for (std::size_t r = 0; r < goal.ranks.size(); ++r) {
      for (bool again = true; again;) {
        again = false;
        for (Operation& operation : goal.ranks[r]) {
          if (operation.end >= 0) continue;
          bool ready = true;
          for (const std::size_t i : operation.requires_) {
            ready = ready && goal.ranks[r][i].end >= 0 && goal.ranks[r][i].end <= now;
          }
          Port& port = ports[r];
          const bool takes_time = operation.kind == 'c' || o > 0;
          if (!ready || (takes_time && port.cpu > now)) continue;
          if (operation.kind == 's' && port.out > now) continue;
          if (operation.kind == 'r') {
            const auto found = arrival.find(operation.tag);
            if (found == arrival.end() || found->second > now || port.in > now) continue;
          }
          operation.end = now + (operation.kind == 'c' ? operation.ticks : o);
          if (takes_time) port.cpu = operation.end;
          if (operation.kind == 's') port.out = now + g, arrival[operation.tag] = now + o + L;
          if (operation.kind == 'r') port.in = now + g;
          if (operation.kind != 's') last = std::max(last, operation.end);
          --left;
          again = true;
        }
      }
    }
  }
  EXPECT_EQ(left, 0u);
  return last;
}

void expect_same_finish(const plan::Plan& plan) {
  const Schedule schedule = plan.schedule();
  const Trace trace =
      simulate(schedule, exactly_L(plan.machine()), {.mode = Mode::event_driven, .order = {}, .stragglers = {}});
  EXPECT_EQ(finish(parse(to_goal(schedule)), plan.machine()), trace.finish.ticks)
      << to_string(plan.problem().kind) << " " << to_string(plan.machine());
}

TEST(Goal, AnotherSimulatorFinishesAtTheSameTime) {
  for (const LogP& machine :
       {LogP::postal(13, Time{3}), LogP{8, Time{6}, Time{2}, Time{4}}, LogP{11, Time{4}, Time{1}, Time{3}}}) {
    expect_same_finish(*plan::broadcast(machine));
    expect_same_finish(*plan::reduce(machine, Rank{3}));
    expect_same_finish(*plan::sum_operands(machine, 60));
    expect_same_finish(*plan::scan(machine, false));
    expect_same_finish(*plan::allreduce(machine, true));
  }
  expect_same_finish(*plan::allgather(LogP::postal(9, Time{3}), 2));
}

TEST(Goal, LooksAsTheFormatSays) {
  const std::string text = to_goal(plan::broadcast(LogP::postal(2, Time{1}))->schedule());
  EXPECT_EQ(text,
            "num_ranks 2\n"
            "\nrank 0 {\n"
            "s0: send 8b to 1 tag 0\n"
            "}\n"
            "\nrank 1 {\n"
            "r0: recv 8b from 0 tag 0\n"
            "}\n");
}

}  // namespace
}  // namespace chasqui::simulate
