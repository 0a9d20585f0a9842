// SPDX-License-Identifier: MIT
// One operating-system thread a processor, on a core of its own where there are enough. A superstep ends with an all-gather on
// the board of run: every member sees what all bring, and where the blocks for it lie. Many members that had nothing for each
// other last time first ask, by an all-reduce in groups, whether anybody has something now. Who waits for mail spins while there is a core for everybody, then sleeps on the
// atomic. The caller's thread looks after them: when all wait and nothing can wake them, it says who waits where.
#include <cmath>
#include <condition_variable>
#include <new>
#include <shared_mutex>
#include <system_error>
#include <thread>

#include "bsp/engines.hpp"
#include "bsp/shared_machine.hpp"
#include "chasqui/base/clock.hpp"
#include "run/board/board.hpp"
#include "run/board/collectives.hpp"
#include "run/board/slots.hpp"
#include "run/wait/backoff.hpp"
#include "run/wait/cores.hpp"
#include "threads/pin.hpp"

namespace chasqui::bsp::detail {

namespace {

constexpr std::int64_t kSpinNanoseconds = 50'000;  ///< about what falling asleep and waking cost together
constexpr auto kLook = std::chrono::milliseconds(20);

/// What a thread is doing: even while it runs, odd while it waits; its own cache line.
struct alignas(64) Ticket {
  std::atomic<std::uint64_t> value{0};
  std::atomic<std::uint64_t> group{0};   ///< waits in a barrier of this machine; 0: for mail
  std::atomic<std::uint64_t> number{0};  ///< of that barrier
};
constexpr std::uint64_t kFinished = ~std::uint64_t{0};

/// What a member shows to all at the end of a superstep: a line of the board.
struct Shown {
  std::uint64_t step = 0;
  std::uint32_t flags = 0;
  std::uint64_t reach = 0;        ///< bit m % 64: there may be something for member m
  Block* const* first = nullptr;  ///< by member: the blocks for it
};
static_assert(sizeof(Shown) <= run::kLinePayload);
constexpr std::uint64_t reach_of(std::int32_t member) { return std::uint64_t{1} << (member % 64); }

/// What all members of a superstep bring, folded: enough where nobody has anything for anybody. With it travels what the
/// superstep before cost, where that was work alone: one member books it for all.
struct Folded {
  static constexpr std::uint32_t kOdd = std::uint32_t{1} << 31;  ///< a flag: some row does not fit in here

  std::uint64_t low = 0, high = 0;                 ///< the least and the last superstep, and who came to it
  std::int32_t low_member = -1, high_member = -1;  ///< -1: nobody
  std::uint32_t flags = 0;
  std::uint32_t span = 0;  ///< of the superstep before, in nanoseconds, as its first member says
  std::uint64_t reach = 0;
  std::int64_t nanoseconds = 0, work = 0;  ///< of the superstep before, the most

  Folded() = default;
  Folded(const Arrival& arrival, std::uint64_t to)
      : low(arrival.step), high(arrival.step), low_member(arrival.member), high_member(arrival.member),
        flags(arrival.flags), reach(to) {
    if (arrival.rows.size() != 1 || !is_work_alone(arrival.rows[0], arrival.step)) {
      flags |= kOdd;
      return;
    }
    span = static_cast<std::uint32_t>(arrival.rows[0].span);
    nanoseconds = arrival.rows[0].row.nanoseconds;
    work = arrival.rows[0].row.work;
  }

  friend Folded operator+(Folded a, const Folded& b) noexcept {
    if (b.low < a.low) a.low = b.low, a.low_member = b.low_member;
    if (b.high > a.high) a.high = b.high, a.high_member = b.high_member;
    a.flags |= b.flags;
    a.reach |= b.reach;
    a.span = std::max(a.span, b.span);
    a.nanoseconds = std::max(a.nanoseconds, b.nanoseconds);
    a.work = std::max(a.work, b.work);
    return a;
  }

  bool all_work_alone() const { return (flags & kOdd) == 0; }
  /// The row that stands for all of them.
  Booking booking() const {
    Booking all;
    all.row.step = high - 1;
    all.row.nanoseconds = nanoseconds;
    all.row.work = work;
    all.span = span;
    return all;
  }

 private:
  static bool is_work_alone(const Booking& booking, std::uint64_t step) {
    const Row& row = booking.row;
    const std::int64_t messages = row.sent_messages | row.received_messages | row.sent_blocks | row.received_blocks;
    return row.step + 1 == step && messages == 0 && booking.span >= 0 && booking.span < std::int64_t{1} << 32;
  }
};
static_assert(sizeof(Folded) <= run::kLinePayload);

/// From so many members on they fold in groups first: three or four lines to read instead of eight or more. Timed on 16 cores,
/// together with all else that sync() does (docs/bsp.md); other numbers were not.
constexpr std::int32_t kManyMembers = 9;

/// A machine that synchronises, with a seat for each member. With a core for everybody they meet on a board, else they
/// sleep until the last has come. Invariants:
/// 1. Meeting n of a member uses its outbox n % 2, and nobody reads that of n - 2 any more: all have come to n - 1, and
///    they took what n - 2 had for them before.
/// 2. A block belongs to its receiver as soon as that one has `took` the meeting; until then to the outbox.
/// 3. Rows of meetings up to n are complete as soon as anybody has left n. A meeting that knows only afterwards who books the
///    rows leaves them to the next one.
/// 4. Before meeting n of the kWindow-th a member closes its window of rows; after it each member adds the rows of all windows to
///    the costs for a share of the supersteps, so that nobody waits for the books. When anybody has left n + 1, all have done so.
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
      seat(member).all.resize(count());
      if (folds()) seat(member).board->arrange({static_cast<int>(std::lround(std::sqrt(count()))), 0, 0});
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
      for (const std::int32_t to : used) first[static_cast<std::size_t>(to)] = nullptr;
      used.clear();
      number = meeting;
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

  struct alignas(64) Seat {
    std::atomic<std::uint64_t> came{0};  ///< meetings that the member has come to
    std::uint64_t took = 0;              ///< meetings whose blocks it has taken
    Outbox outbox[2];
    std::vector<Shown> all;  ///< what everybody showed at the last
    std::optional<run::Board> board;
    std::optional<Booking> folded;          ///< the row for all that the next meeting will show
    bool quiet = false;                     ///< nobody had anything for anybody at the last meeting
    std::atomic<std::uint64_t> written{0};  ///< rows
    std::atomic<std::uint64_t> shared{0};   ///< windows of which the member has added its share
    Window windows[2];                      ///< the last ones, by number
    std::unique_ptr<Kept[]> rows;           ///< the last ones, by superstep

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
  bool folds() const { return info.members.count >= kManyMembers; }
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
    // Rows that were left to the first meeting of the window are of supersteps before it.
    const std::uint64_t begin = member == 0 ? 0 : bound(member), end = bound(member + 1);
    {
      const std::lock_guard lock(books);
      if (costs.supersteps.size() < mine.step) costs.supersteps.resize(mine.step);
    }
    {
      const std::shared_lock lock(books);
      for (std::int32_t other = 0; other < info.members.count; ++other) {
        const Seat& theirs = seat(other);
        const Window& rows = theirs.windows[window % 2];
        for (std::uint64_t i = theirs.first_row(rows, begin); i < rows.to; ++i) {
          const Booking& row = theirs.rows[i % kRows].row;
          if (row.row.step >= end) break;
          merge(costs, row, keep_rows);
        }
      }
    }
    seat(member).shared.store(window, std::memory_order_release);
  }

  /// Adds the rows of the windows' rest, of meetings up to `number`. REQUIRES that all have added their shares.
  void add_rest(MachineCosts& to, std::uint64_t number, std::uint64_t window, bool keep_rows) const {
    for (std::size_t member = 0; member < count(); ++member) {
      const Seat& seat = seats[member];
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
    add_rest(known, number, window, keep_rows);
    if (seat(member).folded) merge(known, *seat(member).folded, keep_rows);
    return known;
  }

  void close(bool keep_rows) override {
    const std::lock_guard lock(books);
    const std::uint64_t most = ~std::uint64_t{0};
    std::uint64_t window = most;
    for (std::size_t member = 0; member < count(); ++member)
      window = std::min(window, seats[member].shared.load(std::memory_order_acquire));
    add_rest(costs, most, window, keep_rows);
  }

  run::AlignedBuffer memory;  ///< of the board
  std::unique_ptr<Seat[]> seats;
  // Of those who sleep.
  std::vector<Shown> all[2];  ///< of meetings n % 2
  alignas(64) std::atomic<std::int32_t> here{0};
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
      if (!failed() && everybody_stuck()) fail(deadlock_report());
      if (failed()) wake_all();  // again: a thread may have gone to sleep after the first call
      lock.lock();
    }
  }

  void wake_all() noexcept override {
    for (const auto& group : open_groups()) {
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
    std::unordered_map<std::uint64_t, std::shared_ptr<SharedGroup>> groups;
    for (const auto& group : open_groups()) groups[group->info.id] = group;
    for (std::size_t rank = 0; rank < seen.size(); ++rank) {
      if (seen[rank] == kFinished) continue;
      const std::uint64_t id = tickets[rank].group.load(std::memory_order_relaxed);
      const auto group = groups.find(id);
      const bool satisfied =
          id == 0 ? !asleep(static_cast<std::int32_t>(rank))
                  : group == groups.end() || static_cast<ThreadGroup&>(*group->second)
                                                 .complete(tickets[rank].number.load(std::memory_order_relaxed));
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

  std::uint32_t meet(GroupState& state, const Arrival& arrival, std::span<Parcel> parcels, std::vector<BlockPtr>& in,
                     const Waiting& why) override {
    machine_.throw_if_failed();
    auto& group = static_cast<ThreadGroup&>(state);
    ThreadGroup::Seat& seat = group.seat(arrival.member);
    const std::uint64_t number = seat.came.load(std::memory_order_relaxed) + 1;
    const bool keep_rows = options().per_processor_costs;
    ThreadGroup::Outbox& outbox = seat.outbox[number % 2];
    const std::uint64_t reach = outbox.fill(parcels, group.count(), number);
    const Shown shown{arrival.step, arrival.flags, reach, outbox.first.data()};
    const bool asks = !machine_.crowded && group.folds() && seat.quiet && !keep_rows;
    if (!asks) group.book(seat, arrival.rows, number, keep_rows);
    ThreadGroup::close_window(seat, number, arrival.step);
    seat.came.store(number, std::memory_order_release);
    Folded all(arrival, reach);
    seat.folded.reset();
    if (asks) {
      all = fold_in(group, all, seat, number, why);
      if (!all.all_work_alone()) {
        group.book(seat, arrival.rows, number + 1, keep_rows);
      } else {
        seat.folded = all.booking();
        const bool my_turn = all.high % group.count() == static_cast<std::uint64_t>(arrival.member);
        if (my_turn) group.book(seat, std::span(&*seat.folded, 1), number + 1, keep_rows);
      }
    }
    if (machine_.crowded) {
      sleep_in(group, shown, arrival.member, number, why);
      all = take(group.all[number % 2], arrival.member, in);
    } else if (!asks || all.reach != 0) {
      meet_in(group, shown, seat, number, why);
      all = take(seat.all, arrival.member, in);
    }
    seat.quiet = all.reach == 0;
    Agreement agreement;
    agreement.add(all.low, all.low_member, all.flags & ~Folded::kOdd);
    agreement.add(all.high, all.high_member, 0);
    const std::uint32_t flags = agreement.agreed(group.info.members);
    seat.took = number;
    group.add_share(arrival.member, number, keep_rows);
    return flags;
  }

  void allocate(Segment& segment) override { segment.data = new std::byte[segment.bytes + 1]; }
  void release(Segment& segment) noexcept override { delete[] segment.data; }
  void report(const GroupInfo& info, std::span<const Booking> rows) override { machine_.report(info, rows); }
  Ledger ledger() override {
    std::optional<MachineCosts> whole;
    for (const auto& group : machine_.open_groups()) {
      if (group->info.id != GroupInfo{}.id) continue;
      whole = static_cast<ThreadGroup&>(*group).costs_seen_by(rank_, machine_);
    }
    return machine_.ledger(0, std::move(whole));
  }

  void finish() { ticket_.value.store(kFinished, std::memory_order_release); }

 private:
  /// Takes the blocks that others have shown for this member, and folds what they have shown.
  static Folded take(std::span<const Shown> all, std::int32_t member, std::vector<BlockPtr>& in) {
    const std::uint64_t bit = reach_of(member);
    const auto me = static_cast<std::size_t>(member);
    Folded folded;
    for (std::size_t other = 0; other < all.size(); ++other) {
      const auto who = static_cast<std::int32_t>(other);
      if (other == 0 || all[other].step < folded.low) folded.low = all[other].step, folded.low_member = who;
      if (other == 0 || all[other].step > folded.high) folded.high = all[other].step, folded.high_member = who;
      folded.flags |= all[other].flags;
      folded.reach |= all[other].reach;
      if ((all[other].reach & bit) != 0) __builtin_prefetch(all[other].first + me);
    }
    if (folded.low != folded.high) return folded;  // they belong to different supersteps
    for (const Shown& one : all) {
      if ((one.reach & bit) == 0) continue;
      for (Block* block = one.first[me]; block != nullptr; block = block->next) {
        __builtin_prefetch(block->payload.data());
        in.emplace_back(block);
      }
    }
    return folded;
  }

  /// A call on the board of a group, to its end.
  template <typename BoardCall>
  void wait_for(BoardCall&& call, const ThreadGroup& group, std::uint64_t number, const Waiting& why) {
    bool waits = false;
    for (run::Backoff backoff(false, run::Backoff::looks(false)); !call.poll();) {
      if (!backoff.pause()) continue;
      if (!std::exchange(waits, true)) begin_wait(why, group.info.id, number);
      machine_.throw_if_failed();
    }
    if (waits) end_wait();
  }

  void meet_in(ThreadGroup& group, const Shown& shown, ThreadGroup::Seat& seat, std::uint64_t number,
               const Waiting& why) {
    const run::Call call{
        .kind = Kind::allgather, .in = &shown, .out = seat.all.data(), .count = 1, .element = sizeof(Shown)};
    wait_for(run::SlotCall(*seat.board, call), group, number, why);
  }

  Folded fold_in(ThreadGroup& group, const Folded& mine, ThreadGroup::Seat& seat, std::uint64_t number,
                 const Waiting& why) {
    static std::plus<Folded> plus;
    Folded all;
    const run::Call call{.kind = Kind::allreduce,
                         .in = &mine,
                         .out = &all,
                         .count = 1,
                         .element = sizeof(Folded),
                         .op = run::operator_of<Folded>(plus, true)};
    wait_for(run::GroupedFold(*seat.board, call), group, number, why);
    return all;
  }

  void sleep_in(ThreadGroup& group, const Shown& shown, std::int32_t member, std::uint64_t number, const Waiting& why) {
    group.all[number % 2][static_cast<std::size_t>(member)] = shown;
    const std::uint32_t generation = group.generation.load(std::memory_order_acquire);
    if (group.here.fetch_add(1, std::memory_order_acq_rel) + 1 == group.info.members.count) {
      group.here.store(0, std::memory_order_relaxed);
      group.generation.store(generation + 1, std::memory_order_release);
      group.generation.notify_all();
      return;
    }
    begin_wait(why, group.info.id, number);
    while (!machine_.failed() && group.generation.load(std::memory_order_acquire) == generation)
      group.generation.wait(generation, std::memory_order_acquire);
    end_wait();
    machine_.throw_if_failed();
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
    } catch (const std::system_error& error) {
      machine.fail(std::make_exception_ptr(MachineError(
          Fault::resources, fmt::format("thread {} of {}: {}; use fewer processors or Engine::virtual_processors", rank,
                                        processors, error.what()))));
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
