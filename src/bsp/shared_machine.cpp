// SPDX-License-Identifier: MIT
#include "bsp/shared_machine.hpp"

#include <algorithm>

#include "bsp/waiting_report.hpp"
#include "chasqui/bsp/detail/processor.hpp"

namespace chasqui::bsp::detail {

SharedMachine::SharedMachine(std::int32_t processors, const Options& options)
    : finished(static_cast<std::size_t>(processors)), processors_(processors), options_(options),
      mail_(std::make_unique<std::atomic<Block*>[]>(static_cast<std::size_t>(processors))) {}

SharedMachine::~SharedMachine() {
  for (std::int32_t owner = 0; owner < processors_; ++owner) Chain::free(pop_all(owner));
}

Block* SharedMachine::sleeping_mark() {
  static Block mark;
  return &mark;
}

bool SharedMachine::push(std::int32_t to, Block* block) {
  std::atomic<Block*>& head = mailbox(to);
  Block* old = head.load(std::memory_order_relaxed);
  do {
    block->next = old == sleeping_mark() ? nullptr : old;
  } while (!head.compare_exchange_weak(old, block, std::memory_order_acq_rel, std::memory_order_relaxed));
  return old == sleeping_mark();
}

Block* SharedMachine::pop_all(std::int32_t owner) {
  if (mailbox(owner).load(std::memory_order_acquire) == nullptr) return nullptr;
  Block* const head = mailbox(owner).exchange(nullptr, std::memory_order_acq_rel);
  return head == sleeping_mark() ? nullptr : head;
}

bool SharedMachine::mark_asleep(std::int32_t owner) {
  Block* none = nullptr;
  return mailbox(owner).compare_exchange_strong(none, sleeping_mark(), std::memory_order_acq_rel);
}

bool SharedMachine::asleep(std::int32_t owner) const {
  return mail_[static_cast<std::size_t>(owner)].load(std::memory_order_acquire) == sleeping_mark();
}

/// The last member to leave hands the accounts to the ledger.
SharedMachine::Owner::~Owner() {
  if (machine == nullptr) return;
  try {
    group->close(machine->options_.per_processor_costs);
    machine->settle(group->costs);
  } catch (...) {
    machine->fail(std::current_exception());
  }
}

GroupPtr SharedMachine::open(const GroupInfo& info) {
  std::shared_ptr<SharedGroup> group;
  {
    const std::lock_guard lock(mutex_);
    std::weak_ptr<SharedGroup>& known = groups_[info.id];
    group = known.lock();
    if (group == nullptr) {
      auto owner = std::make_shared<Owner>();
      owner->group.reset(make_group(info));
      owner->machine = this;
      group = std::shared_ptr<SharedGroup>(owner, owner->group.get());
      known = group->self = group;
    }
  }
  if (group->info.members.count != info.members.count) {
    throw MachineError(
        Fault::sync_mismatch,
        fmt::format("processors disagree on a split: the submachine from rank {} on has {} or {} processors",
                    info.members.first, info.members.count, group->info.members.count));
  }
  return group;
}

std::shared_ptr<SharedGroup> SharedMachine::open_group(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto known = groups_.find(id);
  return known != groups_.end() ? known->second.lock() : nullptr;
}

std::shared_ptr<SharedGroup> SharedMachine::next_open_group(const SharedGroup* before) {
  const std::lock_guard lock(mutex_);
  auto known = before == nullptr ? groups_.begin() : groups_.upper_bound(before->info.id);
  for (; known != groups_.end(); ++known) {
    if (auto group = known->second.lock()) return group;
  }
  return nullptr;
}

void SharedMachine::settle(const MachineCosts& costs) {
  const std::lock_guard lock(mutex_);
  if (const auto known = groups_.find(costs.id); known != groups_.end() && known->second.expired())
    groups_.erase(known);
  const auto [found, fresh] = accounts_.try_emplace(costs.id, costs);
  if (!fresh) merge(found->second, costs);
}

void SharedMachine::report(const GroupInfo& info, std::span<const Booking> rows) {
  if (rows.empty()) return;
  const std::lock_guard lock(mutex_);
  MachineCosts& costs = accounts_.try_emplace(info.id, info.costs()).first->second;
  for (const Booking& row : rows) merge(costs, row, options_.per_processor_costs);
}

Ledger SharedMachine::ledger(double seconds, std::optional<MachineCosts> whole_so_far) {
  std::unordered_map<std::uint64_t, MachineCosts> all;
  {
    const std::lock_guard lock(mutex_);
    all = accounts_;
  }
  if (const auto whole = open_group(GroupInfo{}.id); whole != nullptr && !whole_so_far) {
    const std::lock_guard lock(whole->books);
    whole_so_far = whole->costs;
  }
  if (whole_so_far) {
    const auto [found, fresh] = all.try_emplace(whole_so_far->id, *whole_so_far);
    if (!fresh) merge(found->second, *whole_so_far);
  }
  std::vector<MachineCosts> machines;
  machines.reserve(all.size());
  for (auto& [id, costs] : all) machines.push_back(std::move(costs));
  return {processors_, seconds, arrange(std::move(machines))};
}

void SharedMachine::fail(std::exception_ptr failure) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (failure_ == nullptr) failure_ = std::move(failure);
  }
  failed_.store(true, std::memory_order_release);
  wake_all();
}

void SharedMachine::rethrow_failure() {
  const std::lock_guard lock(mutex_);
  if (failure_ != nullptr) std::rethrow_exception(failure_);
}

void SharedMachine::check_mail() {
  for (std::int32_t owner = 0; owner < processors_; ++owner) {
    const Pile left(pop_all(owner));
    if (!left.empty()) throw MachineError(Fault::lost_messages, unclaimed(*left.last(), owner));
  }
}

std::exception_ptr SharedMachine::deadlock_report() const {
  return std::make_exception_ptr(waiting_report(waiting, finished));
}

}  // namespace chasqui::bsp::detail
