// SPDX-License-Identifier: MIT
// All that happens at one instant is gathered first; then every rank concerned acts, those first whose plan says so. What an
// event waited for is noted when it begins: that is the critical path.
#include "simulate/cluster.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>

#include "chasqui/base/error.hpp"
#include "simulate/limits.hpp"

namespace chasqui::simulate {
namespace {

using What = CriticalStep::Event;
using Reason = CriticalStep::Reason;

constexpr std::size_t kNone = ~std::size_t{0};

/// Sends, receptions, publications and readings have one row of numbers.
class Numbers {
 public:
  explicit Numbers(const Schedule& s)
      : sends_(s.sends.size()), publications_(s.publications.size()), readings_(s.readings.size()) {}
  std::size_t of(What event, std::size_t index) const {
    switch (event) {
      case What::send: return index;
      case What::reception: return sends_ + index;
      case What::publication: return 2 * sends_ + index;
      case What::reading: break;
    }
    return 2 * sends_ + publications_ + index;
  }
  std::pair<What, std::size_t> which(std::size_t number) const {
    if (number < sends_) return {What::send, number};
    if (number < 2 * sends_) return {What::reception, number - sends_};
    if (number < 2 * sends_ + publications_) return {What::publication, number - 2 * sends_};
    return {What::reading, number - 2 * sends_ - publications_};
  }
  std::size_t count() const { return 2 * sends_ + publications_ + readings_; }

 private:
  std::size_t sends_, publications_, readings_;
};

class ClusterPlay {
 public:
  ClusterPlay(Schedule schedule, const Latency& latency, const Options& options)
      : s_(std::move(schedule)), latency_(latency), options_(options), ranks_(require_playable(s_)),
        nodes_(static_cast<std::size_t>(s_.nodes.count())), numbers_(s_), begins_(numbers_.count(), kNever),
        causes_(numbers_.count()) {
    for (const Straggler& straggler : options.stragglers) validate(straggler, s_.machine.P);
    const auto by_rank = [](auto& list, auto rank_of) {
      std::sort(list.begin(), list.end());
      std::stable_sort(list.begin(), list.end(), [&](const auto& a, const auto& b) { return rank_of(a) < rank_of(b); });
    };
    by_rank(s_.sends, [](const Send& send) { return send.from; });
    by_rank(s_.publications, [](const Publication& p) { return p.rank; });
    by_rank(s_.readings, [](const Reading& r) { return r.rank; });
    find_sources();
    list_actions();
  }

  Trace play() {
    for (std::size_t r = 0; r < ranks_.size(); ++r) wake(r, start_of(r));
    std::vector<std::size_t> concerned;
    while (!queue_.empty()) {
      const Time now = queue_.top().time;
      require_in_time(now);
      concerned.clear();
      for (; !queue_.empty() && queue_.top().time == now; queue_.pop()) {
        const Wake& top = queue_.top();
        if (top.message != kNone) ranks_[top.rank].pool.push_back(top.message);
        concerned.push_back(top.rank);
      }
      std::sort(concerned.begin(), concerned.end());
      concerned.erase(std::unique(concerned.begin(), concerned.end()), concerned.end());
      std::stable_sort(concerned.begin(), concerned.end(),
                       [&](std::size_t a, std::size_t b) { return planned(ranks_[a]) < planned(ranks_[b]); });
      for (const std::size_t rank : concerned) act(rank, now);
    }
    return conclude();
  }

 private:
  /// What a rank does on its own account, in planned order.
  struct Action {
    What event = What::send;
    std::size_t index = 0;
    Time planned{0};
    std::vector<std::size_t> needs{};  ///< messages
    std::size_t after = kNone;         ///< a reading of this rank that must have ended
  };
  struct State {
    std::vector<Action> actions;
    std::size_t next = 0;
    std::vector<std::size_t> pool;  ///< messages that wait
    std::size_t last_send = kNone, last_reception = kNone, busy = kNone;
  };
  struct Adapter {
    std::size_t last_send = kNone, last_reception = kNone;
  };
  struct Wake {
    Time time;
    std::size_t rank, message;
    bool operator<(const Wake& other) const { return time > other.time; }
  };
  struct Cause {
    Reason reason = Reason::start;
    std::size_t event = kNone;
  };
  /// A reason to wait, and until when.
  struct Wait {
    Time until{0};
    Cause cause;
  };

  static void require(Rank rank, const Schedule& s) {
    if (rank.index < 0 || rank.index >= s.machine.P)
      throw Error("rank {} does not exist: ranks are 0..{}", rank.index, s.machine.P - 1);
  }
  static std::size_t require_playable(const Schedule& s) {
    validate(Cluster{s.machine, s.nodes});
    validate(s.problem, s.machine);
    for (const Send& send : s.sends) require(send.from, s), require(send.to, s);
    for (const Publication& p : s.publications) require(p.rank, s);
    for (const Reading& r : s.readings) require(r.rank, s), require(r.from, s);
    return static_cast<std::size_t>(s.machine.P);
  }

  const Straggler* straggler(std::size_t rank) const {
    for (const Straggler& s : options_.stragglers) {
      if (static_cast<std::size_t>(s.rank.index) == rank) return &s;
    }
    return nullptr;
  }
  Time start_of(std::size_t rank) const { return straggler(rank) ? straggler(rank)->start : Time{0}; }
  Time overhead(std::size_t rank) const { return straggler(rank) ? straggler(rank)->o : s_.machine.o; }
  Time gap(std::size_t rank) const {
    return straggler(rank) ? std::max(straggler(rank)->g, straggler(rank)->o) : s_.machine.gap();
  }
  static std::size_t index(Rank rank) { return static_cast<std::size_t>(rank.index); }
  Adapter& adapter(std::size_t rank) {
    return nodes_[static_cast<std::size_t>(s_.nodes.node_of(Rank{static_cast<std::int32_t>(rank)}))];
  }
  Time length(What event, std::size_t rank) const {
    return event == What::publication ? s_.nodes.publish : event == What::reading ? s_.nodes.read : overhead(rank);
  }
  std::size_t rank_of(std::size_t number) const {
    const auto [event, i] = numbers_.which(number);
    switch (event) {
      case What::send: return index(s_.sends[i].from);
      case What::reception: return index(s_.sends[i].to);
      case What::publication: return index(s_.publications[i].rank);
      case What::reading: break;
    }
    return index(s_.readings[i].rank);
  }
  Time end_of(std::size_t number) const {
    return begins_[number] + length(numbers_.which(number).first, rank_of(number));
  }

  /// Every reading's publication: the earliest of this content.
  void find_sources() {
    std::map<std::tuple<Rank, Part, Part>, std::size_t> published;
    for (std::size_t i = 0; i < s_.publications.size(); ++i)
      published.try_emplace({s_.publications[i].rank, s_.publications[i].part, s_.publications[i].second}, i);
    for (const Reading& r : s_.readings) {
      const auto found = published.find({r.from, r.part, r.second});
      sources_.push_back(found == published.end() ? kNone : found->second);
    }
    readers_.resize(s_.publications.size());
  }

  void list_actions() {
    for (std::size_t i = 0; i < s_.sends.size(); ++i)
      ranks_[index(s_.sends[i].from)].actions.push_back({What::send, i, s_.sends[i].begin});
    for (std::size_t i = 0; i < s_.publications.size(); ++i)
      ranks_[index(s_.publications[i].rank)].actions.push_back({What::publication, i, s_.publications[i].begin});
    for (std::size_t i = 0; i < s_.readings.size(); ++i)
      ranks_[index(s_.readings[i].rank)].actions.push_back({What::reading, i, s_.readings[i].begin});
    std::vector<std::vector<std::size_t>> incoming(ranks_.size());
    for (std::size_t m = 0; m < s_.sends.size(); ++m) incoming[index(s_.sends[m].to)].push_back(m);
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      auto& actions = ranks_[r].actions;
      std::stable_sort(actions.begin(), actions.end(),
                       [](const Action& a, const Action& b) { return a.planned < b.planned; });
      std::size_t ended = 0;  // readings before this one have ended by then
      for (std::size_t a = 0; a < actions.size(); ++a) {
        while (ended < a &&
               (actions[ended].event != What::reading || actions[ended].planned + s_.nodes.read <= actions[a].planned))
          ++ended;
        if (actions[a].event == What::reading) continue;
        for (std::size_t b = ended; b-- > 0 && actions[a].after == kNone;) {
          if (actions[b].event == What::reading) actions[a].after = numbers_.of(What::reading, actions[b].index);
        }
        add_needs(actions[a], incoming[r]);
      }
    }
  }

  std::int64_t item(const Part& part, const Part& second) const {
    return s_.problem.kind == Kind::alltoall ? Send{{}, {}, {}, part, second}.item_number() : part.lo;
  }

  /// What carries items needs the messages that bring its item; what folds, all that the plan has before it.
  void add_needs(Action& action, const std::vector<std::size_t>& incoming) const {
    const bool sends = action.event == What::send;
    const Part& part = sends ? s_.sends[action.index].part : s_.publications[action.index].part;
    const Part& second = sends ? s_.sends[action.index].second : s_.publications[action.index].second;
    for (const std::size_t m : incoming) {
      const Send& send = s_.sends[m];
      if (available(s_.machine, send) > action.planned) continue;
      if (names_items(s_.problem) && item(send.part, send.second) != item(part, second)) continue;
      action.needs.push_back(m);
    }
  }

  void wake(std::size_t rank, Time time, std::size_t message = kNone) { queue_.push({time, rank, message}); }

  Time arrival(std::size_t m) const {
    return begins_[m] + overhead(index(s_.sends[m].from)) + latency_(s_.sends[m], m);
  }
  bool received_first(std::size_t a, std::size_t b) const {
    if (const Time of_a = arrival(a), of_b = arrival(b); of_a != of_b) return of_a < of_b;
    if (options_.ties == Ties::given) return options_.order.at(a) < options_.order.at(b);
    return options_.ties == Ties::planned ? s_.sends[a] < s_.sends[b] : s_.sends[b] < s_.sends[a];
  }
  std::size_t first_in_pool(const State& state) const {
    return *std::min_element(state.pool.begin(), state.pool.end(),
                             [&](std::size_t a, std::size_t b) { return received_first(a, b); });
  }
  Time planned_action(const State& state) const {
    return state.next == state.actions.size() ? kNever : state.actions[state.next].planned;
  }
  Time planned_reception(const State& state) const {
    return state.pool.empty() ? kNever : reception_begin(s_.machine, s_.sends[first_in_pool(state)]);
  }
  Time planned(const State& state) const { return std::min(planned_action(state), planned_reception(state)); }

  void add(std::vector<Wait>& waits, Reason reason, std::size_t event, Time until) const {
    if (event != kNone) waits.push_back({until, {reason, event}});
  }

  /// All that the next action waits for, most telling first; nothing where it lacks something that has not begun.
  bool waits_of_action(std::size_t rank, std::vector<Wait>& waits) {
    State& state = ranks_[rank];
    if (state.next == state.actions.size()) return false;
    const Action& action = state.actions[state.next];
    for (const std::size_t m : action.needs) {
      const std::size_t reception = numbers_.of(What::reception, m);
      if (begins_[reception] == kNever) return false;
      add(waits, Reason::data, reception, end_of(reception));
    }
    if (action.after != kNone) add(waits, Reason::data, action.after, end_of(action.after));
    if (action.event == What::reading) {
      const std::size_t source = sources_[action.index];
      if (source == kNone) return false;
      const std::size_t publication = numbers_.of(What::publication, source);
      if (begins_[publication] == kNever) {
        readers_[source].push_back(rank);
        return false;
      }
      add(waits, Reason::board, publication, end_of(publication));
    }
    if (action.event == What::send) {
      const Adapter& of_node = adapter(rank);
      if (state.last_send != kNone) add(waits, Reason::send_gap, state.last_send, begins_[state.last_send] + gap(rank));
      if (of_node.last_send != kNone)
        add(waits, Reason::node_gap, of_node.last_send, begins_[of_node.last_send] + s_.nodes.gamma);
    }
    if (options_.mode == Mode::timed) waits.push_back({action.planned, {Reason::planned, kNone}});
    if (length(action.event, rank) > Time{0} && state.busy != kNone)
      add(waits, Reason::busy, state.busy, end_of(state.busy));
    return true;
  }

  bool waits_of_reception(std::size_t rank, std::vector<Wait>& waits) {
    State& state = ranks_[rank];
    if (state.pool.empty()) return false;
    const std::size_t m = first_in_pool(state);
    add(waits, Reason::latency, m, arrival(m));
    if (state.last_reception != kNone)
      add(waits, Reason::receive_gap, state.last_reception, begins_[state.last_reception] + gap(rank));
    if (const std::size_t other = adapter(rank).last_reception; other != kNone)
      add(waits, Reason::node_gap, other, begins_[other] + s_.nodes.gamma);
    if (overhead(rank) > Time{0} && state.busy != kNone) add(waits, Reason::busy, state.busy, end_of(state.busy));
    return true;
  }

  static Time over(const std::vector<Wait>& waits, Time now) {
    for (const Wait& wait : waits) now = std::max(now, wait.until);
    return now;
  }

  void act(std::size_t rank, Time now) {
    if (const Time start = start_of(rank); now < start) return wake(rank, start);
    State& state = ranks_[rank];
    std::vector<Wait> of_action, of_reception;
    for (;;) {
      of_action.clear();
      of_reception.clear();
      const Time action = waits_of_action(rank, of_action) ? over(of_action, now) : kNever;
      const Time reception = waits_of_reception(rank, of_reception) ? over(of_reception, now) : kNever;
      if (const Time next = std::min(action, reception); next > now) {
        if (next != kNever) wake(rank, next);
        return;
      }
      if (reception <= now && (action > now || planned_reception(state) <= planned_action(state))) {
        begin_reception(rank, now, of_reception);
      } else {
        begin_action(rank, now, of_action);
      }
    }
  }

  void begin(std::size_t rank, What event, std::size_t i, Time now, const std::vector<Wait>& waits) {
    const std::size_t number = numbers_.of(event, i);
    begins_[number] = now;
    for (const Wait& wait : waits) {
      if (wait.until != now) continue;
      causes_[number] = wait.cause;
      break;
    }
    State& state = ranks_[rank];
    if (state.busy == kNone || end_of(number) >= end_of(state.busy)) state.busy = number;
  }

  void begin_reception(std::size_t rank, Time now, const std::vector<Wait>& waits) {
    State& state = ranks_[rank];
    const std::size_t m = first_in_pool(state);
    std::erase(state.pool, m);
    begin(rank, What::reception, m, now, waits);
    state.last_reception = adapter(rank).last_reception = numbers_.of(What::reception, m);
  }

  void begin_action(std::size_t rank, Time now, const std::vector<Wait>& waits) {
    State& state = ranks_[rank];
    const Action& action = state.actions[state.next++];
    begin(rank, action.event, action.index, now, waits);
    if (action.event == What::send) {
      state.last_send = adapter(rank).last_send = action.index;
      wake(index(s_.sends[action.index].to), arrival(action.index), action.index);
    } else if (action.event == What::publication) {
      for (const std::size_t reader : readers_[action.index]) wake(reader, now + s_.nodes.publish);
      readers_[action.index].clear();
    }
  }

  Trace conclude() {
    Trace trace;
    std::size_t last = kNone;
    bool stuck = false;
    for (std::size_t number = 0; number < begins_.size(); ++number) {
      stuck = stuck || begins_[number] == kNever;
      const What event = numbers_.which(number).first;
      if (stuck || event == What::send || event == What::publication) continue;
      if (last == kNone || end_of(number) > end_of(last)) last = number;
    }
    trace.finish = stuck ? kNever : last == kNone ? Time{0} : end_of(last);
    for (std::size_t m = 0; m < s_.sends.size(); ++m)
      trace.times.push_back({begins_[m], begins_[numbers_.of(What::reception, m)]});
    const auto boards = begins_.begin() + static_cast<std::ptrdiff_t>(2 * s_.sends.size());
    trace.publication_begins.assign(boards, boards + static_cast<std::ptrdiff_t>(s_.publications.size()));
    trace.reading_begins.assign(boards + static_cast<std::ptrdiff_t>(s_.publications.size()), begins_.end());
    for (std::size_t at = stuck || !options_.critical_path ? kNone : last; at != kNone; at = causes_[at].event) {
      const auto [event, i] = numbers_.which(at);
      trace.critical_path.push_back({i, event, causes_[at].reason, begins_[at]});
    }
    trace.schedule = std::move(s_);
    return trace;
  }

  Schedule s_;
  const Latency& latency_;
  const Options& options_;
  std::vector<State> ranks_;
  std::vector<Adapter> nodes_;
  Numbers numbers_;
  std::vector<Time> begins_;                       ///< by number
  std::vector<Cause> causes_;                      ///< by number
  std::vector<std::size_t> sources_;               ///< by reading: which publication
  std::vector<std::vector<std::size_t>> readers_;  ///< by publication: ranks that wait for it
  std::priority_queue<Wake> queue_;
};

}  // namespace

Trace play_on_cluster(Schedule schedule, const Latency& latency, const Options& options) {
  return ClusterPlay(std::move(schedule), latency, options).play();
}

}  // namespace chasqui::simulate
