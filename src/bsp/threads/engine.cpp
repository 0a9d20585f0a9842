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
#include "bsp/threads/group.hpp"
#include "chasqui/base/cache.hpp"
#include "chasqui/base/clock.hpp"
#include "run/board/board.hpp"
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

class ThreadsMachine final : public SharedMachine {
 public:
  ThreadsMachine(std::int32_t processors, const Options& options)
      : SharedMachine(processors, options), tickets(std::make_unique<Ticket[]>(static_cast<std::size_t>(processors))),
        crowded(processors > cores_for_threads(options)) {
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
    const std::size_t before = in.size();
    try {
      for_each_sender([&](Block* const* first) {
        for (Block* block = *first; block != nullptr; block = block->next) {
          ask_for_line(block->payload.data());
          in.emplace_back(block);
        }
      });
    } catch (...) {  // no room for all: they stay with the outboxes
      for (std::size_t i = before; i < in.size(); ++i) static_cast<void>(in[i].release());
      throw;
    }
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
      board.looks().all.wait();
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
    board.looks().all.learn(in_vain);
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

std::int32_t cores_for_threads(const Options& options) {
  return options.cores > 0 ? options.cores : run::available_cores();
}

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
  machine.check_mail();
  return machine.ledger(static_cast<double>(clock_nanoseconds() - begin) * 1e-9);
}

}  // namespace chasqui::bsp::detail
