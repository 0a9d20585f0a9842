// SPDX-License-Identifier: MIT
// Virtual processors: user-level contexts on a few carrier threads. A processor is always either running,
// ready in some carrier's queue, asleep (in a section of a machine, or without mail), or finished; it only ever sleeps
// inside a sync or a collective, so it may continue on any carrier. A superstep touches nothing of a processor but one line
// here and the top of its stack, where all its state lies, and both are asked for while others run. Those who sleep in a
// section are woken as one list; what they sent each other waits with the machine that they synchronise.
#pragma once

#include <array>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "bsp/engines.hpp"
#include "bsp/shared_machine.hpp"
#include "bsp/virtual/context.hpp"
#include "bsp/virtual/group.hpp"
#include "bsp/virtual/spilled_memory.hpp"

namespace chasqui::bsp::detail {

class VirtualMachine;

/// What a processor sleeps for that does not end a superstep.
struct Pause {
  VirtualGroup* group = nullptr;  ///< nullptr: waits for mail
  const Arrival* arrival = nullptr;
  const Waiting& why;
};

/// Two lines, which a superstep touches.
struct alignas(kApart) VirtualProcessor {
  // Why it suspended; handled by the carrier, when its stack is no longer in use.
  VirtualGroup* group = nullptr;  ///< that it sleeps in; nullptr: waits for mail
  Ending* ending = nullptr;       ///< of a superstep; nullptr: it pauses for something else
  const Pause* pause = nullptr;
  std::int32_t member = 0;  ///< of the group
  std::int32_t home = 0;    ///< the carrier that ran it last
  std::int32_t rank = 0;
  std::atomic<bool> without_mail{false};  ///< sleeps until something comes
  VirtualMachine* machine = nullptr;
  VirtualProcessor* woken_next = nullptr;  ///< while those who slept somewhere are made ready
  SpilledSegments segments;
  Context context;

  std::span<Segment* const> spilled() const {
    return segments == nullptr ? std::span<Segment* const>() : std::span<Segment* const>(*segments);
  }
};

class VirtualMachine final : public SharedMachine {
 public:
  /// `program`: what each processor runs, in its own context.
  VirtualMachine(std::int32_t processors, const Options& options, std::function<void(VirtualProcessor&)> program);
  ~VirtualMachine() override;

  void run();
  void wake(std::int32_t rank);
  /// Called inside a processor: gives the carrier back until the reason is gone. Throws Stopped on failure.
  void sleep(VirtualProcessor& self, Ending* ending, const Pause* pause) {
    throw_if_failed();
    if (static_cast<const std::byte*>(__builtin_frame_address(0)) < self.context.stack() + kLeastStack) [[unlikely]]
      stack_overflow(self, ending != nullptr ? ending->why() : pause->why);
    self.ending = ending, self.pause = pause;
    self.context.suspend();
    throw_if_failed();
  }
  /// Moves the payload to disk, if anything goes there.
  void stow(Block& block) {
    if (spilled_) spilled_->stow(block);
  }
  void hand_over(VirtualGroup& group, std::span<Parcel> parcels);
  SpareBlocks& spares_of(const VirtualProcessor& running) {
    return carriers_[static_cast<std::size_t>(running.home)].spares;
  }
  SpilledMemory* spilled() { return spilled_ ? &*spilled_ : nullptr; }
  VirtualProcessor& processor(std::int32_t rank) { return processors_[static_cast<std::size_t>(rank)]; }
  const GroupPtr& whole() const { return whole_; }  ///< the machine of all processors

 protected:
  void wake_all() noexcept override;
  SharedGroup* make_group(const GroupInfo& info) override {
    return new VirtualGroup(info, static_cast<std::int32_t>(carriers_.size()));
  }

 private:
  static constexpr std::size_t kMostSpare = 4096, kMostSpareBytes = std::size_t{64} << 20;  ///< of a carrier
  static constexpr std::size_t kLeastStack = 2048;  ///< bytes that must be left of a stack
  [[noreturn]] void stack_overflow(const VirtualProcessor& self, const Waiting& why) const;

  /// Its lists have room for whatever may come to be in them: who is woken needs no memory.
  struct alignas(kApart) Carrier {
    SpareBlocks spares{kMostSpare, kMostSpareBytes};  ///< what one of its processors has read the next one writes
    std::vector<VirtualProcessor*> taken;             ///< its own, from `at` on
    std::size_t at = 0;
    std::array<Arrived, 64> arrived;  ///< members of the whole machine that are not in their sections yet
    std::size_t arrivals = 0;
    std::int32_t ended = 0;                ///< processors that are not counted yet
    std::mutex mutex;                      ///< guards what follows; others may take from it
    std::vector<VirtualProcessor*> ready;  ///< from `head` on; with several carriers nullptr before it
    std::size_t head = 0;
    std::atomic<std::size_t> left{0};  ///< from head on

    void reserve(std::size_t processors) {  // as many again have run, and are taken away when there is no room
      taken.reserve(2 * processors);
      ready.reserve(2 * processors);
    }
    void note() { left.store(ready.size() - head); }
    void make_room(std::size_t more) {
      if (head == ready.size() || ready.size() + more > ready.capacity())
        ready.erase(ready.begin(), ready.begin() + static_cast<std::ptrdiff_t>(std::exchange(head, 0)));
    }
    void append(std::span<VirtualProcessor* const> batch) {
      make_room(batch.size());
      ready.insert(ready.end(), batch.begin(), batch.end());
    }
  };

  void carry(std::int32_t self);
  void give_back_stacks(std::int32_t self);
  /// The first processor that a carrier begins with.
  std::int32_t first_of(std::int64_t carrier) const {
    const auto carriers = static_cast<std::int64_t>(carriers_.size());
    return static_cast<std::int32_t>((size() * carrier + carriers - 1) / carriers);
  }
  /// Where a carrier's stacks begin. A page that nobody has lies before them: they are a mapping of their own, as carriers that touch
  /// pages of the same one for the first time wait for each other.
  std::size_t stacks_of(std::int64_t carrier) const {
    return page_ * static_cast<std::size_t>(carrier) + stack_bytes_ * static_cast<std::size_t>(first_of(carrier));
  }
  VirtualProcessor* next(std::int32_t self);
  bool steal(std::int32_t self);
  /// False when everything is over.
  bool rest(std::int32_t self);
  bool any_ready() const;
  void handle(Carrier& own, VirtualProcessor& processor);
  void arrive(Carrier& own, VirtualProcessor& processor, VirtualGroup& group, const Arrival& arrival);
  void seat(Carrier& own);
  void count_ended(Carrier& own);
  void come(Carrier& own, VirtualProcessor& processor);
  void leave(VirtualProcessor& processor);
  void complete(std::shared_ptr<SharedGroup> kept);
  void release(std::shared_ptr<SharedGroup> kept);
  void release_to_carriers(std::shared_ptr<SharedGroup> kept);
  void make_ready(VirtualProcessor* first);
  void start_carriers(std::vector<std::thread>& threads);
  void ask_for_next(const Carrier& own) const;
  void announce();
  void enter(VirtualProcessor& self);
  void bring_in(VirtualProcessor& processor);
  void ask_ahead(const Carrier& own);

  const std::function<void(VirtualProcessor&)> program_;
  std::unique_ptr<VirtualProcessor[]> processors_;
  std::vector<Carrier> carriers_;
  struct Unmap {
    std::size_t bytes;
    void operator()(std::byte* stacks) const;
  };
  std::unique_ptr<std::byte, Unmap> stacks_;  ///< of all processors
  std::size_t stack_bytes_, page_;
  std::size_t mapped_ = 0;
  std::optional<SpilledMemory> spilled_;

  bool spins_;  ///< is there a core for every carrier?
  std::mutex rest_mutex_;
  std::condition_variable rest_;
  std::atomic<std::int32_t> resting_{0};
  std::atomic<std::int32_t> unfinished_;
  GroupPtr whole_;  ///< goes first: its end may find a fault, and wake processors
};

}  // namespace chasqui::bsp::detail
