// SPDX-License-Identifier: MIT
// What the engines inside one process share: mailboxes, machines that synchronise, the ledger and the first
// fault. Threads and virtual processors differ only in how a processor sleeps and wakes.
#pragma once

#include <atomic>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "chasqui/base/clock.hpp"
#include "chasqui/bsp/detail/endpoint.hpp"
#include "chasqui/bsp/fault.hpp"

namespace chasqui::bsp::detail {

/// Thrown in processors that must stop because another one failed.
struct Stopped {};

/// A machine that synchronises, with what its supersteps cost.
struct SharedGroup : GroupState {
  explicit SharedGroup(GroupInfo description) : GroupState(std::move(description)), costs(info.costs()) {}
  /// Takes in what the members have not yet handed over. Called by the last to leave.
  virtual void close(bool /*keep_rows*/) {}

  std::mutex books;  ///< guards the costs
  MachineCosts costs;
  std::weak_ptr<SharedGroup>
      self{};  ///< for who wakes the members and still needs it: it goes with the last of them to leave
};

class SharedMachine {
 public:
  SharedMachine(std::int32_t processors, const Options& options);
  virtual ~SharedMachine();
  SharedMachine(const SharedMachine&) = delete;
  SharedMachine& operator=(const SharedMachine&) = delete;

  std::int32_t size() const { return processors_; }
  const Options& options() const { return options_; }

  // Mailboxes: a stack of blocks each, or the mark of a sleeping owner.
  /// True when the owner was asleep and must be woken.
  bool push(std::int32_t to, Block* block);
  Block* pop_all(std::int32_t owner);
  /// False when there is mail already; true: the mark is set, whoever pushes next wakes the owner.
  bool mark_asleep(std::int32_t owner);
  bool asleep(std::int32_t owner) const;
  std::atomic<Block*>& mailbox(std::int32_t owner) { return mail_[static_cast<std::size_t>(owner)]; }
  static Block* sleeping_mark();

  GroupPtr open(const GroupInfo& info);
  /// nullptr: it is not open at the moment.
  std::shared_ptr<SharedGroup> open_group(std::uint64_t id);
  /// Of those that are open, the first, or the one after `before`; nullptr: there is none. Takes no memory: whoever has none
  /// left must wake the others.
  std::shared_ptr<SharedGroup> next_open_group(const SharedGroup* before);
  void report(const GroupInfo& info, std::span<const Booking> rows);
  /// `whole`: what is known of the whole machine while it is open; without it what its books say.
  Ledger ledger(double seconds, std::optional<MachineCosts> whole = {});

  /// Keeps the first failure and wakes everybody. Safe from any thread.
  void fail(std::exception_ptr failure) noexcept;
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  void throw_if_failed() const {
    if (failed()) throw Stopped{};
  }
  void rethrow_failure();
  /// Throws when somebody has not taken what was sent to him. REQUIRES that all have ended.
  void check_mail();

  /// The report of a machine in which everybody waits or has finished.
  std::exception_ptr deadlock_report() const;

  std::vector<Waiting> waiting;        ///< by processor: why it sleeps
  std::vector<std::uint8_t> finished;  ///< by processor

 protected:
  virtual void wake_all() noexcept = 0;
  virtual SharedGroup* make_group(const GroupInfo& info) = 0;  ///< the caller owns it

 private:
  struct Owner {
    Owner() = default;
    ~Owner();
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;

    SharedMachine* machine = nullptr;
    std::unique_ptr<SharedGroup> group{};
  };

  std::int32_t processors_;
  Options options_;
  std::unique_ptr<std::atomic<Block*>[]> mail_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::weak_ptr<SharedGroup>> groups_;
  std::unordered_map<std::uint64_t, MachineCosts> accounts_;
  std::atomic<bool> failed_{false};
  std::exception_ptr failure_;

  void settle(const MachineCosts& costs);
};

}  // namespace chasqui::bsp::detail
