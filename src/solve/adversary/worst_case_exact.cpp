// SPDX-License-Identifier: MIT
// The adversary's choices, all of them, tick by tick. Instead of fixing latencies in advance it decides, whenever a port
// is free, which message is received, or none. Each message under way keeps the range [low, high] of arrival times that
// agree with the decisions so far:
//   nothing is received at t     only if every high > t; then every low becomes at least t + 1;
//   m is received at t           only if low(m) <= t and no other high < low(m); then every other low becomes at least
//                                low(m) (the earliest arrival of m is its weakest demand on the others).
// That loses no play (adversary.md, Theorem 4). States that agree in all that matters later are explored once. For o = 0,
// where receptions and sends do not compete.
#include <algorithm>
#include <string>
#include <unordered_map>

#include "chasqui/base/error.hpp"
#include "chasqui/solve/worst_case.hpp"
#include "simulate/program.hpp"
#include "solve/adversary/lateness.hpp"

namespace chasqui::solve {
namespace {

class WorstCaseSearch {
 public:
  WorstCaseSearch(const Schedule& schedule, const AdversaryOptions& options)
      : program_(schedule), options_(options), machine_(schedule.machine),
        due_(due_times(program_.schedule(), options.lateness)) {
    const auto P = static_cast<std::size_t>(machine_.P);
    for (std::size_t r = 0; r < P; ++r) {
      const auto actions = program_.actions_of(Rank{static_cast<std::int32_t>(r)});
      start_.ranks.push_back({actions.first, actions.end, kLongAgo, kLongAgo, {}});
    }
    start_.received.assign(program_.receptions(), false);
    single_received_ = program_.single();
    if (single_received_) start_.received.assign(P, false);
  }

  WorstCase run() {
    WorstCase result;
    result.late = explore(start_, 0).late;
    result.exact = !gave_up_;
    result.explored = known_.size();
    result.how = fmt::format("{} states", known_.size());
    if (result.exact) rebuild(result);
    return result;
  }

 private:
  static constexpr std::int64_t kLongAgo = -1'000'000'000;
  static constexpr std::uint64_t kBranchesPerState = 30;

  struct Waiting {
    std::uint32_t message;
    std::int64_t low;
    std::int64_t high;
  };
  struct RankState {
    std::uint32_t next;
    std::uint32_t end;
    std::int64_t last_send;
    std::int64_t last_reception;
    std::vector<Waiting> waiting;
  };
  struct State {
    std::vector<RankState> ranks;
    std::vector<bool> received;
  };
  struct Value {
    Time late{0};
    std::vector<std::int32_t> choice;  // per rank: message received at this tick, or -1
  };

  std::uint32_t flag(std::uint32_t message) const {
    const Send& send = program_.send(message);
    return single_received_ ? static_cast<std::uint32_t>(send.to.index)
                            : program_.first_reception(send.to) + program_.reception_number(message);
  }

  bool has(const State& state, Rank rank, std::uint32_t message) const {
    const std::int32_t need = program_.needs(message);
    if (need == simulate::Program::kNothing) return true;
    if (single_received_) return state.received[static_cast<std::size_t>(rank.index)];
    const std::uint32_t first = program_.first_reception(rank);
    if (need == simulate::Program::kImpossible) return false;
    const std::int32_t begin = program_.needs_prefix() ? 0 : need;
    const std::int32_t end = program_.needs_prefix() ? need : need + 1 + program_.needs_also(message);
    for (std::int32_t i = begin; i < end; ++i) {
      if (!state.received[first + static_cast<std::uint32_t>(i)]) return false;
    }
    return true;
  }

  bool port_free(const RankState& rank, std::int64_t now) const {
    return rank.last_reception + machine_.gap().ticks <= now;
  }

  /// Begins the rank's next send at `now` if it may; true if it did.
  bool try_send(State& state, std::size_t r, std::int64_t now) const {
    RankState& rank = state.ranks[r];
    if (rank.next == rank.end) return false;
    const std::uint32_t message = program_.action(rank.next);
    const Send& send = program_.send(message);
    if (send.begin.ticks > now || rank.last_send + machine_.gap().ticks > now) return false;
    if (!has(state, send.from, message)) return false;
    rank.last_send = now;
    ++rank.next;
    state.ranks[static_cast<std::size_t>(send.to.index)].waiting.push_back(
        {message, now + options_.low.ticks, now + machine_.L.ticks});
    return true;
  }

  /// Applies one decision of the adversary; -1: nothing is received. False if it contradicts earlier ones.
  bool decide(RankState& rank, std::int32_t message, std::int64_t now) const {
    if (message < 0) {
      for (Waiting& w : rank.waiting) {
        if (w.high <= now) return false;
        w.low = std::max(w.low, now + 1);
      }
      return true;
    }
    const auto chosen = std::find_if(rank.waiting.begin(), rank.waiting.end(), [&](const Waiting& w) {
      return w.message == static_cast<std::uint32_t>(message);
    });
    const std::int64_t low = chosen->low;
    if (low > now) return false;
    rank.waiting.erase(chosen);
    for (Waiting& w : rank.waiting) {
      if (w.high < low) return false;
      w.low = std::max(w.low, low);
    }
    rank.last_reception = now;
    return true;
  }

  /// The most lateness from this state on, at the beginning of tick `now`.
  Value explore(const State& state, std::int64_t now) {
    if (done(state)) return {};
    const std::string key = encode(state, now);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    if (known_.size() >= options_.states) {
      gave_up_ = true;
      return {};
    }
    if (options_.progress && known_.size() % 4096 == 0) {
      options_.progress(static_cast<double>(known_.size()) / static_cast<double>(options_.states));
    }
    Value best;
    best.late = Time{-1};
    std::vector<std::int32_t> choice(state.ranks.size(), -1);
    branch(state, now, 0, choice, Time{0}, best);
    known_[key] = best;
    return best;
  }

  /// Goes through the ranks, one choice each, then to the next tick.
  void branch(const State& state, std::int64_t now, std::size_t r, std::vector<std::int32_t>& choice, Time late_now,
              Value& best) {
    if (gave_up_) return;
    if (++branches_ > kBranchesPerState * options_.states) {  // few states with very many choices each
      gave_up_ = true;
      return;
    }
    if (r == state.ranks.size()) {
      const Time later = explore(state, now + 1).late;
      const Time late = std::max(late_now, later);
      if (late > best.late) best = {late, choice};
      return;
    }
    const RankState& rank = state.ranks[r];
    const bool port = port_free(rank, now);
    std::vector<std::int32_t> options = {-1};
    for (const Waiting& w : rank.waiting) {
      if (port && w.low <= now) options.push_back(static_cast<std::int32_t>(w.message));
    }
    for (const std::int32_t message : options) {
      State next = state;
      if (port && !decide(next.ranks[r], message, now)) continue;
      Time late = late_now;
      if (message >= 0) {
        next.received[flag(static_cast<std::uint32_t>(message))] = true;
        late = std::max(late, Time{now} - due_[static_cast<std::size_t>(message)]);
      }
      try_send(next, r, now);
      choice[r] = message;
      branch(next, now, r + 1, choice, late, best);
    }
    choice[r] = -1;
  }

  bool done(const State& state) const {
    return std::all_of(state.ranks.begin(), state.ranks.end(),
                       [](const RankState& rank) { return rank.next == rank.end && rank.waiting.empty(); });
  }

  /// All that the future depends on: times relative to now, and no further back than they matter.
  std::string encode(const State& state, std::int64_t now) const {
    std::string key;
    const auto put = [&](std::int64_t value) {
      for (int byte = 0; byte < 3; ++byte) key.push_back(static_cast<char>((value >> (8 * byte)) & 0xff));
    };
    put(now);
    const std::int64_t matters = machine_.gap().ticks;
    for (const RankState& rank : state.ranks) {
      put(rank.next);
      put(std::min(now - rank.last_send, matters));
      put(std::min(now - rank.last_reception, matters));
      put(static_cast<std::int64_t>(rank.waiting.size()));
      auto waiting = rank.waiting;
      std::sort(waiting.begin(), waiting.end(),
                [](const Waiting& a, const Waiting& b) { return a.message < b.message; });
      for (const Waiting& w : waiting) {
        put(w.message);
        put(std::max(w.low, now) - now);
        put(w.high - now + 0x800000);
      }
    }
    for (const bool bit : state.received) key.push_back(bit ? 1 : 0);
    return key;
  }

  /// Follows the best choices and fixes arrivals that produce them.
  void rebuild(WorstCase& result) {
    const std::size_t messages = program_.schedule().sends.size();
    result.latencies.assign(messages, machine_.L);
    result.order.assign(messages, 0);
    std::vector<std::int64_t> sent(messages, 0);
    State state = start_;
    std::uint32_t priority = 0;
    for (std::int64_t now = 0; !done(state); ++now) {
      const Value value = explore(state, now);
      for (std::size_t r = 0; r < state.ranks.size(); ++r) {
        const std::int32_t message = value.choice[r];
        RankState& rank = state.ranks[r];
        const bool port = port_free(rank, now);
        if (message >= 0) {
          const auto m = static_cast<std::size_t>(message);
          const auto chosen =
              std::find_if(rank.waiting.begin(), rank.waiting.end(), [&](const Waiting& w) { return w.message == m; });
          result.latencies[m] = Time{chosen->low - sent[m]};
          result.order[m] = priority++;
          decide(rank, message, now);
          state.received[flag(static_cast<std::uint32_t>(m))] = true;
        } else if (port) {
          decide(rank, -1, now);
        }
        const std::uint32_t before = rank.next;
        if (try_send(state, r, now)) sent[program_.action(before)] = now;
      }
    }
  }

  simulate::Program program_;
  const AdversaryOptions& options_;
  LogP machine_;
  std::vector<Time> due_;
  State start_;
  bool single_received_ = false;
  bool gave_up_ = false;
  std::uint64_t branches_ = 0;
  std::unordered_map<std::string, Value> known_;
};

}  // namespace

WorstCase worst_case_exact(const Schedule& schedule, const AdversaryOptions& options) {
  if (!schedule.adds.empty()) throw Error("the exact adversary plays messages only: use the heuristic for sums");
  if (schedule.machine.o > Time{0}) throw Error("the exact adversary needs o = 0: use the heuristic where o > 0");
  WorstCase result = WorstCaseSearch(schedule, options).run();
  result.nominal = actual_finish(schedule);
  result.late = std::max(result.late, Time{0});
  return result;
}

}  // namespace chasqui::solve
