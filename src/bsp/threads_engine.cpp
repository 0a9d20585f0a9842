// SPDX-License-Identifier: MIT
// One operating-system thread a processor. A superstep ends with an all-gather on the board of run: every member sees what
// all bring, and where the blocks for it lie. Who waits for mail spins while there is a core for everybody, then sleeps on the
// atomic. The caller's thread looks after them: when all wait and nothing can wake them, it says who waits where.
#include <condition_variable>
#include <new>
#include <system_error>
#include <thread>

#include "bsp/engines.hpp"
#include "bsp/shared_machine.hpp"
#include "run/board/board.hpp"
#include "run/board/slots.hpp"
#include "run/wait/backoff.hpp"
#include "run/wait/cores.hpp"

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

/// A machine that synchronises, with a seat for each member. With a core for everybody they meet on a board, else they
/// sleep until the last has come. Invariants:
/// 1. Meeting n of a member uses its outbox n % 2, and nobody reads that of n - 2 any more: all have come to n - 1, and
///    they took what n - 2 had for them before.
/// 2. A block belongs to its receiver as soon as that one has `took` the meeting; until then to the outbox.
/// 3. Rows of meetings up to n are complete as soon as anybody comes to n + 1, or has left n.
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
  static constexpr std::uint64_t kRows = 256;

  struct alignas(64) Seat {
    std::atomic<std::uint64_t> came{0};  ///< meetings that the member has come to
    std::uint64_t took = 0;              ///< meetings whose blocks it has taken
    Outbox outbox[2];
    std::vector<Shown> all;  ///< what everybody showed at the last
    std::optional<run::Board> board;
    std::atomic<std::uint64_t> written{0};  ///< rows
    std::uint64_t merged = 0;               ///< of these; guarded by the books
    std::uint64_t known_merged = 0;         ///< as far as the member knows
    std::unique_ptr<Kept[]> rows;           ///< the last ones
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

  /// Rows stay with the member until there are many, or somebody asks: nobody waits for the books.
  void book(Seat& seat, std::span<const Booking> rows, std::uint64_t number, bool keep_rows) {
    if (seat.rows == nullptr) seat.rows = std::make_unique<Kept[]>(kRows);
    std::uint64_t written = seat.written.load(std::memory_order_relaxed);
    for (const Booking& row : rows) {
      if (written - seat.known_merged == kRows) {
        const bool all_new = seat.rows[written % kRows].number == number;
        const std::lock_guard lock(books);
        take_rows(seat, all_new ? number : number - 1, keep_rows);
        seat.known_merged = seat.merged;
      }
      seat.rows[written % kRows] = {row, number};
      seat.written.store(++written, std::memory_order_release);
    }
  }
  /// The rows of meetings up to this one are in the costs. REQUIRES the lock of the books.
  void take_rows(Seat& seat, std::uint64_t number, bool keep_rows) {
    const std::uint64_t written = seat.written.load(std::memory_order_acquire);
    for (; seat.merged < written; ++seat.merged) {
      const Kept& kept = seat.rows[seat.merged % kRows];
      if (kept.number > number) break;
      merge(costs, kept.row, keep_rows);
    }
  }
  void take_all_rows(std::uint64_t number, bool keep_rows) {
    const std::lock_guard lock(books);
    for (std::int32_t member = 0; member < info.members.count; ++member) take_rows(seat(member), number, keep_rows);
  }
  void close(bool keep_rows) override { take_all_rows(~std::uint64_t{0}, keep_rows); }

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
        crowded(processors > run::available_cores()) {
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
    group.book(seat, arrival.rows, number, options().per_processor_costs);
    ThreadGroup::Outbox& outbox = seat.outbox[number % 2];
    const std::uint64_t reach = outbox.fill(parcels, group.count(), number);
    const Shown shown{arrival.step, arrival.flags, reach, outbox.first.data()};
    if (machine_.crowded) sleep_in(group, shown, arrival.member, number, why);
    else meet_in(group, shown, seat, number, why);
    const std::span<const Shown> all = machine_.crowded ? group.all[number % 2] : seat.all;
    const std::uint64_t bit = reach_of(arrival.member);
    const auto me = static_cast<std::size_t>(arrival.member);
    Agreement agreement;
    for (std::size_t member = 0; member < all.size(); ++member) {
      agreement.add(all[member].step, static_cast<std::int32_t>(member), all[member].flags);
      if ((all[member].reach & bit) != 0) __builtin_prefetch(all[member].first + me);
    }
    const std::uint32_t flags = agreement.agreed(group.info.members);
    for (const Shown& one : all) {
      if ((one.reach & bit) == 0) continue;
      for (Block* block = one.first[me]; block != nullptr; block = block->next) {
        __builtin_prefetch(block->payload.data());
        in.emplace_back(block);
      }
    }
    seat.took = number;
    return flags;
  }

  void allocate(Segment& segment) override { segment.data = new std::byte[segment.bytes + 1]; }
  void release(Segment& segment) noexcept override { delete[] segment.data; }
  void report(const GroupInfo& info, std::span<const Booking> rows) override { machine_.report(info, rows); }
  Ledger ledger() override {
    for (const auto& group : machine_.open_groups()) {
      if (group->info.id != GroupInfo{}.id) continue;
      auto& whole = static_cast<ThreadGroup&>(*group);
      const std::uint64_t came = whole.seat(rank_).came.load(std::memory_order_relaxed);
      whole.take_all_rows(came, options().per_processor_costs);
    }
    return machine_.ledger(0);
  }

  void finish() { ticket_.value.store(kFinished, std::memory_order_release); }

 private:
  void meet_in(ThreadGroup& group, const Shown& shown, ThreadGroup::Seat& seat, std::uint64_t number,
               const Waiting& why) {
    const run::Call call{
        .kind = Kind::allgather, .in = &shown, .out = seat.all.data(), .count = 1, .element = sizeof(Shown)};
    run::SlotCall meeting(*seat.board, call);
    seat.came.store(number, std::memory_order_release);
    bool waits = false;
    for (run::Backoff backoff(false, run::Backoff::looks(false)); !meeting.poll();) {
      if (!backoff.pause()) continue;
      if (!std::exchange(waits, true)) begin_wait(why, group.info.id, number);
      machine_.throw_if_failed();
    }
    if (waits) end_wait();
  }

  void sleep_in(ThreadGroup& group, const Shown& shown, std::int32_t member, std::uint64_t number, const Waiting& why) {
    group.all[number % 2][static_cast<std::size_t>(member)] = shown;
    group.seat(member).came.store(number, std::memory_order_release);
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
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(processors));
  const auto work = [&](std::int32_t rank) {
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
      threads.emplace_back(work, rank);
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
  for (std::thread& thread : threads) thread.join();
  machine.rethrow_failure();
  return machine.ledger(static_cast<double>(clock_nanoseconds() - begin) * 1e-9);
}

}  // namespace chasqui::bsp::detail
