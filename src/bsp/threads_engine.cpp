// SPDX-License-Identifier: MIT
// One operating-system thread a processor, on a core of its own where there are enough. A superstep ends with one meeting on the
// board of run: every member reads a line of each, which says what it brings and where the blocks for others lie. Who waits for
// mail spins while there is a core for everybody, then sleeps on the atomic. The caller's thread looks after them: when all wait
// and nothing can wake them, it says who waits where.
#include <algorithm>
#include <condition_variable>
#include <new>
#include <system_error>
#include <thread>

#include "bsp/engines.hpp"
#include "bsp/shared_machine.hpp"
#include "bsp/ticks.hpp"
#include "chasqui/base/cache.hpp"
#include "chasqui/base/clock.hpp"
#include "run/board/board.hpp"
#include "run/call/aligned_buffer.hpp"
#include "run/wait/backoff.hpp"
#include "run/wait/cores.hpp"
#include "threads/pin.hpp"

namespace chasqui::bsp::detail {

namespace {

constexpr std::int64_t kSpinNanoseconds = 50'000;  ///< about what falling asleep and waking cost together
constexpr auto kLook = std::chrono::milliseconds(20);

/// What a thread is doing: even while it runs, odd while it waits; its own cache line.
struct alignas(kApart) Ticket {
  std::atomic<std::uint64_t> value{0};
  std::atomic<std::uint64_t> group{0};   ///< waits in a barrier of this machine; 0: for mail
  std::atomic<std::uint64_t> number{0};  ///< of that barrier
};
constexpr std::uint64_t kFinished = ~std::uint64_t{0};

/// What a member shows to all at the end of a superstep: a line of the board.
struct Shown {
  std::uint64_t step = 0;
  std::uint64_t reach = 0;                 ///< bit m % 64: there may be something for member m
  Block* const* first = nullptr;           ///< by member: the blocks for it
  std::int64_t nanoseconds = 0, work = 0;  ///< of a member that is idle
  std::uint32_t flags = 0;
};
static_assert(sizeof(Shown) <= run::kLinePayload);
constexpr std::uint64_t reach_of(std::int32_t member) { return std::uint64_t{1} << (member % 64); }

/// What all members of a superstep have shown.
struct Seen {
  std::uint64_t differ = 0;  ///< bits in which supersteps differ
  std::uint64_t reach = 0;
  std::int64_t nanoseconds = 0, work = 0;  ///< the most
  std::uint32_t flags = 0;

  void add(const Shown& one, std::uint64_t step) {
    differ |= one.step ^ step;
    reach |= one.reach;
    flags |= one.flags;
    nanoseconds = std::max(nanoseconds, one.nanoseconds);
    work = std::max(work, one.work);
  }
};
constexpr std::uint32_t kNotIdle = kAllIdle;  ///< a flag that members show

/// A machine that synchronises, with a seat for each member. With a core for everybody they meet on a board, else they
/// sleep until the last has come. Invariants:
/// 1. Meeting n of a member uses its outbox n % 2, and nobody reads that of n - 2 any more: all have come to n - 1, and
///    they took what n - 2 had for them before.
/// 2. A block belongs to its receiver as soon as that one has `took` the meeting; until then to the outbox.
/// 3. Rows of meetings up to n are complete as soon as anybody has left n.
/// 4. Before meeting n of the kWindow-th a member closes its window of rows; after it each member adds the rows of all windows to
///    its own sums for a share of the supersteps, so that nobody waits for the books. When anybody has left n + 1, all have done so.
/// 5. Of a superstep in which all are idle everybody has seen what it cost; the first member notes it, before it comes to the
///    next meeting.
struct ThreadGroup final : SharedGroup {
  ThreadGroup(const GroupInfo& description, bool crowded)
      : SharedGroup(description), seats(std::make_unique<Seat[]>(count())) {
    if (crowded) {
      for (auto& one : all) one.resize(count());
      return;
    }
    run::BoardShape shape = run::BoardShape::for_threads(info.members.count);
    shape.wide = 0;
    memory = run::AlignedBuffer(shape.bytes());
    std::memset(memory.data(), 0, shape.zeroed());
    for (std::int32_t member = 0; member < info.members.count; ++member) {
      seat(member).board.emplace(memory.data(), shape, member, info.members.count);
    }
  }
  ~ThreadGroup() override {
    for (std::size_t from = 0; from < count(); ++from) {
      for (const Outbox& box : seats[from].outbox) {
        for (const std::int32_t to : box.used) {
          if (seat(to).took < box.number) Chain::free(box.first[static_cast<std::size_t>(to)]);
        }
      }
    }
  }

  struct Outbox {
    std::vector<Block*> first;  ///< by member
    std::vector<std::int32_t> used;
    std::uint64_t number = 0;

    /// Whom it reaches.
    std::uint64_t fill(std::span<Parcel> parcels, std::size_t members, std::uint64_t meeting) {
      number = meeting;
      if (used.empty() && parcels.empty()) return 0;
      for (const std::int32_t to : used) first[static_cast<std::size_t>(to)] = nullptr;
      used.clear();
      if (parcels.empty()) return 0;
      first.resize(members);
      std::uint64_t reach = 0;
      for (Parcel& parcel : parcels) {
        used.push_back(parcel.to);
        first[static_cast<std::size_t>(parcel.to)] = parcel.blocks.release();
        reach |= reach_of(parcel.to);
      }
      return reach;
    }
  };
  struct Kept {
    Booking row;
    std::uint64_t number = 0;  ///< of the meeting it came to
  };
  static constexpr std::uint64_t kWindow = 256;  ///< meetings
  static constexpr std::uint64_t kRows = 1024;   ///< a member keeps at most; two windows and the rows since

  /// Rows of one member, by number, and the superstep before which they all lie.
  struct Window {
    std::uint64_t from = 0, to = 0;
    std::uint64_t step = 0;
  };

  /// A superstep in which all were idle.
  struct IdleStep {
    std::uint64_t step = 0;
    std::int64_t nanoseconds = 0, work = 0, span = 0;

    void add_to(MachineCosts& to) const {
      if (to.supersteps.size() <= step) to.supersteps.resize(step + 1);
      to.supersteps[step].nanoseconds = nanoseconds;
      to.supersteps[step].work = work;
      to.supersteps[step].span_nanoseconds = span;
    }
  };
  /// Written by the first member, one after another; read by any.
  class IdleSteps {
   public:
    void note(const IdleStep& one) {
      std::size_t next = noted_.load(std::memory_order_relaxed);
      if (next == kFresh) {
        const std::lock_guard lock(mutex_);
        before_.insert(before_.end(), fresh_, fresh_ + kFresh);
        noted_.store(next = 0, std::memory_order_relaxed);
      }
      fresh_[next] = one;
      noted_.store(next + 1, std::memory_order_release);
    }
    /// Those before superstep `end`.
    void add_to(MachineCosts& to, std::uint64_t end) {
      const std::lock_guard lock(mutex_);
      const std::span<const IdleStep> fresh(fresh_, noted_.load(std::memory_order_acquire));
      for (const std::span<const IdleStep> some : {std::span<const IdleStep>(before_), fresh}) {
        for (const IdleStep& one : some) {
          if (one.step < end) one.add_to(to);
        }
      }
    }

   private:
    static constexpr std::size_t kFresh = 64;
    alignas(kApart) std::atomic<std::size_t> noted_{0};
    IdleStep fresh_[kFresh];
    std::mutex mutex_;  ///< guards what follows, and that nobody reads `fresh` while it is emptied
    std::vector<IdleStep> before_;
  };

  struct alignas(run::Board) Seat {
    std::atomic<std::uint64_t> came{0};  ///< meetings that the member has come to
    std::uint64_t took = 0;              ///< meetings whose blocks it has taken
    Outbox outbox[2];
    std::optional<run::Board> board;
    std::atomic<std::uint64_t> written{0};  ///< rows
    std::atomic<std::uint64_t> shared{0};   ///< windows of which the member has added its share
    Window windows[2];                      ///< the last ones, by number
    std::unique_ptr<Kept[]> rows;           ///< the last ones, by superstep
    std::uint64_t met = 0;                  ///< superstep of its last meeting
    std::mutex sums;                        ///< guards what follows: this member's shares
    std::vector<std::pair<std::uint64_t, Superstep>> step_sums;

    /// The first row of a window that is not of a superstep before this one.
    std::uint64_t first_row(const Window& window, std::uint64_t step) const {
      std::uint64_t low = window.from, high = window.to;
      while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        if (rows[middle % kRows].row.row.step < step) low = middle + 1;
        else high = middle;
      }
      return low;
    }
  };
  std::size_t count() const { return static_cast<std::size_t>(info.members.count); }
  Seat& seat(std::int32_t member) { return seats[static_cast<std::size_t>(member)]; }
  /// Has everybody come to this meeting?
  bool complete(std::uint64_t number) {
    for (std::int32_t member = 0; member < info.members.count; ++member) {
      if (seat(member).came.load(std::memory_order_acquire) < number) return false;
    }
    return true;
  }

  /// Rows stay with the member until the window is closed; what finds no room goes to the costs at once. `number`: of the
  /// meeting that will show them.
  void book(Seat& seat, std::span<const Booking> rows, std::uint64_t number, bool keep_rows) {
    if (rows.empty()) return;
    if (seat.rows == nullptr) seat.rows = std::make_unique<Kept[]>(kRows);
    const std::uint64_t closed = (number - 1) / kWindow;  // windows, before that meeting
    // The last window is read until all have come to the meeting after it.
    const bool done = number >= closed * kWindow + 2;
    const std::uint64_t needed = seat.windows[(done ? closed : closed + 1) % 2].to;
    std::uint64_t written = seat.written.load(std::memory_order_relaxed);
    for (const Booking& row : rows) {
      if (written - needed == kRows) {
        const std::lock_guard lock(books);
        merge(costs, row, keep_rows);
        continue;
      }
      seat.rows[written % kRows] = {row, number};
      seat.written.store(++written, std::memory_order_release);
    }
  }

  /// Before the meeting of this number and superstep.
  static void close_window(Seat& seat, std::uint64_t number, std::uint64_t step) {
    if (number % kWindow != 0) return;
    const std::uint64_t window = number / kWindow;
    const std::uint64_t written = seat.written.load(std::memory_order_relaxed);
    seat.windows[window % 2] = {seat.windows[(window + 1) % 2].to, written, step};
  }

  /// After a meeting that closed windows: adds the rows of a share of its supersteps, of all members.
  void add_share(std::int32_t member, std::uint64_t number, bool keep_rows) {
    if (number % kWindow != 0) return;
    const std::uint64_t window = number / kWindow;
    const Window& mine = seat(member).windows[window % 2];
    const std::uint64_t first = seat(member).windows[(window + 1) % 2].step;
    const auto bound = [&](std::int32_t share) {
      return first + (mine.step - first) * static_cast<std::uint64_t>(share) / count();
    };
    const std::uint64_t begin = bound(member), end = bound(member + 1);
    std::vector<Superstep> sums;
    for (std::int32_t other = 0; other < info.members.count; ++other) {
      const Seat& theirs = seat(other);
      const Window& rows = theirs.windows[window % 2];
      for (std::uint64_t i = theirs.first_row(rows, begin); i < rows.to; ++i) {
        const Booking& row = theirs.rows[i % kRows].row;
        if (row.row.step >= end) break;
        sums.resize(end - begin);
        Superstep& sum = sums[row.row.step - begin];
        bsp::merge(sum, row.row, keep_rows);
        sum.span_nanoseconds += row.span;
      }
    }
    if (!sums.empty()) {
      const std::lock_guard lock(seat(member).sums);
      for (std::uint64_t step = begin; step < end; ++step)
        seat(member).step_sums.emplace_back(step, std::move(sums[step - begin]));
    }
    seat(member).shared.store(window, std::memory_order_release);
  }

  /// Ends a superstep in which all were idle.
  void end_idle(std::int32_t member, std::uint64_t step, const Seen& seen, Idle& idle) {
    const std::int64_t now = Ticks::now();
    const std::int64_t span = now - std::exchange(idle.released, now);
    if (member == 0) idle_steps.note({step, seen.nanoseconds, seen.work, Ticks::nanoseconds(span)});
  }

  /// Adds what the members have added up, and the rest: rows of meetings up to `number`, idle supersteps before `idle`. REQUIRES
  /// that all have added up their shares.
  void add_all(MachineCosts& to, std::uint64_t number, std::uint64_t window, std::uint64_t idle, bool keep_rows) {
    idle_steps.add_to(to, idle);
    for (std::size_t member = 0; member < count(); ++member) {
      Seat& seat = seats[member];
      const std::lock_guard lock(seat.sums);
      for (const auto& [step, sum] : seat.step_sums) {
        if (to.supersteps.size() <= step) to.supersteps.resize(step + 1);
        bsp::merge(to.supersteps[step], sum);
      }
      const std::uint64_t written = seat.written.load(std::memory_order_acquire);
      for (std::uint64_t i = seat.windows[window % 2].to; i < written; ++i) {
        const Kept& kept = seat.rows[i % kRows];
        if (kept.number > number) break;
        merge(to, kept.row, keep_rows);
      }
    }
  }

  /// The costs of all meetings up to the last of this member, while others go on. Throws where the machine has failed.
  MachineCosts costs_seen_by(std::int32_t member, const SharedMachine& machine) {
    const bool keep_rows = machine.options().per_processor_costs;
    const std::uint64_t number = seat(member).came.load(std::memory_order_relaxed);
    const std::uint64_t window = number / kWindow;
    for (std::int32_t other = 0; other < info.members.count; ++other) {
      while (seat(other).shared.load(std::memory_order_acquire) < window) {
        machine.throw_if_failed();
        std::this_thread::yield();
      }
    }
    const std::lock_guard lock(books);
    MachineCosts known = costs;
    add_all(known, number, window, seat(member).met, keep_rows);  // invariant 5: all idle ones before it are noted
    return known;
  }

  void close(bool keep_rows) override {
    const std::lock_guard lock(books);
    const std::uint64_t most = ~std::uint64_t{0};
    std::uint64_t window = most;
    for (std::size_t member = 0; member < count(); ++member)
      window = std::min(window, seats[member].shared.load(std::memory_order_acquire));
    add_all(costs, most, window, most, keep_rows);
  }

  run::AlignedBuffer memory;  ///< of the board
  std::unique_ptr<Seat[]> seats;
  IdleSteps idle_steps;
  // Of those who sleep.
  std::vector<Shown> all[2];  ///< of meetings n % 2
  alignas(kApart) std::atomic<std::int32_t> here{0};
  std::atomic<std::uint32_t> generation{0};
};

class ThreadsMachine final : public SharedMachine {
 public:
  ThreadsMachine(std::int32_t processors, const Options& options)
      : SharedMachine(processors, options), tickets(std::make_unique<Ticket[]>(static_cast<std::size_t>(processors))),
        crowded(processors > (options.cores > 0 ? options.cores : run::available_cores())) {
    waiting.resize(static_cast<std::size_t>(processors));
  }

  std::unique_ptr<Ticket[]> tickets;
  const bool crowded;  ///< more threads than cores

  /// Looks for `there` for a while, with a core for everybody; false when it did not come.
  template <typename Condition>
  bool spin(const Condition& there) const {
    if (crowded) return false;
    const std::int64_t end = clock_nanoseconds() + kSpinNanoseconds;
    do {
      for (int i = 0; i < 100; ++i) {
        if (there()) return true;
        run::cpu_relax();
      }
    } while (clock_nanoseconds() < end);
    return false;
  }

  void watch(std::mutex& mutex, std::condition_variable& done, const std::int32_t& running) {
    std::unique_lock lock(mutex);
    while (!done.wait_for(lock, kLook, [&] { return running == 0; })) {
      lock.unlock();
      try {
        if (!failed() && everybody_stuck()) fail(deadlock_report());
      } catch (...) {  // no memory for what it would say
        fail(std::current_exception());
      }
      if (failed()) wake_all();  // again: a thread may have gone to sleep after the first call
      lock.lock();
    }
  }

  void wake_all() noexcept override {
    for (auto group = next_open_group(nullptr); group != nullptr; group = next_open_group(group.get())) {
      auto& generation = static_cast<ThreadGroup&>(*group).generation;
      generation.fetch_add(1, std::memory_order_acq_rel);
      generation.notify_all();
    }
    for (std::int32_t rank = 0; rank < size(); ++rank) {
      Block* mark = sleeping_mark();
      if (mailbox(rank).compare_exchange_strong(mark, nullptr)) mailbox(rank).notify_all();
    }
  }

 private:
  /// Two looks with equal tickets: between them everybody waited all the time, and nothing they wait for was
  /// there.
  bool everybody_stuck() {
    std::vector<std::uint64_t> seen(static_cast<std::size_t>(size()));
    bool anyone_waits = false;
    for (std::size_t rank = 0; rank < seen.size(); ++rank) {
      seen[rank] = tickets[rank].value.load(std::memory_order_acquire);
      if (seen[rank] % 2 == 0) return false;
      anyone_waits = anyone_waits || seen[rank] != kFinished;
    }
    if (!anyone_waits) return false;
    for (std::size_t rank = 0; rank < seen.size(); ++rank) {
      if (seen[rank] == kFinished) continue;
      const std::uint64_t id = tickets[rank].group.load(std::memory_order_relaxed);
      const auto group = open_group(id);
      const bool satisfied = id == 0 ? !asleep(static_cast<std::int32_t>(rank))
                                     : group == nullptr || static_cast<ThreadGroup&>(*group).complete(
                                                               tickets[rank].number.load(std::memory_order_relaxed));
      if (satisfied) return false;
    }
    for (std::size_t rank = 0; rank < seen.size(); ++rank) {
      if (tickets[rank].value.load(std::memory_order_acquire) != seen[rank]) return false;
    }
    return true;
  }

  SharedGroup* make_group(const GroupInfo& info) override { return new ThreadGroup(info, crowded); }
};

class ThreadEndpoint final : public Endpoint {
 public:
  ThreadEndpoint(ThreadsMachine& machine, std::int32_t rank)
      : machine_(machine), rank_(rank), ticket_(machine.tickets[static_cast<std::size_t>(rank)]) {}

  std::int32_t rank() const override { return rank_; }
  std::int32_t size() const override { return machine_.size(); }
  const Options& options() const override { return machine_.options(); }

  void post(std::int32_t to, BlockPtr block) override {
    if (machine_.push(to, block.release())) machine_.mailbox(to).notify_one();
  }

  Block* take() override { return machine_.pop_all(rank_); }

  void await(const Waiting& why) override {
    machine_.throw_if_failed();
    std::atomic<Block*>& box = machine_.mailbox(rank_);
    if (machine_.spin([&] { return box.load(std::memory_order_acquire) != nullptr; })) return;
    begin_wait(why, 0, 0);
    if (machine_.mark_asleep(rank_)) {
      while (!machine_.failed() && machine_.asleep(rank_))
        box.wait(SharedMachine::sleeping_mark(), std::memory_order_acquire);
    }
    end_wait();
    machine_.throw_if_failed();
  }

  GroupPtr open(const GroupInfo& info) override { return machine_.open(info); }

  std::uint32_t meet(GroupState& state, const Arrival& arrival, std::span<Parcel> parcels, Blocks& in,
                     const Waiting& why) override {
    machine_.throw_if_failed();
    auto& group = static_cast<ThreadGroup&>(state);
    ThreadGroup::Seat& seat = group.seat(arrival.member);
    const std::uint64_t number = seat.came.load(std::memory_order_relaxed) + 1;
    const bool keep_rows = options().per_processor_costs;
    ThreadGroup::Outbox& outbox = seat.outbox[number % 2];
    const std::uint64_t reach = outbox.fill(parcels, group.count(), number);
    Idle* const idle = keep_rows ? nullptr : arrival.idle;
    group.book(seat, arrival.rows, number, keep_rows);
    ThreadGroup::close_window(seat, number, arrival.step);
    seat.came.store(number, std::memory_order_release);
    Shown shown{arrival.step, reach, outbox.first.data(), 0, 0, arrival.flags};
    if (idle == nullptr) shown.flags |= kNotIdle;
    else shown.nanoseconds = idle->nanoseconds, shown.work = idle->work;
    const Seen seen = machine_.crowded ? sleep_in(group, shown, arrival.member, number, in, why)
                                       : meet_on(group, shown, arrival.member, number, in, why);
    seat.took = number;
    seat.met = arrival.step;
    group.add_share(arrival.member, number, keep_rows);
    if ((seen.flags & kNotIdle) == 0) group.end_idle(arrival.member, arrival.step, seen, *idle);
    return seen.flags ^ kNotIdle;
  }

  void allocate(Segment& segment) override { segment.data = new std::byte[segment.bytes + 1]; }
  void release(Segment& segment) noexcept override { delete[] segment.data; }
  void report(GroupState& group, std::span<const Booking> rows) override {
    machine_.report(static_cast<ThreadGroup&>(group).info, rows);
  }
  Ledger ledger() override {
    std::optional<MachineCosts> whole;
    if (const auto group = machine_.open_group(GroupInfo{}.id); group != nullptr)
      whole = static_cast<ThreadGroup&>(*group).costs_seen_by(rank_, machine_);
    return machine_.ledger(0, std::move(whole));
  }

  void finish() { ticket_.value.store(kFinished, std::memory_order_release); }

 private:
  /// Takes the blocks that others have shown for this member. `seen`: what all have shown together, at(member): what that one has.
  template <typename At>
  static void take(const ThreadGroup& group, std::int32_t me, const Seen& seen, const At& at, Blocks& in) {
    const std::int32_t members = group.info.members.count;
    if (seen.differ != 0) [[unlikely]] {
      Agreement agreement;
      for (std::int32_t member = 0; member < members; ++member) agreement.add(at(member).step, member, 0);
      agreement.agreed(group.info.members);
    }
    if ((seen.reach & reach_of(me)) == 0) return;
    const auto for_each_sender = [&](const auto& visit) {
      for (std::int32_t member = 0; member < members; ++member) {
        if ((at(member).reach & reach_of(me)) != 0) visit(at(member).first + me);
      }
    };
    // What all have for this member travels at the same time: where their blocks lie, then the first of each.
    for_each_sender([](Block* const* first) { ask_for_line(first); });
    for_each_sender([](Block* const* first) { ask_for_line(*first); });
    for_each_sender([&](Block* const* first) {
      for (Block* block = *first; block != nullptr; block = block->next) {
        ask_for_line(block->payload.data());
        in.emplace_back(block);
      }
    });
  }

  template <typename Condition>
  void wait_for(const Condition& there, const ThreadGroup& group, std::uint64_t number, const Waiting& why) {
    bool waits = false;
    for (run::Backoff backoff(false, run::Backoff::looks(false)); !there();) {
      if (!backoff.pause()) continue;
      if (!std::exchange(waits, true)) begin_wait(why, group.info.id, number);
      machine_.throw_if_failed();
    }
    if (waits) end_wait();
  }

  /// An all-gather of a line each, read where it lies.
  Seen meet_on(ThreadGroup& group, const Shown& shown, std::int32_t me, std::uint64_t number, Blocks& in,
               const Waiting& why) {
    static const run::Signature kMeeting =
        run::signature_of({.kind = Kind::allgather, .count = 1, .element = sizeof(Shown)});
    run::Board& board = *group.seat(me).board;
    board.begin(kMeeting, run::Method::slots);
    if (!board.may_publish()) [[unlikely]]
      wait_for([&] { return board.may_publish(); }, group, number, why);
    board.publish(me, &shown, sizeof shown);
    const std::int32_t members = group.info.members.count;
    if (members > 2) {  // between two a look that comes too early costs less than a pause
      board.look_at_all().wait();
      for (std::int32_t slot = 0; slot < members; ++slot) board.fetch(slot, run::Place::first);
    }
    // First the numbers alone, as a barrier does: so all lines that are still on their way travel at the same time.
    int in_vain = 0;
    for (std::int32_t slot = me, left = members; --left > 0;) {
      if (++slot == members) slot = 0;
      if (!board.published(slot)) wait_for([&] { return ++in_vain, board.published(slot); }, group, number, why);
    }
    const auto at = [&](std::int32_t slot) -> const Shown& {
      return *std::launder(reinterpret_cast<const Shown*>(board.payload(slot, run::Place::first)));
    };
    Seen seen;
    for (std::int32_t slot = 0; slot < members; ++slot) seen.add(slot == me ? shown : at(slot), shown.step);
    take(group, me, seen, at, in);
    board.look_at_all().learn(in_vain);
    board.everybody_began();
    board.finish();
    return seen;
  }

  Seen sleep_in(ThreadGroup& group, const Shown& shown, std::int32_t me, std::uint64_t number, Blocks& in,
                const Waiting& why) {
    std::vector<Shown>& all = group.all[number % 2];
    all[static_cast<std::size_t>(me)] = shown;
    const std::uint32_t generation = group.generation.load(std::memory_order_acquire);
    if (group.here.fetch_add(1, std::memory_order_acq_rel) + 1 == group.info.members.count) {
      group.here.store(0, std::memory_order_relaxed);
      group.generation.store(generation + 1, std::memory_order_release);
      group.generation.notify_all();
    } else {
      begin_wait(why, group.info.id, number);
      while (!machine_.failed() && group.generation.load(std::memory_order_acquire) == generation)
        group.generation.wait(generation, std::memory_order_acquire);
      end_wait();
      machine_.throw_if_failed();
    }
    Seen seen;
    for (const Shown& one : all) seen.add(one, shown.step);
    take(
        group, me, seen, [&](std::int32_t member) { return all[static_cast<std::size_t>(member)]; }, in);
    return seen;
  }

  void begin_wait(const Waiting& why, std::uint64_t group, std::uint64_t number) {
    machine_.waiting[static_cast<std::size_t>(rank_)] = why;
    ticket_.group.store(group, std::memory_order_relaxed);
    ticket_.number.store(number, std::memory_order_relaxed);
    ticket_.value.store(ticket_.value.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
  }
  void end_wait() { ticket_.value.store(ticket_.value.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst); }

  ThreadsMachine& machine_;
  std::int32_t rank_;
  Ticket& ticket_;
};

/// Where there is no memory to say so, that is what it says.
std::exception_ptr no_thread(std::int32_t rank, std::int32_t processors, const char* why) noexcept {
  try {
    throw MachineError(
        Fault::resources,
        fmt::format("thread {} of {}: {}; use fewer processors or Engine::virtual_processors", rank, processors, why));
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace

Ledger run_threads(std::int32_t processors, const Options& options, const Body& body) {
  ThreadsMachine machine(processors, options);
  std::mutex mutex;
  std::condition_variable done;
  std::int32_t running = 0;
  const std::int64_t begin = clock_nanoseconds();
  std::vector<std::thread> workers;
  workers.reserve(static_cast<std::size_t>(processors));
  const chasqui::threads::CoreClaim cores =
      machine.crowded ? chasqui::threads::CoreClaim() : chasqui::threads::CoreClaim(processors);
  const auto work = [&](std::int32_t rank) {
    cores.pin_this_thread(rank);
    ThreadEndpoint endpoint(machine, rank);
    try {
      Processor processor(endpoint);
      body(processor);
    } catch (const Stopped&) {
    } catch (...) {
      machine.fail(std::current_exception());
    }
    machine.finished[static_cast<std::size_t>(rank)] = 1;
    endpoint.finish();
    const std::lock_guard lock(mutex);
    if (--running == 0) done.notify_one();
  };
  running = processors;
  for (std::int32_t rank = 0; rank < processors; ++rank) {
    try {
      workers.emplace_back(work, rank);
    } catch (const std::exception& error) {  // no memory, or no more threads
      machine.fail(no_thread(rank, processors, error.what()));
      const std::lock_guard lock(mutex);
      running -= processors - rank;
      break;
    }
  }
  machine.watch(mutex, done, running);
  for (std::thread& thread : workers) thread.join();
  machine.rethrow_failure();
  return machine.ledger(static_cast<double>(clock_nanoseconds() - begin) * 1e-9);
}

}  // namespace chasqui::bsp::detail
