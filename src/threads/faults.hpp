// SPDX-License-Identifier: MIT
// What threads of one process say to each other of failures: in memory that all of them see, one at a time.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "run/faults/bad_news.hpp"
#include "run/faults/fault_channel.hpp"

namespace chasqui::threads {

/// Of all ranks of a communicator.
struct FaultMemory {
  explicit FaultMemory(int ranks) : told(static_cast<std::size_t>(ranks)) {}

  std::mutex mutex;
  std::atomic<bool> any{false};  ///< news: looked at without the mutex
  run::BadNews heard;
  std::vector<std::deque<run::Told>> told;  ///< per rank
};

/// One rank's end.
class Faults final : public run::FaultChannel {
 public:
  Faults(std::shared_ptr<FaultMemory> memory, int rank) : memory_(std::move(memory)), rank_(rank) {}

  void report(std::uint64_t first, std::uint64_t last, const std::string& why) override {
    const std::lock_guard lock(memory_->mutex);
    memory_->heard.report(first, last, why);
    memory_->any.store(true, std::memory_order_release);
  }
  void refuse(std::uint64_t number, const std::string& why) override {
    const std::lock_guard lock(memory_->mutex);
    memory_->heard.refuse(number, why);
    memory_->any.store(true, std::memory_order_release);
  }
  bool failed(std::uint64_t number, const std::vector<std::uint64_t>& own) override {
    if (!memory_->any.load(std::memory_order_acquire)) return false;
    const std::lock_guard lock(memory_->mutex);
    return memory_->heard.concerns(number, own);
  }
  bool broken() const override {
    const std::lock_guard lock(memory_->mutex);
    return memory_->heard.broken();
  }
  std::string failure() const override {
    const std::lock_guard lock(memory_->mutex);
    return memory_->heard.why();
  }
  void tell(int to, std::uint64_t number, const run::Signature& call) override {
    const std::lock_guard lock(memory_->mutex);
    memory_->told[static_cast<std::size_t>(to)].push_back({rank_, number, call});
  }
  std::optional<run::Told> hear() override {
    const std::lock_guard lock(memory_->mutex);
    auto& mine = memory_->told[static_cast<std::size_t>(rank_)];
    if (mine.empty()) return std::nullopt;
    const run::Told first = mine.front();
    mine.pop_front();
    return first;
  }

 private:
  std::shared_ptr<FaultMemory> memory_;
  int rank_;
};

}  // namespace chasqui::threads
