// SPDX-License-Identifier: MIT
// The door of a virtual processor.
#include "bsp/virtual/machine.hpp"

namespace chasqui::bsp::detail {

namespace {

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
    if (block.spilled) machine_.spilled()->unstow(block);
  }

  void allocate(Segment& segment) override {
    SpilledMemory* const spilled = machine_.spilled();
    if (spilled == nullptr || !spilled->allocate(segment, self_.segments))
      segment.data = new std::byte[segment.bytes + 1];
  }
  void release(Segment& segment) noexcept override {
    if (segment.spilled_at == 0) delete[] segment.data;
    else machine_.spilled()->release(segment, self_.segments);
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

Ledger run_virtual(std::int32_t processors, const Options& options, const Body& body) {
  const std::int64_t begin = clock_nanoseconds();
  VirtualMachine machine(processors, options, [&](VirtualProcessor& self) {
    VirtualEndpoint endpoint(machine, self);
    Processor processor(endpoint);
    body(processor);
  });
  machine.run();
  machine.rethrow_failure();
  machine.check_mail();
  return machine.ledger(static_cast<double>(clock_nanoseconds() - begin) * 1e-9);
}

}  // namespace chasqui::bsp::detail
