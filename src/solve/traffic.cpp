// SPDX-License-Identifier: MIT
#include "solve/traffic.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "chasqui/base/error.hpp"
#include "chasqui/solve/cnf.hpp"

namespace chasqui::solve {
namespace {

template <typename T>
void keep_distinct(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

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

TrafficCount::TrafficCount(const LogP& machine, std::int64_t receptions, Time finish, std::int64_t most_moments,
                           const Stop& stop)
    : machine_(machine), receptions_(receptions), finish_(finish.ticks), most_moments_(most_moments) {
  CHASQUI_CHECK(machine.o > Time{0} && receptions >= 0 && finish >= Time{0}, "o={} finish={}", machine.o.ticks,
                finish_);
  const std::int64_t G = machine.gap().ticks;
  const std::int64_t flight = (machine.o + machine.L).ticks;
  flight_bits_ = std::bit_width(static_cast<std::uint64_t>(machine.P));
  const std::int64_t most_states = (G + 1) * (G + 1) * (receptions + 1);
  if (machine.P > 64 || flight > 64 / flight_bits_ || most_states > (1 << 16) || finish_ > (1 << 16)) return;
  make_states();
  rank_bits_ = std::bit_width(states_.size());
  if (machine.P * rank_bits_ > 64) return;
  bound_sends();
  go(stop);
  if (verdict_ == Verdict::satisfiable) drop_dead_ends();
}

/// All states that a rank can come to, by a walk from "nothing done yet".
void TrafficCount::make_states() {
  const std::int64_t G = machine_.gap().ticks, o = machine_.o.ticks;
  std::map<RankState, int> number;
  const auto reach = [&](RankState state) {  // one tick later
    state.until_send = std::max<std::int64_t>(0, state.until_send - 1);
    state.until_receive = state.received == receptions_ ? 0 : std::max<std::int64_t>(0, state.until_receive - 1);
    const auto [place, is_new] = number.try_emplace(state, static_cast<int>(states_.size()));
    if (is_new) states_.push_back({.state = state});
    return place->second;
  };
  reach({});
  for (std::size_t s = 0; s < states_.size(); ++s) {
    const RankState now = states_[s].state;
    states_[s].idle = reach(now);
    if (now.until_send == 0) {
      const int next = reach({G, std::max(now.until_receive, o), now.received});
      states_[s].send = next;
    }
    if (now.until_receive == 0 && now.received < receptions_) {
      const int next = reach({std::max(now.until_send, o), G, now.received + 1});
      states_[s].receive = next;
    }
  }
}

/// Backwards over time, for one rank alone.
void TrafficCount::bound_sends() {
  const std::int64_t last_send = finish_ - machine_.lambda().ticks, last_receive = finish_ - machine_.o.ticks;
  const std::int64_t flight = (machine_.o + machine_.L).ticks;
  most_sends_.assign(static_cast<std::size_t>(finish_) + 1, std::vector<int>(states_.size(), -1));
  for (std::size_t s = 0; s < states_.size(); ++s) {
    if (states_[s].state.received == receptions_) most_sends_.back()[s] = 0;
  }
  for (std::int64_t t = finish_ - 1; t >= 0; --t) {
    const std::vector<int>& later = most_sends_[static_cast<std::size_t>(t + 1)];
    const auto then = [&](int next) { return next < 0 ? -1 : later[static_cast<std::size_t>(next)]; };
    for (std::size_t s = 0; s < states_.size(); ++s) {
      int most = then(states_[s].idle);
      if (t <= last_send && then(states_[s].send) >= 0) most = std::max(most, 1 + then(states_[s].send));
      if (t >= flight && t <= last_receive) most = std::max(most, then(states_[s].receive));
      most_sends_[static_cast<std::size_t>(t)][s] = most;
    }
  }
}

std::vector<int> TrafficCount::ranks_of(const Moment& moment) const {
  std::vector<int> ranks(static_cast<std::size_t>(machine_.P));
  std::uint64_t word = moment.ranks;
  for (std::size_t n = ranks.size(); n-- > 0; word >>= rank_bits_)
    ranks[n] = static_cast<int>(word & ((1ULL << rank_bits_) - 1));
  return ranks;
}

TrafficCount::Moment TrafficCount::moment_of(std::vector<int> ranks, std::uint64_t flight) const {
  std::sort(ranks.begin(), ranks.end());
  Moment moment{.flight = flight};
  for (const int state : ranks) moment.ranks = (moment.ranks << rank_bits_) | static_cast<std::uint64_t>(state);
  return moment;
}

/// What may follow: the oldest messages in flight are received now, any others may begin. `visit(next, acts)`, acts by rank in the
/// order of the moment; of ranks in the same state only the numbers matter. Left out is what cannot finish: some rank cannot receive all, or
/// all together cannot send enough.
template <typename Visit>
void TrafficCount::each_successor(const Moment& moment, std::int64_t tick, Visit visit) const {
  const std::vector<int> ranks = ranks_of(moment);
  const std::vector<int>& most_sends = most_sends_[static_cast<std::size_t>(tick + 1)];
  const std::uint64_t mask = (1ULL << flight_bits_) - 1;
  std::int64_t to_send = machine_.P * receptions_;
  for (const int rank : ranks) to_send -= states_[static_cast<std::size_t>(rank)].state.received;
  for (std::uint64_t word = moment.flight; word != 0; word >>= flight_bits_)
    to_send -= static_cast<std::int64_t>(word & mask);
  const bool may_send = tick <= finish_ - machine_.lambda().ticks;
  const std::uint64_t older = moment.flight >> flight_bits_;
  const std::int64_t newest = flight_bits_ * ((machine_.o + machine_.L).ticks - 1);
  std::vector<int> next(ranks.size());
  std::vector<Act> acts(ranks.size());

  const auto choose = [&](auto& self, std::size_t n, std::uint64_t arriving, std::int64_t sent,
                          std::int64_t can_send) -> void {
    if (n == ranks.size()) {
      if (arriving != 0 || sent > to_send || sent + can_send < to_send) return;
      visit(moment_of(next, older | (static_cast<std::uint64_t>(sent) << newest)), acts);
      return;
    }
    const Step& step = states_[static_cast<std::size_t>(ranks[n])];
    const auto act = [&](Act what, int to) {
      // Among ranks in the same state: first those that receive, then those that send, then the idle ones.
      if (n > 0 && ranks[n] == ranks[n - 1] && what > acts[n - 1]) return;
      if (to < 0 || most_sends[static_cast<std::size_t>(to)] < 0) return;
      next[n] = to;
      acts[n] = what;
      self(self, n + 1, arriving - (what == Act::receive ? 1 : 0), sent + (what == Act::send ? 1 : 0),
           can_send + most_sends[static_cast<std::size_t>(to)]);
    };
    if (arriving > 0) act(Act::receive, step.receive);
    if (may_send) act(Act::send, step.send);
    if (arriving <= ranks.size() - n - 1) act(Act::idle, step.idle);
  };
  choose(choose, 0, moment.flight & mask, 0, 0);
}

void TrafficCount::go(const Stop& stop) {
  constexpr std::size_t kCrowd = 1 << 20;
  levels_.push_back({moment_of(std::vector<int>(static_cast<std::size_t>(machine_.P), 0), 0)});
  if (most_sends_.front().front() < 0) levels_.front().clear();
  for (std::int64_t t = 0; t < finish_ && !levels_.back().empty(); ++t) {
    Level next;
    std::size_t crowded = kCrowd;
    std::int64_t polled = 0;
    for (const Moment& moment : levels_.back()) {
      each_successor(moment, t, [&](const Moment& successor, const std::vector<Act>&) { next.push_back(successor); });
      if (next.size() > crowded) {
        keep_distinct(next);
        crowded = 2 * next.size() + kCrowd;
        if (moments_ + static_cast<std::int64_t>(next.size()) > most_moments_) return;
      }
      if (++polled % 4096 == 0 && stop && stop()) return;
    }
    keep_distinct(next);
    moments_ += static_cast<std::int64_t>(next.size());
    if (moments_ > most_moments_) return;
    levels_.push_back(std::move(next));
  }
  verdict_ = levels_.back().empty() ? Verdict::unsatisfiable : Verdict::satisfiable;
}

/// Keeps the moments from which the finish can be reached.
void TrafficCount::drop_dead_ends() {
  for (std::size_t t = levels_.size() - 1; t-- > 0;) {
    const Level& later = levels_[t + 1];
    std::erase_if(levels_[t], [&](const Moment& moment) {
      bool alive = false;
      each_successor(moment, static_cast<std::int64_t>(t), [&](const Moment& next, const std::vector<Act>&) {
        alive = alive || std::binary_search(later.begin(), later.end(), next);
      });
      return !alive;
    });
  }
}

Traffic TrafficCount::sample(std::mt19937_64& random) const {
  CHASQUI_CHECK(verdict_ == Verdict::satisfiable, "finish={}", finish_);
  const auto P = static_cast<std::size_t>(machine_.P);
  Traffic traffic{std::vector<std::vector<Time>>(P), std::vector<std::vector<Time>>(P)};
  std::vector<int> state(P, 0);
  Moment now = levels_.front().front();
  for (std::int64_t t = 0; t < finish_; ++t) {
    std::vector<std::pair<Moment, std::vector<Act>>> choices;
    const Level& later = levels_[static_cast<std::size_t>(t + 1)];
    each_successor(now, t, [&](const Moment& next, const std::vector<Act>& acts) {
      if (std::binary_search(later.begin(), later.end(), next)) choices.emplace_back(next, acts);
    });
    const auto& [next, acts] = choices[random() % choices.size()];
    std::vector<std::size_t> order;  // the ranks as the moment lists them, alike ones shuffled
    for (std::size_t p = 0; p < P; ++p) order.push_back(p);
    std::shuffle(order.begin(), order.end(), random);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return state[a] < state[b]; });
    for (std::size_t n = 0; n < P; ++n) {
      const std::size_t p = order[n];
      const Step& step = states_[static_cast<std::size_t>(state[p])];
      state[p] = acts[n] == Act::send ? step.send : acts[n] == Act::receive ? step.receive : step.idle;
      if (acts[n] == Act::send) traffic.sends[p].push_back(Time{t});
      if (acts[n] == Act::receive) traffic.receives[p].push_back(Time{t} - machine_.o - machine_.L);
    }
    now = next;
  }
  return traffic;
}

bool has_traffic(const Instance& instance) {
  const Kind kind = instance.problem.kind;
  return (kind == Kind::allgather || kind == Kind::alltoall) && instance.machine.o > Time{0} && instance.machine.P > 1;
}

TrafficCount count_traffic(const Instance& instance, Time T, const Stop& stop) {
  const std::int64_t receptions = instance.problem.items * (instance.machine.P - 1);
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
    if (search.instance().problem.kind == Kind::alltoall) return;  // it bounds, but who sends what is another question
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
