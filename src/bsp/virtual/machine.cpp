// SPDX-License-Identifier: MIT
#include "bsp/virtual/machine.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "chasqui/base/cache.hpp"
#include "chasqui/base/clock.hpp"
#include "run/wait/backoff.hpp"
#include "run/wait/cores.hpp"

namespace chasqui::bsp::detail {

namespace {

/// Two mappings a guarded stack; the system allows 65530 in all.
constexpr std::int32_t kMostGuarded = 16384;

/// What few processors have can hold what programs of threads have on theirs: whether there is a core for each must not decide whether they run.
constexpr std::int32_t kMostSpacious = 4096;
constexpr std::size_t kSpaciousStack = std::size_t{1} << 20, kUsualStack = 64 * 1024;

std::int32_t carriers_for(std::int32_t processors, const Options& options) {
  if (options.deterministic || !options.spill.empty()) return 1;
  const std::int32_t wanted = options.carriers > 0 ? options.carriers : run::available_cores();
  return std::clamp(wanted, 1, processors);
}

constexpr std::int64_t kCarrierSpinNanoseconds = 50'000;  ///< about what falling asleep and waking cost together

}  // namespace

VirtualMachine::VirtualMachine(std::int32_t processors, const Options& options,
                               std::function<void(VirtualProcessor&)> program)
    : SharedMachine(processors, options), program_(std::move(program)),
      processors_(std::make_unique<VirtualProcessor[]>(static_cast<std::size_t>(processors))),
      carriers_(static_cast<std::size_t>(carriers_for(processors, options))),
      spins_(static_cast<std::int32_t>(carriers_.size()) <= run::available_cores()), unfinished_(processors) {
  const auto page = page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const bool guarded = processors <= kMostGuarded;
#ifdef CHASQUI_ASAN
  constexpr std::size_t kLonger = 4;  ///< frames are, with room around each variable
#else
  constexpr std::size_t kLonger = 1;
#endif
  const auto map = [&](std::size_t each) {
    const std::size_t wanted = kLonger * std::max<std::size_t>(each, 16 * 1024);
    stack_bytes_ = (wanted + page - 1) / page * page + (guarded ? page : 0);
    mapped_ = stacks_of(static_cast<std::int64_t>(carriers_.size()));
    return mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  };
  const bool spacious = options.stack_bytes == 0 && processors <= kMostSpacious;
  void* stacks = map(spacious ? kSpaciousStack : options.stack_bytes == 0 ? kUsualStack : options.stack_bytes);
  if (stacks == MAP_FAILED && spacious) stacks = map(kUsualStack);  // ulimit -v
  if (stacks == MAP_FAILED) {
    throw MachineError(Fault::resources, fmt::format("{} stacks of {} bytes: {}; lower Options::stack_bytes",
                                                     processors, stack_bytes_, std::strerror(errno)));
  }
  stacks_ = {static_cast<std::byte*>(stacks), Unmap{mapped_}};
  madvise(stacks, mapped_, MADV_NOHUGEPAGE);  // one touched page must not cost two megabytes
  if (!options.spill.empty()) {
    spilled_.emplace(options.spill);
    for (Carrier& carrier : carriers_) carrier.spares = SpareBlocks(0, 0);  // only what is needed stays in memory
  }
  GroupInfo all;
  all.members.count = processors;
  whole_ = SharedMachine::open(all);
  for (Carrier& carrier : carriers_) carrier.reserve(static_cast<std::size_t>(processors));
  for (Section& section : static_cast<VirtualGroup&>(*whole_).sections)
    section.asleep.reserve(carriers_.front().ready.capacity());  // carriers exchange their lists for these
  for (std::int32_t rank = 0; rank < processors; ++rank) {
    VirtualProcessor& one = processor(rank);
    one.machine = this;
    one.rank = rank;
    one.home = static_cast<std::int32_t>(static_cast<std::int64_t>(rank) * static_cast<std::int64_t>(carriers_.size()) /
                                         processors);
    const std::int32_t first = first_of(one.home);
    std::byte* const part = stacks_.get() + stacks_of(one.home);
    if (rank == first) mprotect(part, page, PROT_NONE);
    std::byte* const stack = part + page + stack_bytes_ * static_cast<std::size_t>(rank - first);
    if (guarded) mprotect(stack, page, PROT_NONE);
    one.context.place(stack + (guarded ? page : 0), stack_bytes_ - (guarded ? page : 0));
    carriers_[static_cast<std::size_t>(one.home)].ready.push_back(&one);
  }
  for (Carrier& carrier : carriers_) carrier.note();
}

VirtualMachine::~VirtualMachine() {
  whole_.reset();
  processors_.reset();
}

void VirtualMachine::Unmap::operator()(std::byte* stacks) const { munmap(stacks, bytes); }

/// Without a thread for each of them nothing goes on: the first carrier then ends the processors of those that have none.
void VirtualMachine::start_carriers(std::vector<std::thread>& threads) {
  try {
    threads.reserve(carriers_.size() - 1);
    while (threads.size() + 1 < carriers_.size())
      threads.emplace_back([this, carrier = static_cast<std::int32_t>(threads.size() + 1)] { carry(carrier); });
  } catch (...) {
    fail(std::current_exception());
    for (std::size_t carrier = threads.size() + 1; carrier < carriers_.size(); ++carrier) {
      const std::scoped_lock lock(carriers_.front().mutex, carriers_[carrier].mutex);
      carriers_.front().append(carriers_[carrier].ready);
      carriers_[carrier].ready.clear();
      carriers_[carrier].note();
      carriers_.front().note();
    }
  }
}

void VirtualMachine::run() {
  std::vector<std::thread> threads;
  start_carriers(threads);
  carry(0);
  for (std::thread& thread : threads) thread.join();
  whole_.reset();
}

/// What those who run soon will need: first their lines here, then their stacks, then what they were sent.
void VirtualMachine::ask_for_next(const Carrier& own) const {
  const std::size_t left = own.taken.size() - own.at;
  const auto after = [&](std::size_t distance) -> const VirtualProcessor& { return *own.taken[own.at + distance]; };
  const auto incoming = [](const VirtualProcessor& one) -> const std::atomic<Block*>& {
    return one.group->incoming(one.member)[(one.group->meetings - 1) % 2];
  };
  if (left > 6) {
    const auto* const far = reinterpret_cast<const std::byte*>(&after(6));
    ask_to_write_line(far);
    ask_to_write_line(far + 64);
  }
  if (left > 3) {
    after(3).context.prefetch_page();
    if (after(3).group != nullptr) ask_to_write_line(&incoming(after(3)));
  }
  if (left > 1) after(1).context.prefetch();
  if (left > 0 && after(0).group != nullptr) {
    const auto* const block = reinterpret_cast<const std::byte*>(incoming(after(0)).load(std::memory_order_relaxed));
    if (block == nullptr) return;
    ask_to_write_line(block);
    ask_to_write_line(block + 64);
  }
}

/// When all have finished: a share of the memory, by each carrier at the same time.
void VirtualMachine::give_back_stacks(std::int32_t self) {
  madvise(stacks_.get() + stacks_of(self), stacks_of(self + 1) - stacks_of(self), MADV_DONTNEED);
}

/// A processor's program, in its context.
void VirtualMachine::enter(VirtualProcessor& self) {
  try {
    throw_if_failed();
    program_(self);
  } catch (const Stopped&) {
  } catch (...) {
    fail(std::current_exception());
  }
  finished[static_cast<std::size_t>(self.rank)] = 1;
}

/// After a failure nobody runs on: it ends where it waits, without its memory.
void VirtualMachine::bring_in(VirtualProcessor& one) {
  if (failed()) return SpilledMemory::leave_out(one.spilled());
  try {
    spilled_->bring_in(one.spilled());
  } catch (...) {
    fail(std::current_exception());
  }
}

/// The next processor's memory and mail are read while this one computes; the one before last is forgotten.
void VirtualMachine::ask_ahead(const Carrier& own) {
  if (own.at >= 3) spilled_->forget(own.taken[own.at - 3]->spilled());
  if (own.at >= own.taken.size()) return;
  const VirtualProcessor& next = *own.taken[own.at];
  spilled_->read_ahead(next.spilled());
  if (next.group == nullptr) return;
  spilled_->read_ahead(next.group->incoming(next.member)[(next.group->meetings - 1) % 2].load());
}

void VirtualMachine::hand_over(VirtualGroup& group, std::span<Parcel> parcels) {
  for (Parcel& parcel : parcels) {
    while (BlockPtr block = parcel.blocks.pop_front()) {
      stow(*block);
      group.push(parcel.to, block.release());
    }
  }
}

void VirtualMachine::carry(std::int32_t self) {
  void** const exceptions = Context::exceptions_of_thread();
  Carrier& own = carriers_[static_cast<std::size_t>(self)];
  for (;;) {
    VirtualProcessor* const processor = next(self);
    if (processor == nullptr) {
      if (!rest(self)) return give_back_stacks(self);
      continue;
    }
    if (processor->home != self) processor->home = self;
    ask_for_next(own);
    if (spilled_) {
      bring_in(*processor);
      ask_ahead(own);
    }
    if (processor->ending != nullptr) leave(*processor);
    processor->context.resume(
        exceptions,
        [](void* one) {
          auto& entered = *static_cast<VirtualProcessor*>(one);
          entered.machine->enter(entered);
        },
        processor);
    if (spilled_) spilled_->put_out(processor->spilled());
    handle(own, *processor);
  }
}

/// Takes a share of what is ready, small enough that others can still help, and not so small that nothing can be asked for ahead.
VirtualProcessor* VirtualMachine::next(std::int32_t self) {
  Carrier& own = carriers_[static_cast<std::size_t>(self)];
  if (own.at < own.taken.size()) return own.taken[own.at++];
  seat(own);
  count_ended(own);
  own.taken.clear();
  own.at = 0;
  const bool shares = options().migrate && carriers_.size() > 1;
  {
    const std::lock_guard lock(own.mutex);
    const std::size_t left = own.ready.size() - own.head;
    if (left > 0) {
      if (shares) {
        const auto first = own.ready.begin() + static_cast<std::ptrdiff_t>(own.head);
        const std::size_t each = static_cast<std::size_t>(size()) / carriers_.size();
        const std::size_t least = std::min(left, std::clamp<std::size_t>(each / 64, 1, 32));
        const std::size_t share = std::max(least, left / (2 * carriers_.size()));
        const auto end = first + static_cast<std::ptrdiff_t>(share);
        own.taken.assign(first, end);
        std::fill(first, end, nullptr);
        own.head += share;
      } else {
        own.taken.swap(own.ready);
        own.at = own.head;
        own.head = own.ready.size();
      }
      own.note();
    }
  }
  if (own.taken.empty() && !(shares && steal(self))) return nullptr;
  return own.taken[own.at++];
}

/// Takes the later half of what another carrier still has to run in this superstep; keeps one, the others may be taken again.
bool VirtualMachine::steal(std::int32_t self) {
  const auto count = carriers_.size();
  Carrier& own = carriers_[static_cast<std::size_t>(self)];
  for (std::size_t i = 1; i < count && own.taken.empty(); ++i) {
    Carrier& victim = carriers_[(static_cast<std::size_t>(self) + i) % count];
    if (victim.left.load(std::memory_order_relaxed) == 0) continue;
    const std::lock_guard lock(victim.mutex);
    const std::size_t take = (victim.ready.size() - victim.head + 1) / 2;
    own.taken.assign(victim.ready.end() - static_cast<std::ptrdiff_t>(take), victim.ready.end());
    victim.ready.resize(victim.ready.size() - take);
    victim.note();
  }
  if (own.taken.empty()) return false;
  const std::lock_guard lock(own.mutex);
  own.append(std::span(own.taken).subspan(1));
  own.note();
  own.taken.resize(1);
  return true;
}

bool VirtualMachine::any_ready() const {
  return std::ranges::any_of(carriers_, [](const Carrier& one) { return one.left.load() > 0; });
}

bool VirtualMachine::rest(std::int32_t self) {
  const Carrier& own = carriers_[static_cast<std::size_t>(self)];
  const auto can_go_on = [&] { return options().migrate ? any_ready() : own.left.load() > 0; };
  if (spins_) {
    const std::int64_t end = clock_nanoseconds() + kCarrierSpinNanoseconds;
    do {
      for (int i = 0; i < 100; ++i) {
        if (unfinished_.load(std::memory_order_acquire) == 0) return false;
        if (can_go_on()) return true;
        run::cpu_relax();
      }
    } while (carriers_.size() > 1 && clock_nanoseconds() < end);
  }
  std::unique_lock lock(rest_mutex_);
  resting_.fetch_add(1, std::memory_order_seq_cst);
  while (unfinished_.load() > 0 && !can_go_on()) {
    if (resting_.load() == static_cast<std::int32_t>(carriers_.size()) && !any_ready()) {
      // Nobody runs, nobody is ready: nobody will ever wake the others.
      resting_.fetch_sub(1);
      lock.unlock();
      try {
        waiting.resize(static_cast<std::size_t>(size()));
        for (std::int32_t rank = 0; rank < size(); ++rank) {
          const VirtualProcessor& one = processor(rank);
          if (finished[static_cast<std::size_t>(rank)] != 0) continue;
          if (one.ending != nullptr) waiting[static_cast<std::size_t>(rank)] = one.ending->why();
          else if (one.pause != nullptr) waiting[static_cast<std::size_t>(rank)] = one.pause->why;
        }
        fail(deadlock_report());
      } catch (...) {  // no memory for what it would say
        fail(std::current_exception());
      }
      return true;
    }
    rest_.wait(lock);
  }
  resting_.fetch_sub(1);
  return unfinished_.load() > 0;
}

void VirtualMachine::announce() {
  if (resting_.load(std::memory_order_seq_cst) == 0) return;
  const std::lock_guard lock(rest_mutex_);
  rest_.notify_all();
}

/// It and those behind it, each at its carrier. As soon as one is there it may run, and sleep again.
void VirtualMachine::make_ready(VirtualProcessor* first) {
  while (first != nullptr) {
    const std::int32_t home = first->home;
    Carrier& carrier = carriers_[static_cast<std::size_t>(home)];
    const std::lock_guard lock(carrier.mutex);
    carrier.make_room(0);
    do {
      if (carrier.ready.size() == carrier.ready.capacity()) carrier.make_room(1);
      carrier.ready.push_back(first);
      first = std::exchange(first->woken_next, nullptr);
    } while (first != nullptr && first->home == home);
    carrier.note();
  }
}

void VirtualMachine::wake(std::int32_t rank) {
  VirtualProcessor* const one = &processor(rank);
  if (!one->without_mail.exchange(false, std::memory_order_acq_rel)) return;
  make_ready(one);
  announce();
}

void VirtualMachine::wake_all() noexcept {
  for (std::int32_t rank = 0; rank < size(); ++rank) wake(rank);
  for (auto group = next_open_group(nullptr); group != nullptr; group = next_open_group(group.get())) release(group);
  announce();
}

void VirtualMachine::stack_overflow(const VirtualProcessor& self, const Waiting& why) const {
  throw MachineError(Fault::stack_overflow,
                     fmt::format("rank {} at {}:{} has used its {} bytes of stack; raise Options::stack_bytes",
                                 self.rank, why.file, why.line, stack_bytes_));
}

void VirtualMachine::handle(Carrier& own, VirtualProcessor& one) {
  if (one.context.finished()) {
    ++own.ended;
    return;
  }
  const std::int32_t rank = one.rank;
  if (one.ending != nullptr || one.pause->group != nullptr) {
    if (one.ending != nullptr) come(own, one);
    else arrive(own, one, *one.pause->group, *one.pause->arrival);
    return;
  }
  one.group = nullptr;
  one.without_mail.store(true, std::memory_order_release);
  if (!mark_asleep(rank) || failed()) wake(rank);
}

/// Those who have ended since the carrier looked for work the last time, at once: all carriers write this counter.
void VirtualMachine::count_ended(Carrier& own) {
  const std::int32_t ended = std::exchange(own.ended, 0);
  if (ended == 0 || unfinished_.fetch_sub(ended) != ended) return;
  const std::lock_guard lock(rest_mutex_);
  rest_.notify_all();
}

/// The first part of an ending, for a processor that has left its stack.
void VirtualMachine::come(Carrier& own, VirtualProcessor& one) {
  auto& group = static_cast<VirtualGroup&>(one.ending->group);
  Arrival arrival;
  try {
    std::span<Parcel> parcels;
    arrival = one.ending->before(parcels);
    hand_over(group, parcels);
  } catch (...) {         // it is told at once
    one.group = nullptr;  // where it slept before may have gone
    one.ending->failure = std::current_exception();
    return make_ready(&one);
  }
  arrive(own, one, group, arrival);
}

/// The second part, before the processor is back on its stack.
void VirtualMachine::leave(VirtualProcessor& one) {
  if (one.ending->failure != nullptr || failed()) return;
  try {
    one.group->take(one.member, one.ending->in);
    one.ending->after(one.group->flags);
  } catch (...) {
    one.ending->failure = std::current_exception();
  }
}

/// Members of the whole machine take their places many at a time, as carriers that help each other come to the same sections. Nobody
/// waits for that: all whom the carrier has taken must come, too.
void VirtualMachine::arrive(Carrier& own, VirtualProcessor& one, VirtualGroup& group, const Arrival& arrival) {
  one.group = &group;
  one.member = arrival.member;
  own.arrived[own.arrivals++] = {&one, arrival.step, arrival.flags, arrival.member};
  if (own.arrivals == own.arrived.size() || &group != whole_.get()) seat(own);
}

/// Those who have come take their places. From there on a processor may be woken, and run, by another carrier at any moment, and
/// its group may go: where somebody fails all are woken, also those whose meeting is complete.
void VirtualMachine::seat(Carrier& own) {
  if (own.arrivals == 0) return;
  const std::span<const Arrived> arrived(own.arrived.data(), std::exchange(own.arrivals, 0));
  for (std::size_t i = 0; i < arrived.size();) {
    VirtualGroup& group = *arrived[i].one->group;
    Section& section = group.section_of(arrived[i].member);
    std::shared_ptr<SharedGroup> complete_one;
    {
      const Holding holding(section.busy);  // until this ends nobody wakes those who come here, and the group is there
      do section.add(arrived[i++]);
      while (i < arrived.size() && arrived[i].one->group == &group && section.has(arrived[i].member));
      if (section.here == section.members &&
          group.full.fetch_add(1, std::memory_order_acq_rel) + 1 == group.sections.size())
        complete_one = group.self.lock();
    }
    if (complete_one != nullptr) complete(std::move(complete_one));
  }
  if (failed()) wake_all();  // they fell asleep after everybody was woken
}

void VirtualMachine::complete(std::shared_ptr<SharedGroup> kept) {
  auto& group = static_cast<VirtualGroup&>(*kept);
  group.full.store(0, std::memory_order_relaxed);
  try {
    Agreement agreement;
    for (const Section& section : group.sections) agreement.add(section.agreement);
    group.flags = agreement.agreed(group.info.members);
    const std::lock_guard lock(group.books);
    for (Section& section : group.sections) section.pay(group.costs, options().per_processor_costs);
    ++group.meetings;
  } catch (...) {
    fail(std::current_exception());
    return;
  }
  if (options().migrate && group.sections.size() == carriers_.size()) release_to_carriers(std::move(kept));
  else release(std::move(kept));
  announce();
}

/// Those who sleep there are ready, by rank, so that one carrier always runs them in the same order. They keep the group while nobody runs
/// them; it is given back before, because the last of them to leave closes its books. Where somebody has failed others wake them, too.
void VirtualMachine::release(std::shared_ptr<SharedGroup> kept) {
  VirtualProcessor *first = nullptr, *last = nullptr;
  for (Section& section : static_cast<VirtualGroup&>(*kept).sections) {
    const Holding holding(section.busy);
    for (VirtualProcessor*& slot : section.asleep) {
      VirtualProcessor* const one = std::exchange(slot, nullptr);
      if (one == nullptr) continue;
      (first == nullptr ? first : last->woken_next) = one;
      last = one;
    }
  }
  if (!failed()) kept.reset();
  make_ready(first);
}

/// The same where each carrier has a section of its own, all of which sleep. Nobody is told before each has its own: else all
/// would take from the first.
void VirtualMachine::release_to_carriers(std::shared_ptr<SharedGroup> kept) {
  auto& group = static_cast<VirtualGroup&>(*kept);
  for (std::size_t i = 0; i < carriers_.size(); ++i) {
    Carrier& carrier = carriers_[i];
    Section& section = group.sections[i];
    const std::lock_guard lock(carrier.mutex);
    const Holding holding(section.busy);
    if (i + 1 == carriers_.size() && !failed())
      kept.reset();  // those of this section keep it until the carrier's lock is free
    if (carrier.head == carrier.ready.size() && section.asleep.capacity() >= carrier.ready.capacity()) {
      carrier.ready.swap(section.asleep);  // each carrier has emptied its own: one alone would take longer for all
      carrier.head = 0;
    } else {
      carrier.append(section.asleep);
      std::ranges::fill(section.asleep, nullptr);
    }
    section.asleep.resize(static_cast<std::size_t>(section.members));
    if (failed()) {  // some have been woken by that
      const auto left = carrier.ready.begin() + static_cast<std::ptrdiff_t>(carrier.head);
      carrier.ready.erase(std::remove(left, carrier.ready.end(), nullptr), carrier.ready.end());
    }
  }
  for (Carrier& carrier : carriers_) {
    const std::lock_guard lock(carrier.mutex);
    carrier.note();
  }
}

}  // namespace chasqui::bsp::detail
