// SPDX-License-Identifier: MIT
// GOAL text played by the rules of LogGOPSim, by code that shares nothing with our simulator: one CPU for overheads
// and calculations per rank, or several with a port each, one network port per CPU and direction with a gap, messages under way for L. G = O = 0, S = ∞.
// A message takes the receiver's CPU as soon as it is there and the CPU is free, whether or not its reception may begin. An
// operation is done for those that require it once it has begun, and they find the CPU busy until it ends.
#include "chasqui/simulate/goal.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <queue>
#include <set>
#include <sstream>
#include <tuple>

#include "chasqui/plan/broadcast.hpp"
#include "chasqui/plan/clusters.hpp"
#include "chasqui/plan/collectives.hpp"

namespace chasqui::simulate {
namespace {

struct Operation {
  char kind = 0;  // s, r, c
  std::int64_t peer = 0;
  std::int64_t tag = 0;
  std::int64_t ticks = 0;
  std::size_t cpu = 0;
  std::vector<std::size_t> requires_;
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
  std::vector<std::tuple<std::size_t, std::size_t, std::string>> waiting;
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
      std::string place;
      if (words >> place) {
        EXPECT_EQ(place, "cpu") << line;
        words >> operation.cpu;
      }
      if (kind != "calc" && words >> place) {
        std::size_t nic = 0;
        words >> nic;
        EXPECT_TRUE(place == "nic" && nic == operation.cpu) << line;
      }
      labels[first] = goal.ranks[rank].size();
      goal.ranks[rank].push_back(operation);
    } else if (!first.empty() && first != "}") {
      std::string word;
      std::string other;
      words >> word >> other;
      EXPECT_EQ(word, "requires") << line;
      waiting.push_back({rank, labels.at(first), other});  // what is required may stand further down
    }
    if (first == "}") {
      for (const auto& [where, operation, other] : waiting)
        goal.ranks[where][operation].requires_.push_back(labels.at(other));
      waiting.clear();
    }
  }
  return goal;
}

class Player {
 public:
  Player(const Goal& goal, const LogP& machine) : goal_(goal), machine_(machine), hosts_(goal.ranks.size()) {}

  std::int64_t finish() {
    for (std::size_t r = 0; r < hosts_.size(); ++r) {
      const auto& operations = goal_.ranks[r];
      Host& host = hosts_[r];
      host.missing.resize(operations.size());
      host.dependants.resize(operations.size());
      for (std::size_t i = 0; i < operations.size(); ++i) {
        host.missing[i] = operations[i].requires_.size();
        for (const std::size_t before : operations[i].requires_) host.dependants[before].push_back(i);
        if (operations[i].kind == 'r') host.receiver[static_cast<std::size_t>(operations[i].tag)] = operations[i].cpu;
      }
      for (std::size_t i = 0; i < operations.size(); ++i) {
        if (host.missing[i] == 0) queue_.push({0, ++pushed_, r, i, false});
      }
    }
    while (!queue_.empty()) {
      const Event event = queue_.top();
      queue_.pop();
      now_ = event.time;
      event.message ? arrive(event) : begin(event);
    }
    std::int64_t last = 0;
    for (const Host& host : hosts_) {
      for (const Processor& processor : host.processors) last = std::max(last, processor.cpu);
      for (const std::size_t missing : host.missing) EXPECT_EQ(missing, 0u) << "an operation never begins";
      EXPECT_TRUE(host.posted.empty() && host.unexpected.empty())
          << "a message has no reception, or the other way round";
    }
    return last;
  }

 private:
  struct Event {
    std::int64_t time;
    std::int64_t number;  // of those at one time the first pushed comes first
    std::size_t rank;
    std::size_t operation;  // of a message: its tag
    bool message;
    bool operator<(const Event& other) const { return time != other.time ? time > other.time : number > other.number; }
  };
  struct Processor {
    std::int64_t cpu = 0, out = 0, in = 0;
  };
  struct Host {
    std::vector<Processor> processors = std::vector<Processor>(16);
    std::map<std::size_t, std::size_t> receiver;  // tag → processor
    std::vector<std::size_t> missing;
    std::vector<std::vector<std::size_t>> dependants;
    std::map<std::size_t, std::size_t> posted;  // tag → reception
    std::set<std::size_t> unexpected;
  };

  void begin(Event event) {
    Host& host = hosts_[event.rank];
    const Operation& operation = goal_.ranks[event.rank][event.operation];
    Processor& processor = host.processors.at(operation.cpu);
    if (operation.kind == 'r') {
      const auto tag = static_cast<std::size_t>(operation.tag);
      if (host.unexpected.erase(tag) > 0) {
        done(event.rank, event.operation);
      } else {
        host.posted[tag] = event.operation;
      }
      return;
    }
    const std::int64_t may = operation.kind == 's' ? std::max(processor.cpu, processor.out) : processor.cpu;
    if (may > event.time) {
      event.time = may;
      return queue_.push(event);
    }
    processor.cpu = event.time + (operation.kind == 'c' ? operation.ticks : machine_.o.ticks);
    if (operation.kind == 's') {
      processor.out = event.time + machine_.gap().ticks;
      queue_.push({event.time + machine_.o.ticks + machine_.L.ticks, ++pushed_,
                   static_cast<std::size_t>(operation.peer), static_cast<std::size_t>(operation.tag), true});
    }
    done(event.rank, event.operation);
  }

  void arrive(Event event) {
    Host& host = hosts_[event.rank];
    Processor& processor = host.processors.at(host.receiver.at(event.operation));
    if (const std::int64_t may = std::max(processor.cpu, processor.in); may > event.time) {
      event.time = may;
      return queue_.push(event);
    }
    processor.cpu = event.time + machine_.o.ticks;
    processor.in = event.time + machine_.gap().ticks;
    const auto found = host.posted.find(event.operation);
    if (found == host.posted.end()) {
      host.unexpected.insert(event.operation);
      return;
    }
    const std::size_t reception = found->second;
    host.posted.erase(found);
    done(event.rank, reception);
  }

  void done(std::size_t rank, std::size_t operation) {
    Host& host = hosts_[rank];
    for (const std::size_t next : host.dependants[operation]) {
      if (--host.missing[next] > 0) continue;
      const Processor& processor = host.processors.at(goal_.ranks[rank][next].cpu);
      const std::int64_t out = goal_.ranks[rank][next].kind == 's' ? processor.out : 0;
      queue_.push({std::max({now_, processor.cpu, out}), ++pushed_, rank, next, false});
    }
  }

  const Goal& goal_;
  LogP machine_;
  std::vector<Host> hosts_;
  std::priority_queue<Event> queue_;
  std::int64_t pushed_ = 0, now_ = 0;
};

TEST(Goal, AnotherSimulatorFinishesWhenPlanned) {
  const std::vector<LogP> machines = {
      LogP::postal(13, Time{3}),       {37, Time{60}, Time{20}, Time{40}}, {8, Time{6}, Time{2}, Time{4}},
      {11, Time{4}, Time{1}, Time{3}}, {16, Time{5}, Time{5}, Time{2}},    {20, Time{30}, Time{7}, Time{7}},
      {9, Time{1}, Time{3}, Time{10}}, {24, Time{100}, Time{1}, Time{50}}, {5, Time{7}, Time{20}, Time{1}},
      {33, Time{2}, Time{0}, Time{5}}, {1, Time{6}, Time{2}, Time{4}}};
  int played = 0;
  for (const plan::Collective& row : plan::collectives()) {
    if (row.kind == Kind::stream) continue;
    for (const LogP& machine : machines) {
      for (const std::int64_t items : {1, 7}) {
        if (items > 1 && (row.takes & plan::kItems) == 0) continue;
        plan::Request request{.machine = machine, .problem = {}};
        request.problem.kind = row.kind;
        request.problem.items = items;
        if (row.takes & plan::kOperands) request.operands = 500;
        const Schedule schedule = row.plan(request)->schedule();
        const Goal goal = parse(to_goal(schedule));
        EXPECT_EQ(Player(goal, machine).finish(), schedule.finish.ticks)
            << row.name << ", " << items << " items, " << to_string(machine);
        ++played;
      }
    }
  }
  EXPECT_GE(played, 150);
}

/// A node is a rank of the text, its ranks are processors.
TEST(Goal, AnotherSimulatorPlaysClusters) {
  int played = 0;
  for (const std::int64_t n : {1, 2, 3, 7}) {
    for (const std::int64_t N : {1, 2, 5, 12}) {
      for (const auto& [L, o, g, gamma] : {std::array{10, 1, 4, 1}, std::array{28, 2, 6, 0}, std::array{5, 3, 3, 3}}) {
        for (const Kind kind : {Kind::broadcast, Kind::reduce, Kind::allreduce, Kind::barrier, Kind::scatter,
                                Kind::gather, Kind::allgather, Kind::alltoall, Kind::scan, Kind::reduce_scatter}) {
          const LogP base{1, Time{L}, Time{o}, Time{g}};
          const Cluster c = Cluster::uniform(N, n, base, Time{gamma}, Time{2}, Time{1});
          const Schedule schedule = plan::on_cluster(c, {.kind = kind})->schedule();
          EXPECT_EQ(Player(parse(to_goal(schedule)), schedule.machine).finish(), schedule.finish.ticks)
              << to_string(kind) << " on " << to_string(c);
          ++played;
        }
      }
    }
  }
  EXPECT_EQ(played, 480);
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
