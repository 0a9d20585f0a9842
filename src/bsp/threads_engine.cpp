// SPDX-License-Identifier: MIT
// One operating-system thread a processor. Waiting: spin while there is a core for everybody, then sleep on
// the atomic. The caller's thread looks after them: when all wait and nothing can wake them, it says who
// waits where.
#include <condition_variable>
#include <new>
#include <system_error>
#include <thread>

#include "bsp/engines.hpp"
#include "bsp/shared_machine.hpp"

namespace chasqui::bsp::detail {

namespace {

constexpr std::int64_t kSpinNanoseconds = 50'000;  ///< about what falling asleep and waking cost together
constexpr auto kLook = std::chrono::milliseconds(20);

/// What a thread is doing: even while it runs, odd while it waits; its own cache line.
struct alignas(64) Ticket {
  std::atomic<std::uint64_t> value{0};
  std::atomic<std::uint64_t> group{0};  ///< waits for this machine's generation to leave `generation`; 0: for mail
  std::atomic<std::uint32_t> generation{0};
};
constexpr std::uint64_t kFinished = ~std::uint64_t{0};

class ThreadsMachine final : public SharedMachine {
 public:
  ThreadsMachine(std::int32_t processors, const Options& options)
      : SharedMachine(processors, options), tickets(std::make_unique<Ticket[]>(static_cast<std::size_t>(processors))),
        spins(static_cast<unsigned>(processors) <= std::thread::hardware_concurrency()) {}

  std::unique_ptr<Ticket[]> tickets;
  const bool spins;  ///< only with a core for everybody

  /// Looks for `there` for a while; false when it did not come.
  template <typename Condition>
  bool spin(const Condition& there) const {
    if (!spins) return false;
    const std::int64_t end = clock_nanoseconds() + kSpinNanoseconds;
    do {
      for (int i = 0; i < 100; ++i) {
        if (there()) return true;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        asm volatile("isb");
#endif
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
      group->generation.fetch_add(1, std::memory_order_acq_rel);
      group->generation.notify_all();
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
    std::unordered_map<std::uint64_t, std::uint32_t> generations;
    const auto groups = open_groups();
    for (const auto& group : groups) generations[group->info.id] = group->generation.load(std::memory_order_acquire);
    for (std::size_t rank = 0; rank < seen.size(); ++rank) {
      if (seen[rank] == kFinished) continue;
      const Ticket& ticket = tickets[rank];
      const std::uint64_t group = ticket.group.load(std::memory_order_relaxed);
      const auto known = generations.find(group);
      const bool satisfied =
          group == 0 ? !asleep(static_cast<std::int32_t>(rank))
                     : known == generations.end() || known->second != ticket.generation.load(std::memory_order_relaxed);
      if (satisfied) return false;
    }
    for (std::size_t rank = 0; rank < seen.size(); ++rank) {
      if (tickets[rank].value.load(std::memory_order_acquire) != seen[rank]) return false;
    }
    return true;
  }
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
    auto& group = static_cast<SharedGroup&>(state);
    const std::uint32_t generation = group.generation.load(std::memory_order_acquire);
    if (group.arrive(arrival)) {
      group.close(options().per_processor_costs);
      group.generation.store(generation + 1, std::memory_order_release);
      group.generation.notify_all();
      return group.flags;
    }
    if (machine_.spin([&] { return group.generation.load(std::memory_order_acquire) != generation; })) {
      machine_.throw_if_failed();
      return group.flags;
    }
    begin_wait(why, group.info.id, generation);
    while (!machine_.failed() && group.generation.load(std::memory_order_acquire) == generation) {
      group.generation.wait(generation, std::memory_order_acquire);
    }
    end_wait();
    machine_.throw_if_failed();
    return group.flags;
  }

  void allocate(Segment& segment) override { segment.data = new std::byte[segment.bytes + 1]; }
  void release(Segment& segment) noexcept override { delete[] segment.data; }
  void report(const GroupInfo& info, std::span<const Row> rows) override { machine_.report(info, rows); }
  Ledger ledger() override { return machine_.ledger(0); }

  void finish() { ticket_.value.store(kFinished, std::memory_order_release); }

 private:
  void begin_wait(const Waiting& why, std::uint64_t group, std::uint32_t generation) {
    machine_.waiting[static_cast<std::size_t>(rank_)] = why;
    ticket_.group.store(group, std::memory_order_relaxed);
    ticket_.generation.store(generation, std::memory_order_relaxed);
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
