// SPDX-License-Identifier: MIT
#include "solve/traffic_items.hpp"

#include <algorithm>
#include <map>

#include "chasqui/solve/cnf.hpp"

namespace chasqui::solve {
namespace {

void exactly_one(Cnf& cnf, const std::vector<Literal>& literals) {
  cnf.clause(literals);
  at_most_one(cnf, literals);
}

/// `pair[t,p,q]`: p's message of tick t goes to q; `carries[q,n,i]`: q's n-th reception is item i.
class Assignment {
 public:
  Assignment(const Instance& instance, const Traffic& traffic)
      : instance_(instance), traffic_(traffic), P_(static_cast<std::int32_t>(instance.machine.P)) {
    receive_everything();
    pair_up();
    send_what_is_there();
  }

  const Cnf& cnf() const { return cnf_; }

  Schedule decode(const SatSolver& solver) const {
    Schedule schedule;
    schedule.machine = instance_.machine;
    schedule.problem = instance_.problem;
    for (const auto& [who, literal] : pair_) {
      if (!solver.value(literal)) continue;
      for (std::int32_t i = 0; i < item_count(instance_); ++i) {
        const Literal carries = carries_[index(who.to, reception(who), i)];
        if (carries == 0 || !solver.value(carries)) continue;
        schedule.sends.push_back(send_item(who.begin, Rank{who.from}, Rank{who.to}, i));
        schedule.finish = std::max(schedule.finish, who.begin + instance_.machine.lambda());
      }
    }
    normalise(schedule);
    return schedule;
  }

 private:
  struct Pair {
    Time begin;
    std::int32_t from, to;
    friend auto operator<=>(const Pair&, const Pair&) = default;
  };

  const std::vector<Time>& receives(std::int32_t rank) const {
    return traffic_.receives[static_cast<std::size_t>(rank)];
  }
  std::size_t index(std::int32_t rank, std::size_t reception, std::int32_t item) const {
    const auto items = static_cast<std::size_t>(item_count(instance_));
    return (static_cast<std::size_t>(rank) * items + reception) * items + static_cast<std::size_t>(item);
  }
  /// Which of the receiver's messages it is.
  std::size_t reception(const Pair& pair) const {
    const std::vector<Time>& begins = receives(pair.to);
    return static_cast<std::size_t>(std::lower_bound(begins.begin(), begins.end(), pair.begin) - begins.begin());
  }

  void receive_everything() {
    const auto items = static_cast<std::int32_t>(item_count(instance_));
    carries_.assign(index(P_, 0, 0), 0);
    for (std::int32_t q = 0; q < P_; ++q) {
      std::vector<std::vector<Literal>> of_item(static_cast<std::size_t>(items));
      for (std::size_t n = 0; n < receives(q).size(); ++n) {
        std::vector<Literal> some;
        for (std::int32_t i = 0; i < items; ++i) {
          if (owner(instance_, i).index == q) continue;
          some.push_back(carries_[index(q, n, i)] = cnf_.fresh());
          of_item[static_cast<std::size_t>(i)].push_back(some.back());
        }
        exactly_one(cnf_, some);
      }
      for (std::int32_t i = 0; i < items; ++i) {
        if (owner(instance_, i).index != q) exactly_one(cnf_, of_item[static_cast<std::size_t>(i)]);
      }
    }
  }

  void pair_up() {
    std::map<std::pair<Time, std::int32_t>, std::vector<Literal>> of_sender, of_receiver;
    for (std::int32_t p = 0; p < P_; ++p) {
      for (const Time t : traffic_.sends[static_cast<std::size_t>(p)]) {
        of_sender[{t, p}];
        for (std::int32_t q = 0; q < P_; ++q) {
          if (p == q || !std::binary_search(receives(q).begin(), receives(q).end(), t)) continue;
          const Literal pair = pair_[{t, p, q}] = cnf_.fresh();
          of_sender[{t, p}].push_back(pair);
          of_receiver[{t, q}].push_back(pair);
        }
      }
    }
    for (const auto* side : {&of_sender, &of_receiver}) {
      for (const auto& [who, pairs] : *side) exactly_one(cnf_, pairs);
    }
  }

  void send_what_is_there() {
    for (const auto& [who, pair] : pair_) {
      for (std::int32_t i = 0; i < item_count(instance_); ++i) {
        const Literal carries = carries_[index(who.to, reception(who), i)];
        if (carries == 0 || owner(instance_, i).index == who.from) continue;
        std::vector<Literal> clause{-pair, -carries};
        for (std::size_t n = 0; n < receives(who.from).size(); ++n) {
          if (receives(who.from)[n] + instance_.machine.lambda() <= who.begin)
            clause.push_back(carries_[index(who.from, n, i)]);
        }
        cnf_.clause(clause);
      }
    }
  }

  const Instance& instance_;
  const Traffic& traffic_;
  std::int32_t P_;
  Cnf cnf_;
  std::map<Pair, Literal> pair_;
  std::vector<Literal> carries_;
};

}  // namespace

bool has_traffic(const Instance& instance) {
  return instance.problem.kind == Kind::allgather && instance.machine.o > Time{0} && instance.machine.P > 1;
}

TrafficCount count_traffic(const Instance& instance, Time T, const Stop& stop) {
  const std::int64_t receptions = item_count(instance) - instance.problem.items;
  return {instance.machine, receptions, T, kMostMoments, stop};
}

std::optional<Schedule> schedule_with(const Instance& instance, const Traffic& traffic, std::int64_t conflicts,
                                      const Stop& stop) {
  const Assignment assignment(instance, traffic);
  SatSolver solver(assignment.cnf());
  if (solver.decide({}, conflicts, stop) != Verdict::satisfiable) return std::nullopt;
  return assignment.decode(solver);
}

void search_by_traffic(Search& search) {
  constexpr std::int64_t kConflicts = 20'000;
  constexpr int kSamples = 200;
  constexpr std::uint64_t kSeed = 7;  // fixed: the same question gets the same answer
  while (has_traffic(search.instance()) && !search.decided() && !search.out_of_time()) {
    const Time T = search.bound();
    search.asking(T);
    const TrafficCount count = count_traffic(search.instance(), T, search.stop());
    if (count.verdict() == Verdict::unknown) return;
    if (count.verdict() == Verdict::unsatisfiable) {
      search.refuted(T, Evidence::traffic, "no traffic of the ports");
      continue;
    }
    std::mt19937_64 random(kSeed);
    for (int n = 0; n < kSamples && !search.out_of_time(); ++n) {
      if (auto schedule = schedule_with(search.instance(), count.sample(random), kConflicts, search.stop())) {
        search.found(std::move(*schedule));
        return;
      }
    }
    return;
  }
}

}  // namespace chasqui::solve
