// SPDX-License-Identifier: MIT
// The discrete-event engine. All that happens at one instant is gathered first (arrivals enter the pools), then every rank
// concerned acts: a reception or an action begins if its time has come, otherwise the rank is woken when it will.
// With exact latency the play is the plan (adversary.md, Theorem 2).
#include <algorithm>
#include <utility>

#include "chasqui/base/cache.hpp"
#include "chasqui/simulate/simulate.hpp"
#include "simulate/batch.hpp"
#include "simulate/cluster.hpp"
#include "simulate/critical_path.hpp"
#include "simulate/event_queue.hpp"
#include "simulate/large_pages.hpp"
#include "simulate/limits.hpp"
#include "simulate/program.hpp"

namespace chasqui::simulate {
namespace {

constexpr std::uint32_t kNoMessage = 0xffffffff;
constexpr Time kLongAgo{-(std::int64_t{1} << 62)};

class Engine {
 public:
  Engine(Program program, const Latency& latency, const Options& options)
      : program_(std::move(program)), latency_(latency), options_(options), o_(program_.schedule().machine.o),
        gap_(program_.schedule().machine.gap()), batch_(program_.ranks()) {
    reserve_on_large_pages(ranks_, static_cast<std::size_t>(program_.ranks()));
    ranks_.resize(static_cast<std::size_t>(program_.ranks()));
    if (!program_.single()) progress_.resize(ranks_.size());
    if (program_.schedule().problem.kind == Kind::sum) additions_end_.resize(ranks_.size(), kLongAgo);
    if (program_.all_known()) {
      make_room();
      for (std::int32_t r = 0; r < program_.ranks(); ++r) open(Rank{r});
      program_.forget_actions();
    }
    for (const Straggler& straggler : options.stragglers) validate(straggler, program_.ranks());
  }

  Trace play() {
    for (const Rank rank : program_.starters()) wake(rank, start_of(rank));
    while (!queue_.empty()) {
      EventQueue::Chunk* const events = queue_.take();
      const Time now = queue_.time();
      require_in_time(now);
      batch_.gather(events);
      queue_.recycle(events);
      batch_.for_each_block([&](std::uint32_t first, std::uint32_t end) {
        note_arrivals(first, end);
        for (std::uint32_t i = first; i < end; ++i) {
          look_ahead_to_action(i);
          const Rank rank = batch_.entry(i).rank;
          if (!state(rank).concerned) continue;  // it has acted at this instant
          state(rank).concerned = false;
          act(rank, now);
        }
      });
    }
    return conclude();
  }

 private:
  static constexpr std::uint32_t kArrivalsAhead = 16;
  static constexpr std::uint32_t kActionsAhead = 8;

  struct State {
    std::uint32_t next_action = 0;
    std::uint32_t end_action = 0;
    std::uint32_t pool = kNoMessage;  // the first message that waits; the others are in a heap below it
    std::uint32_t last_received = kNoMessage;
    std::uint32_t waiting : 30 = 0;
    std::uint32_t concerned : 1 = false;
    std::uint32_t acted : 1 = false;  // an action has begun: the one before next_action
  };
  static_assert(sizeof(State) == 20);

  /// What is under a message in the heap of those that wait with it.
  struct Below {
    std::uint32_t left = kNoMessage;
    std::uint32_t right = kNoMessage;
  };

  /// What a rank has received, where that takes more than a bit.
  struct Progress {
    std::uint32_t prefix = 0;    // so many of the first planned receptions are in
    std::uint32_t received = 0;  // receptions in all
  };

  State& state(Rank rank) { return ranks_[static_cast<std::size_t>(rank.index)]; }
  const Straggler* straggler(Rank rank) const {
    for (const Straggler& candidate : options_.stragglers) {
      if (candidate.rank == rank) return &candidate;
    }
    return nullptr;
  }
  Time start_of(Rank rank) const { return straggler(rank) ? straggler(rank)->start : Time{0}; }
  Time overhead(Rank rank) const { return straggler(rank) ? straggler(rank)->o : o_; }
  Time gap(Rank rank) const { return straggler(rank) ? std::max(straggler(rank)->g, straggler(rank)->o) : gap_; }

  void make_room() {
    const std::size_t messages = program_.schedule().sends.size();
    if (times_.empty()) reserve_on_large_pages(times_, messages);
    times_.resize(messages, {kNever, kNever});
    add_begins_.resize(program_.schedule().adds.size(), kNever);
    received_.resize(program_.receptions(), false);
  }

  void open(Rank rank) {
    const auto actions = program_.actions_of(rank);
    state(rank).next_action = actions.first;
    state(rank).end_action = actions.end;
  }

  // Ranks and messages lie anywhere in the block's memory, and the next block's elsewhere: ask for them in time.
  void look_ahead_to_arrival(std::uint32_t i) {
    if (i + kArrivalsAhead >= batch_.size()) return;
    const Batch::Entry& entry = batch_.entry(i + kArrivalsAhead);
    ask_to_write_line(&state(entry.rank));
    if (entry.message != Event::kWake) ask_to_write_line(&times_[entry.message]);
  }
  void look_ahead_to_action(std::uint32_t i) {
    if (i + kActionsAhead >= batch_.size()) return;
    const State& of_rank = state(batch_.entry(i + kActionsAhead).rank);
    const std::uint32_t first = of_rank.next_action;
    if (first >= of_rank.end_action || of_rank.end_action > times_.size()) return;
    ask_to_write_line(&times_[first]);
    for (std::uint32_t m = first; m < std::min(first + 8, of_rank.end_action); m += 2) {  // 64 bytes have two
      ask_for_line(&program_.send(m));
    }
  }

  void note_arrivals(std::uint32_t first, std::uint32_t end) {
    for (std::uint32_t i = first; i < end; ++i) {
      look_ahead_to_arrival(i);
      const Batch::Entry& entry = batch_.entry(i);
      if (entry.message != Event::kWake) enter_pool(entry.rank, entry.message);
      state(entry.rank).concerned = true;
    }
  }

  void enter_pool(Rank rank, std::uint32_t message) {
    State& of_rank = state(rank);
    if (of_rank.waiting++ == 0) {
      of_rank.pool = message;
      return;
    }
    below_.resize(std::max(below_.size(), times_.size()));
    of_rank.pool = merged(of_rank.pool, message);
  }

  /// The root of two skew heaps made one. Time: O(log n) on average over all calls.
  std::uint32_t merged(std::uint32_t a, std::uint32_t b) {
    std::uint32_t root = kNoMessage;
    std::uint32_t* place = &root;
    while (a != kNoMessage && b != kNoMessage) {
      if (is_received_first(b, a)) std::swap(a, b);
      *place = a;
      Below& below = below_[a];
      a = std::exchange(below.right, below.left);
      place = &below.left;
    }
    *place = a == kNoMessage ? b : a;
    return root;
  }

  /// By arrival; of those that come together the planned one first, or the other way round.
  bool is_received_first(std::uint32_t a, std::uint32_t b) const {
    const Time of_a = arrival(a), of_b = arrival(b);
    return of_a != of_b ? of_a < of_b : goes_first(a, b);
  }

  /// Of two messages that arrive together.
  bool goes_first(std::uint32_t a, std::uint32_t b) const {
    switch (options_.ties) {
      case Ties::planned: return program_.send(a) < program_.send(b);
      case Ties::reversed: return program_.send(b) < program_.send(a);
      case Ties::given: return options_.order.at(a) < options_.order.at(b);
    }
    return false;
  }

  Time arrival(std::uint32_t message) const {
    const Send& send = program_.send(message);
    return times_[message].send + overhead(send.from) + latency_(send, message);
  }

  void wake(Rank rank, Time time) { queue_.push({time, rank, Event::kWake}); }

  bool has(const State& of_rank, Rank rank, std::uint32_t action) const {
    if (program_.single()) return of_rank.last_received != kNoMessage || rank == program_.schedule().problem.root;
    const std::int32_t need = program_.needs(action);
    if (need == Program::kNothing) return true;
    if (program_.needs_prefix()) {
      return progress_[static_cast<std::size_t>(rank.index)].prefix >= static_cast<std::uint32_t>(need);
    }
    if (need == Program::kImpossible) return false;
    const auto first = received_.begin() + program_.first_reception(rank) + need;
    return std::find(first, first + 1 + program_.needs_also(action), false) == first + 1 + program_.needs_also(action);
  }

  Time planned_action(const State& of_rank) const {
    const std::uint32_t action = program_.action(of_rank.next_action);
    return action & Program::kAdd ? program_.schedule().adds[action & ~Program::kAdd].begin
                                  : program_.send(action).begin;
  }
  Time planned_reception(const State& of_rank) const {
    return reception_begin(program_.schedule().machine, program_.send(of_rank.pool));
  }

  /// When the rank last began to send. A sum sends once, after all its additions, so the last action tells.
  Time last_send(const State& of_rank) const {
    if (!of_rank.acted) return kLongAgo;
    const std::uint32_t action = program_.action(of_rank.next_action - 1);
    return action & Program::kAdd ? kLongAgo : times_[action].send;
  }
  Time last_reception(const State& of_rank) const {
    return of_rank.last_received == kNoMessage ? kLongAgo : times_[of_rank.last_received].reception;
  }

  /// When the next action of the rank may begin; kNever if it lacks something.
  Time next_action(const State& of_rank, Rank rank, Time now, Time o) const {
    if (of_rank.next_action == of_rank.end_action) return kNever;
    const std::uint32_t action = program_.action(of_rank.next_action);
    if (!has(of_rank, rank, action)) return kNever;
    const bool addition = action & Program::kAdd;
    Time time = std::max(now, actions_end(of_rank, rank, o));
    if (options_.mode == Mode::timed) time = std::max(time, planned_action(of_rank));
    if (!addition) time = std::max(time, last_send(of_rank) + gap(rank));
    if (addition || o > Time{0})
      time = std::max(time, last_reception(of_rank) + o);  // what takes no time fits anywhere
    return time;
  }

  Time next_reception(const State& of_rank, Rank rank, Time now, Time o) const {
    if (of_rank.waiting == 0) return kNever;
    Time time = std::max(now, last_reception(of_rank) + gap(rank));
    if (o > Time{0}) time = std::max(time, actions_end(of_rank, rank, o));
    return time;
  }

  /// When the processor is done with the actions it has begun.
  Time actions_end(const State& of_rank, Rank rank, Time o) const {
    const Time sends = last_send(of_rank) + o;
    return additions_end_.empty() ? sends : std::max(sends, additions_end_[static_cast<std::size_t>(rank.index)]);
  }

  void act(Rank rank, Time now) {
    if (const Time start = start_of(rank); now < start) return wake(rank, start);
    if (!program_.known(rank)) {
      program_.learn(rank);
      make_room();
      open(rank);
    }
    State& of_rank = state(rank);
    const Time o = overhead(rank);
    for (;;) {
      const Time action = next_action(of_rank, rank, now, o);
      const Time reception = next_reception(of_rank, rank, now, o);
      const Time next = std::min(action, reception);
      if (next > now) {
        if (next == kNever) return;
        if (more_to_come(of_rank, rank)) return wake(rank, next);
        require_in_time(next);
        now = next;  // nothing can interfere any more: the rank runs ahead
      }
      // If both may begin now, the one that was planned first does, and the other is looked at again.
      if (reception <= now && (action > now || planned_reception(of_rank) <= planned_action(of_rank))) {
        begin_reception(rank, of_rank, now);
      } else {
        begin_action(rank, of_rank, now);
      }
    }
  }

  /// Whether a message for this rank is still under way or unsent.
  bool more_to_come(const State& of_rank, Rank rank) const {
    if (program_.single()) return of_rank.last_received == kNoMessage && rank != program_.schedule().problem.root;
    return progress_[static_cast<std::size_t>(rank.index)].received < program_.receptions_of(rank);
  }

  void begin_reception(Rank rank, State& of_rank, Time now) {
    const std::uint32_t message = of_rank.pool;
    if (--of_rank.waiting > 0) of_rank.pool = merged(below_[message].left, below_[message].right);
    of_rank.last_received = message;
    times_[message].reception = now;
    last_event_ = std::max(last_event_, now + overhead(rank));
    if (program_.single()) return;
    Progress& progress = progress_[static_cast<std::size_t>(rank.index)];
    ++progress.received;
    const std::uint32_t first = program_.first_reception(rank);
    received_[first + program_.reception_number(message)] = true;
    while (progress.prefix < progress.received && received_[first + progress.prefix]) ++progress.prefix;
  }

  void begin_action(Rank rank, State& of_rank, Time now) {
    const std::uint32_t action = program_.action(of_rank.next_action++);
    of_rank.acted = true;
    if (action & Program::kAdd) {
      const std::uint32_t add = action & ~Program::kAdd;
      const Time end = now + Time{program_.schedule().adds[add].count};
      add_begins_[add] = now;
      additions_end_[static_cast<std::size_t>(rank.index)] = end;
      last_event_ = std::max(last_event_, end);
      return;
    }
    times_[action].send = now;
    const Send& send = program_.send(action);
    queue_.push({now + overhead(rank) + latency_(send, action), send.to, action});
  }

  Trace conclude() {
    Trace trace;
    bool stuck = false;
    for (const MessageTimes& message : times_) stuck = stuck || message.reception == kNever;
    for (const Time begin : add_begins_) stuck = stuck || begin == kNever;
    trace.finish = stuck ? kNever : last_event_;
    trace.schedule = program_.take_schedule();
    trace.times = std::move(times_);
    trace.add_begins = std::move(add_begins_);
    return trace;
  }

  Program program_;
  const Latency& latency_;
  const Options& options_;
  Time o_;
  Time gap_;
  std::vector<State> ranks_;
  std::vector<Progress> progress_;
  std::vector<Time> additions_end_;  // sums only
  std::vector<MessageTimes> times_;
  std::vector<Below> below_;  // made when two messages first wait at one rank
  std::vector<Time> add_begins_;
  std::vector<bool> received_;
  EventQueue queue_;
  Batch batch_;
  Time last_event_{0};
};

/// Per item of a broadcast: from its first send or publication to its last availability.
void measure_delays(Trace& trace) {
  const Problem& problem = trace.schedule.problem;
  if (problem.kind != Kind::broadcast || problem.items > static_cast<std::int64_t>(trace.times.size())) return;
  const auto items = static_cast<std::size_t>(problem.items);
  std::vector<Time> first(items, kNever);
  std::vector<Time> last(items, Time{0});
  for (std::size_t m = 0; m < trace.times.size(); ++m) {
    const auto item = static_cast<std::size_t>(trace.schedule.sends[m].part.lo);
    if (item >= items) continue;
    first[item] = std::min(first[item], trace.times[m].send);
    last[item] = std::max(
        last[item], trace.times[m].reception == kNever ? kNever : trace.times[m].reception + trace.schedule.machine.o);
  }
  for (std::size_t r = 0; r < trace.reading_begins.size(); ++r) {
    const auto item = static_cast<std::size_t>(trace.schedule.readings[r].part.lo);
    const Time begin = trace.reading_begins[r];
    if (item < items) last[item] = std::max(last[item], begin == kNever ? kNever : begin + trace.schedule.nodes.read);
  }
  for (std::size_t p = 0; p < trace.publication_begins.size(); ++p) {
    const auto item = static_cast<std::size_t>(trace.schedule.publications[p].part.lo);
    if (item < items) first[item] = std::min(first[item], trace.publication_begins[p]);
  }
  trace.item_delay.reserve(items);
  for (std::size_t i = 0; i < items; ++i) trace.item_delay.push_back(last[i] == kNever ? kNever : last[i] - first[i]);
}

/// On the postal machine a message occupies its ports for a step each; elsewhere overheads and additions count.
void measure_utilisation(Trace& trace) {
  const LogP& machine = trace.schedule.machine;
  if (trace.finish == kNever || trace.finish == Time{0}) return;
  const double per_message = 2 * static_cast<double>(machine.o > Time{0} ? machine.o.ticks : 1);
  double busy = per_message * static_cast<double>(trace.times.size());
  for (const Add& add : trace.schedule.adds) busy += static_cast<double>(add.count);
  const Nodes& nodes = trace.schedule.nodes;
  busy += static_cast<double>(nodes.publish.ticks) * static_cast<double>(trace.schedule.publications.size()) +
          static_cast<double>(nodes.read.ticks) * static_cast<double>(trace.schedule.readings.size());
  const double ports = machine.o > Time{0} ? 1 : 2;
  trace.utilisation = busy / (ports * static_cast<double>(machine.P) * static_cast<double>(trace.finish.ticks));
}

Trace run(Program program, const Latency& latency, const Options& options) {
  Trace trace = Engine(std::move(program), latency, options).play();
  if (options.critical_path && trace.finish != kNever) trace.critical_path = critical_path(trace, latency, options);
  return trace;
}

Trace measured(Trace trace) {
  measure_delays(trace);
  measure_utilisation(trace);
  return trace;
}

}  // namespace

Trace simulate(Schedule schedule, const Latency& latency, const Options& options) {
  if (!schedule.nodes.empty()) return measured(play_on_cluster(std::move(schedule), latency, options));
  return measured(run(Program(std::move(schedule)), latency, options));
}

Trace simulate(const LogP& machine, const Problem& problem, const std::function<LocalForm(Rank)>& local,
               const Latency& latency, const Options& options) {
  return measured(run(Program(machine, problem, local), latency, options));
}

}  // namespace chasqui::simulate
