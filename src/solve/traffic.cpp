// SPDX-License-Identifier: MIT
#include "solve/traffic.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "chasqui/base/error.hpp"

namespace chasqui::solve {
namespace {

template <typename T>
void keep_distinct(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

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

}  // namespace chasqui::solve
