// SPDX-License-Identifier: MIT
// One operating-system thread a processor. A barrier is an all-gather on the board of run: every member sees what all
// bring, the first one keeps the books. Who waits for mail spins while there is a core for everybody, then sleeps on the
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

/// A machine that synchronises, with a seat for each member. With a core for everybody they meet on a board, and the first
/// one keeps the books; else they sleep until the last has come, and that one does.
struct ThreadGroup final : SharedGroup {
  ThreadGroup(const GroupInfo& description, bool crowded)
      : SharedGroup(description), seats(std::make_unique<Seat[]>(static_cast<std::size_t>(info.members.count))),
        all(static_cast<std::size_t>(info.members.count)) {
    if (crowded) return;
    run::BoardShape shape = run::BoardShape::for_threads(info.members.count);
    shape.wide = 0;
    memory = run::AlignedBuffer(shape.bytes());
    std::memset(memory.data(), 0, shape.zeroed());
    for (std::int32_t member = 0; member < info.members.count; ++member) {
      seat(member).board.emplace(memory.data(), shape, member, info.members.count);
      seat(member).all.resize(all.size());
    }
  }

  struct alignas(64) Seat {
    std::atomic<std::uint64_t> came{0};  ///< barriers that the member has come to
    std::vector<Row> rows[2];            ///< what it brought to the last two: the books of the one before may be open
    std::vector<Arrival> all;            ///< what everybody brought to the last
    std::optional<run::Board> board;
  };
  Seat& seat(std::int32_t member) { return seats[static_cast<std::size_t>(member)]; }
  /// Has everybody come to this barrier?
  bool complete(std::uint64_t number) {
    for (std::int32_t member = 0; member < info.members.count; ++member) {
      if (seat(member).came.load(std::memory_order_acquire) < number) return false;
    }
    return true;
  }
  void close(std::span<const Arrival> arrivals, std::uint64_t number, bool keep_rows) {
    books.close(arrivals, keep_rows);
    closed.store(number, std::memory_order_release);
  }

  run::AlignedBuffer memory;  ///< of the board
  std::unique_ptr<Seat[]> seats;
  std::atomic<std::uint64_t> closed{0};  ///< barriers that are in the books
  // Of those who sleep.
  std::vector<Arrival> all;
  std::uint32_t flags = 0;
  alignas(64) std::atomic<std::int32_t> here{0};
  std::atomic<std::uint32_t> generation{0};
};

class ThreadsMachine final : public SharedMachine {
 public:
  ThreadsMachine(std::int32_t processors, const Options& options)
      : SharedMachine(processors, options), tickets(std::make_unique<Ticket[]>(static_cast<std::size_t>(processors))),
        crowded(processors > run::available_cores()) {}

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

  std::uint32_t barrier(GroupState& state, const Arrival& arrival, const Waiting& why) override {
    machine_.throw_if_failed();
    auto& group = static_cast<ThreadGroup&>(state);
    ThreadGroup::Seat& seat = group.seat(arrival.member);
    const std::uint64_t number = seat.came.load(std::memory_order_relaxed) + 1;
    std::vector<Row>& rows = seat.rows[number % 2];
    rows.assign(arrival.rows.begin(), arrival.rows.end());
    const Arrival shown{arrival.step, arrival.flags, arrival.member, rows};
    return machine_.crowded ? sleep_in(group, shown, number, why) : meet_in(group, shown, number, why);
  }

  void allocate(Segment& segment) override { segment.data = new std::byte[segment.bytes + 1]; }
  void release(Segment& segment) noexcept override { delete[] segment.data; }
  void report(const GroupInfo& info, std::span<const Row> rows) override { machine_.report(info, rows); }
  Ledger ledger() override {
    for (const auto& group : machine_.open_groups()) {
      if (group->info.id != GroupInfo{}.id) continue;
      auto& whole = static_cast<ThreadGroup&>(*group);
      const std::uint64_t came = whole.seat(rank_).came.load(std::memory_order_relaxed);
      while (whole.closed.load(std::memory_order_acquire) < came) machine_.throw_if_failed();
    }
    return machine_.ledger(0);
  }

  void finish() { ticket_.value.store(kFinished, std::memory_order_release); }

 private:
  std::uint32_t meet_in(ThreadGroup& group, const Arrival& shown, std::uint64_t number, const Waiting& why) {
    ThreadGroup::Seat& seat = group.seat(shown.member);
    const run::Call call{
        .kind = Kind::allgather, .in = &shown, .out = seat.all.data(), .count = 1, .element = sizeof(Arrival)};
    run::SlotCall meeting(*seat.board, call);
    seat.came.store(number, std::memory_order_release);
    bool waits = false;
    for (run::Backoff backoff(false, run::Backoff::looks(false)); !meeting.poll();) {
      if (!backoff.pause()) continue;
      if (!std::exchange(waits, true)) begin_wait(why, group.info.id, number);
      machine_.throw_if_failed();
    }
    if (waits) end_wait();
    const std::uint32_t flags = meet(seat.all, group.info.members);
    if (shown.member == 0) group.close(seat.all, number, options().per_processor_costs);
    return flags;
  }

  std::uint32_t sleep_in(ThreadGroup& group, const Arrival& shown, std::uint64_t number, const Waiting& why) {
    group.all[static_cast<std::size_t>(shown.member)] = shown;
    group.seat(shown.member).came.store(number, std::memory_order_release);
    const std::uint32_t generation = group.generation.load(std::memory_order_acquire);
    if (group.here.fetch_add(1, std::memory_order_acq_rel) + 1 == group.info.members.count) {
      group.here.store(0, std::memory_order_relaxed);
      group.flags = meet(group.all, group.info.members);
      group.close(group.all, number, options().per_processor_costs);
      group.generation.store(generation + 1, std::memory_order_release);
      group.generation.notify_all();
      return group.flags;
    }
    begin_wait(why, group.info.id, number);
    while (!machine_.failed() && group.generation.load(std::memory_order_acquire) == generation)
      group.generation.wait(generation, std::memory_order_acquire);
    end_wait();
    machine_.throw_if_failed();
    return group.flags;
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
