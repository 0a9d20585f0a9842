// SPDX-License-Identifier: MIT
#include "bsp/virtual_machine.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace chasqui::bsp::detail {

namespace {

/// Two mappings a guarded stack; the system allows 65530 in all.
constexpr std::int32_t kMostGuarded = 16384;

std::int32_t carriers_for(std::int32_t processors, const Options& options) {
  if (options.deterministic || !options.spill.empty()) return 1;
  const auto wanted =
      options.carriers > 0 ? options.carriers : static_cast<std::int32_t>(std::thread::hardware_concurrency());
  return std::clamp(wanted, 1, processors);
}

}  // namespace

VirtualMachine::VirtualMachine(std::int32_t processors, const Options& options, const Body& body)
    : SharedMachine(processors, options), body_(body),
      processors_(std::make_unique<VirtualProcessor[]>(static_cast<std::size_t>(processors))),
      carriers_(static_cast<std::size_t>(carriers_for(processors, options))), unfinished_(processors) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const bool guarded = processors <= kMostGuarded;
  stack_bytes_ =
      (std::max<std::size_t>(options.stack_bytes, 16 * 1024) + page - 1) / page * page + (guarded ? page : 0);
  mapped_ = stack_bytes_ * static_cast<std::size_t>(processors);
  void* const stacks =
      mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stacks == MAP_FAILED) {
    throw MachineError(Fault::resources, fmt::format("{} stacks of {} bytes: {}; lower Options::stack_bytes",
                                                     processors, stack_bytes_, std::strerror(errno)));
  }
  stacks_ = static_cast<std::byte*>(stacks);
  madvise(stacks, mapped_, MADV_NOHUGEPAGE);  // one touched page must not cost two megabytes
  if (!options.spill.empty()) spill_.emplace(options.spill);
  for (std::int32_t rank = 0; rank < processors; ++rank) {
    VirtualProcessor& one = processor(rank);
    one.machine = this;
    one.rank = rank;
    one.home = static_cast<std::int32_t>(static_cast<std::int64_t>(rank) * static_cast<std::int64_t>(carriers_.size()) /
                                         processors);
    one.stack = stacks_ + stack_bytes_ * static_cast<std::size_t>(rank);
    if (guarded) mprotect(one.stack, page, PROT_NONE);
    one.context.start(
        one.stack + (guarded ? page : 0), stack_bytes_ - (guarded ? page : 0),
        [](void* self) {
          auto& processor = *static_cast<VirtualProcessor*>(self);
          processor.machine->enter(processor);
        },
        &one);
    carriers_[static_cast<std::size_t>(one.home)].ready.push_back(&one);
  }
}

VirtualMachine::~VirtualMachine() {
  processors_.reset();
  munmap(stacks_, mapped_);
}

void VirtualMachine::run() {
  std::vector<std::thread> threads;
  for (std::size_t carrier = 1; carrier < carriers_.size(); ++carrier) {
    threads.emplace_back([this, carrier] { carry(static_cast<std::int32_t>(carrier)); });
  }
  carry(0);
  for (std::thread& thread : threads) thread.join();
}

void VirtualMachine::carry(std::int32_t self) {
  for (;;) {
    VirtualProcessor* const processor = next(self);
    if (processor == nullptr) {
      if (!rest(self)) return;
      continue;
    }
    processor->home = self;
    processor->state.store(State::running, std::memory_order_relaxed);
    if (spill_) {
      bring_in(*processor);
      ask_ahead(self);
    }
    processor->context.resume();
    if (spill_) put_out(*processor);
    handle(*processor);
  }
}

VirtualProcessor* VirtualMachine::next(std::int32_t self) {
  Carrier& own = carriers_[static_cast<std::size_t>(self)];
  {
    const std::lock_guard lock(own.mutex);
    if (own.head < own.ready.size()) return own.ready[own.head++];
    own.ready.clear();
    own.head = 0;
  }
  return options().migrate && carriers_.size() > 1 ? steal(self) : nullptr;
}

/// Takes the later half of what another carrier still has to run in this superstep.
VirtualProcessor* VirtualMachine::steal(std::int32_t self) {
  const auto count = carriers_.size();
  std::vector<VirtualProcessor*> loot;
  for (std::size_t i = 1; i < count && loot.empty(); ++i) {
    Carrier& victim = carriers_[(static_cast<std::size_t>(self) + i) % count];
    const std::lock_guard lock(victim.mutex);
    const std::size_t left = victim.ready.size() - victim.head;
    const std::size_t take = (left + 1) / 2;
    loot.assign(victim.ready.end() - static_cast<std::ptrdiff_t>(take), victim.ready.end());
    victim.ready.resize(victim.ready.size() - take);
  }
  if (loot.empty()) return nullptr;
  Carrier& own = carriers_[static_cast<std::size_t>(self)];
  const std::lock_guard lock(own.mutex);
  own.ready.insert(own.ready.end(), loot.begin() + 1, loot.end());
  return loot.front();
}

bool VirtualMachine::any_ready() {
  for (Carrier& carrier : carriers_) {
    const std::lock_guard lock(carrier.mutex);
    if (carrier.head < carrier.ready.size()) return true;
  }
  return false;
}

bool VirtualMachine::rest(std::int32_t self) {
  Carrier& own = carriers_[static_cast<std::size_t>(self)];
  const auto can_go_on = [&] {
    if (options().migrate) return any_ready();
    const std::lock_guard lock(own.mutex);
    return own.head < own.ready.size();
  };
  std::unique_lock lock(rest_mutex_);
  resting_.fetch_add(1, std::memory_order_seq_cst);
  while (unfinished_.load() > 0 && !can_go_on()) {
    if (resting_.load() == static_cast<std::int32_t>(carriers_.size()) && !any_ready()) {
      // Nobody runs, nobody is ready: nobody will ever wake the others.
      resting_.fetch_sub(1);
      lock.unlock();
      fail(deadlock_report());
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

void VirtualMachine::push_ready(VirtualProcessor& processor) {
  Carrier& carrier = carriers_[static_cast<std::size_t>(processor.home)];
  const std::lock_guard lock(carrier.mutex);
  carrier.ready.push_back(&processor);
}

void VirtualMachine::wake(std::int32_t rank) {
  VirtualProcessor& one = processor(rank);
  State asleep = State::asleep;
  if (!one.state.compare_exchange_strong(asleep, State::ready, std::memory_order_acq_rel)) return;
  push_ready(one);
  announce();
}

void VirtualMachine::wake_all() noexcept {
  for (std::int32_t rank = 0; rank < size(); ++rank) wake(rank);
}

void VirtualMachine::sleep(VirtualProcessor& self, VirtualGroup* group, const Arrival* arrival, const Waiting& why) {
  throw_if_failed();
  const auto* const here = static_cast<const std::byte*>(__builtin_frame_address(0));
  if (here < self.stack + 2048) {
    throw MachineError(Fault::stack_overflow,
                       fmt::format("rank {} at {}:{} has used its {} bytes of stack; raise Options::stack_bytes",
                                   self.rank, why.file, why.line, stack_bytes_));
  }
  self.group = group, self.arrival = arrival, self.why = &why;
  self.context.suspend();
  throw_if_failed();
}

void VirtualMachine::handle(VirtualProcessor& one) {
  if (one.context.finished()) {
    one.state.store(State::finished, std::memory_order_release);
    if (unfinished_.fetch_sub(1) == 1) {
      const std::lock_guard lock(rest_mutex_);
      rest_.notify_all();
    }
    return;
  }
  waiting[static_cast<std::size_t>(one.rank)] = *one.why;
  const std::int32_t rank = one.rank;
  const bool mail = one.group == nullptr;
  if (mail) {
    one.state.store(State::asleep, std::memory_order_release);
    if (!mark_asleep(rank)) wake(rank);
  } else {
    arrive(one);
  }
  if (failed()) wake(rank);  // it fell asleep after everybody was woken
}

/// From here on the processor may be woken, and run, by another carrier at any moment.
void VirtualMachine::arrive(VirtualProcessor& one) {
  VirtualGroup& group = *one.group;
  group.arrivals[static_cast<std::size_t>(one.arrival->member)] = *one.arrival;
  one.state.store(State::asleep, std::memory_order_release);
  if (group.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 != group.info.members.count) return;
  group.arrived.store(0, std::memory_order_relaxed);
  try {
    group.flags = meet(group.arrivals, group.info.members);
    group.books.close(group.arrivals, options().per_processor_costs);
  } catch (...) {
    fail(std::current_exception());
    return;
  }
  // In rank order, so that one carrier always runs them in the same order; a lock for each run of equal
  // homes.
  const Members members = group.info.members;  // the group may go as soon as its last member runs
  for (std::int32_t i = 0; i < members.count;) {
    const std::int32_t home = processor(members.at(i)).home;
    Carrier& carrier = carriers_[static_cast<std::size_t>(home)];
    const std::lock_guard lock(carrier.mutex);
    for (; i < members.count && processor(members.at(i)).home == home; ++i) {
      VirtualProcessor& member = processor(members.at(i));
      State asleep = State::asleep;
      if (member.state.compare_exchange_strong(asleep, State::ready, std::memory_order_acq_rel)) {
        carrier.ready.push_back(&member);
      }
    }
  }
  announce();
}

}  // namespace chasqui::bsp::detail
