// SPDX-License-Identifier: MIT
// Virtual processors: user-level contexts on a few carrier threads. A processor is always either running,
// ready in some carrier's queue, asleep (at a barrier or without mail), or finished; it only ever sleeps
// inside a sync or a collective, so it may continue on any carrier.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "bsp/context.hpp"
#include "bsp/engines.hpp"
#include "bsp/shared_machine.hpp"
#include "bsp/spill_file.hpp"

namespace chasqui::bsp::detail {

class VirtualMachine;

/// The last member to arrive closes the books and lets all go.
struct VirtualGroup final : SharedGroup {
  explicit VirtualGroup(const GroupInfo& description)
      : SharedGroup(description), arrivals(static_cast<std::size_t>(info.members.count)) {}

  std::vector<Arrival> arrivals;  ///< by member; their rows are valid while the member sleeps
  std::uint32_t flags = 0;        ///< of the last barrier; stable until the next one completes
  alignas(64) std::atomic<std::int32_t> arrived{0};
};

enum class State : std::uint8_t { ready, running, asleep, finished };

struct VirtualProcessor {
  VirtualMachine* machine = nullptr;
  std::int32_t rank = 0;
  std::int32_t home = 0;  ///< the carrier that ran it last
  std::atomic<State> state{State::ready};
  Context context;
  std::byte* stack = nullptr;
  std::vector<Segment*> segments;  ///< spilled registered memory
  // Why it suspended; handled by the carrier, when its stack is no longer in use.
  VirtualGroup* group = nullptr;  ///< nullptr: waits for mail
  const Arrival* arrival = nullptr;
  const Waiting* why = nullptr;
};

class VirtualMachine final : public SharedMachine {
 public:
  VirtualMachine(std::int32_t processors, const Options& options, const Body& body);
  ~VirtualMachine() override;

  void run();
  void wake(std::int32_t rank);
  /// Called inside a processor: gives the carrier back until the reason is gone. Throws Stopped on failure.
  void sleep(VirtualProcessor& self, VirtualGroup* group, const Arrival* arrival, const Waiting& why);
  void enter(VirtualProcessor& self);
  SpillFile* spill() { return spill_ ? &*spill_ : nullptr; }
  VirtualProcessor& processor(std::int32_t rank) { return processors_[static_cast<std::size_t>(rank)]; }

 protected:
  void wake_all() noexcept override;
  SharedGroup* make_group(const GroupInfo& info) override { return new VirtualGroup(info); }

 private:
  struct alignas(64) Carrier {
    std::mutex mutex;
    std::vector<VirtualProcessor*> ready;
    std::size_t head = 0;
  };

  void carry(std::int32_t self);
  VirtualProcessor* next(std::int32_t self);
  VirtualProcessor* steal(std::int32_t self);
  /// False when everything is over.
  bool rest(std::int32_t self);
  bool any_ready();
  void handle(VirtualProcessor& processor);
  void arrive(VirtualProcessor& processor);
  void push_ready(VirtualProcessor& processor);
  void announce();
  void bring_in(VirtualProcessor& processor);
  void put_out(VirtualProcessor& processor);
  void ask_ahead(std::int32_t self);

  const Body& body_;
  std::unique_ptr<VirtualProcessor[]> processors_;
  std::vector<Carrier> carriers_;
  std::byte* stacks_ = nullptr;
  std::size_t stack_bytes_;
  std::size_t mapped_ = 0;
  std::optional<SpillFile> spill_;

  std::mutex rest_mutex_;
  std::condition_variable rest_;
  std::atomic<std::int32_t> resting_{0};
  std::atomic<std::int32_t> unfinished_;
};

}  // namespace chasqui::bsp::detail
