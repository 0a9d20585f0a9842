// SPDX-License-Identifier: MIT
// The door of a virtual processor, and what spilling adds: memory of the running processor only.
#include <algorithm>

#include "bsp/virtual_machine.hpp"

namespace chasqui::bsp::detail {

namespace {

constexpr std::size_t kSmallest = 4096;  ///< below this, memory is cheaper than a page of disk

class VirtualEndpoint final : public Endpoint {
 public:
  VirtualEndpoint(VirtualMachine& machine, VirtualProcessor& self) : machine_(machine), self_(self) {}

  std::int32_t rank() const override { return self_.rank; }
  std::int32_t size() const override { return machine_.size(); }
  const Options& options() const override { return machine_.options(); }

  void post(std::int32_t to, BlockPtr block) override {
    stow(*block);
    if (machine_.push(to, block.release())) machine_.wake(to);
  }
  Block* take() override { return machine_.pop_all(self_.rank); }
  void await(const Waiting& why) override {
    const Pause pause{nullptr, nullptr, why};
    machine_.sleep(self_, nullptr, &pause);
  }

  /// The whole machine is there as long as its processors: nobody counts who uses it, as all would write that count.
  GroupPtr open(const GroupInfo& info) override {
    return info.id == GroupInfo{}.id ? GroupPtr(GroupPtr(), machine_.whole().get()) : machine_.open(info);
  }
  std::uint32_t meet(GroupState& state, const Arrival& arrival, std::span<Parcel> parcels, Blocks& in,
                     const Waiting& why) override {
    auto& group = static_cast<VirtualGroup&>(state);
    machine_.hand_over(group, parcels);
    const Pause pause{&group, &arrival, why};
    machine_.sleep(self_, nullptr, &pause);
    group.take(arrival.member, in);
    return group.flags;
  }

  bool ends() const override { return true; }
  void end(Ending& ending) override { machine_.sleep(self_, &ending, nullptr); }

  SpareBlocks* spares() override { return &machine_.spares_of(self_); }
  void stow(Block& block) override { machine_.stow(block); }
  void unstow(Block& block) override {
    if (!block.spilled) return;
    SpillFile& file = *machine_.spill();
    const auto bytes = static_cast<std::size_t>(block.on_disk.bytes);
    file.read(block.on_disk.at, {block.payload.extend(bytes), bytes});
    file.release(block.on_disk.at, bytes);
    block.spilled = false;
  }

  void allocate(Segment& segment) override {
    SpillFile* const file = machine_.spill();
    if (file == nullptr || segment.bytes < kSmallest) {
      segment.data = new std::byte[segment.bytes + 1];
      return;
    }
    if (self_.segments == nullptr) self_.segments = std::make_unique<std::vector<Segment*>>();
    const std::uint64_t at = file->allocate(segment.bytes);
    self_.segments->push_back(&segment);
    try {
      segment.data = file->map(at, segment.bytes, nullptr);
    } catch (...) {
      self_.segments->pop_back();
      file->release(at, segment.bytes);
      throw;
    }
    segment.spilled_at = at + 1;  // 0 means "in memory"
  }
  void release(Segment& segment) noexcept override {
    if (segment.spilled_at == 0) {
      delete[] segment.data;
      return;
    }
    if (segment.data != nullptr) machine_.spill()->unmap(segment.data, segment.bytes);
    machine_.spill()->release(segment.spilled_at - 1, segment.bytes);
    std::erase(*self_.segments, &segment);
  }

  bool book(GroupState& state, const Row& row, std::int64_t span) override {
    static_cast<VirtualGroup&>(state).book(self_.home, row, span, options().per_processor_costs);
    return true;
  }
  void report(GroupState&, std::span<const Booking>) override {}  // all rows are booked
  Ledger ledger() override { return machine_.ledger(0); }

 private:
  VirtualMachine& machine_;
  VirtualProcessor& self_;
};

}  // namespace

void VirtualMachine::enter(VirtualProcessor& self) {
  VirtualEndpoint endpoint(*this, self);
  try {
    throw_if_failed();
    Processor processor(endpoint);
    body_(processor);
  } catch (const Stopped&) {
  } catch (...) {
    fail(std::current_exception());
  }
  finished[static_cast<std::size_t>(self.rank)] = 1;
}

void VirtualMachine::stow(Block& block) {
  if (!spill_ || block.payload.size() < kSmallest) return;
  block.on_disk = {spill_->allocate(block.payload.size()), block.payload.size()};
  spill_->write(block.on_disk.at, block.payload.view());
  spill_->write_behind(block.on_disk.at, block.on_disk.bytes);
  block.payload.release();
  block.spilled = true;
}

void VirtualMachine::hand_over(VirtualGroup& group, std::span<Parcel> parcels) {
  for (Parcel& parcel : parcels) {
    while (BlockPtr block = parcel.blocks.pop_front()) {
      if (spill_) stow(*block);
      group.push(parcel.to, block.release());
    }
  }
}

void VirtualMachine::bring_in(VirtualProcessor& one) {
  for (Segment* segment : one.spilled()) {
    std::byte* const before = std::exchange(segment->data, nullptr);  // it stays so if it cannot be mapped
    if (!failed()) segment->data = spill_->map(segment->spilled_at - 1, segment->bytes, before);
  }
}

void VirtualMachine::put_out(VirtualProcessor& one) {
  for (Segment* segment : one.spilled()) {
    if (segment->data == nullptr) continue;
    spill_->unmap(segment->data, segment->bytes);
    spill_->write_behind(segment->spilled_at - 1, segment->bytes);
  }
}

/// The next processor's memory and mail are read while this one computes; the one before last is forgotten.
void VirtualMachine::ask_ahead(std::int32_t self) {
  const Carrier& own = carriers_[static_cast<std::size_t>(self)];
  if (own.at >= 3) {
    for (const Segment* segment : own.taken[own.at - 3]->spilled())
      spill_->forget(segment->spilled_at - 1, segment->bytes);
  }
  if (own.at >= own.taken.size()) return;
  const VirtualProcessor& next = *own.taken[own.at];
  for (const Segment* segment : next.spilled()) spill_->read_ahead(segment->spilled_at - 1, segment->bytes);
  if (next.group == nullptr) return;
  const Block* block = next.group->incoming(next.member)[(next.group->meetings - 1) % 2].load();
  for (; block != nullptr; block = block->next) {
    if (block->spilled) spill_->read_ahead(block->on_disk.at, block->on_disk.bytes);
  }
}

Ledger run_virtual(std::int32_t processors, const Options& options, const Body& body) {
  const std::int64_t begin = clock_nanoseconds();
  VirtualMachine machine(processors, options, body);
  machine.run();
  machine.rethrow_failure();
  return machine.ledger(static_cast<double>(clock_nanoseconds() - begin) * 1e-9);
}

}  // namespace chasqui::bsp::detail
