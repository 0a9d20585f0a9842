// SPDX-License-Identifier: MIT
// Which ranks have made their last call: threads of a process know it of each other, and so do processes whose death is
// watched. Who waits for one of them in a later call waits in vain, and gets an Error.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "chasqui/base/error.hpp"

namespace chasqui::run {

/// Why a call of this thread failed last, on whichever communicator. A rank that leaves others by an exception says it.
inline std::string& last_error_here() {
  thread_local std::string text;
  return text;
}

/// Shared by the ranks of a communicator; the words lie where all of them see them, zeroed.
class Departures {
 public:
  using Word = std::atomic<std::uint64_t>;
  /// `after`: a word for each rank. `names`: what they are called.
  Departures(Word* any, std::vector<Word*> after, std::vector<std::string> names)
      : any_(any), after_(std::move(after)), names_(std::move(names)) {}
  /// Of threads.
  explicit Departures(int ranks) : own_(static_cast<std::size_t>(ranks) + 1), any_(&own_.back()) {
    for (int r = 0; r < ranks; ++r) after_.push_back(&own_[static_cast<std::size_t>(r)]);
  }
  Departures(const Departures&) = delete;
  Departures& operator=(const Departures&) = delete;

  /// The rank makes no call after its first `calls`.
  void leave(int rank, std::uint64_t calls) {
    word(rank).store((calls + 1) << 1, std::memory_order_release);
    any_->store(1, std::memory_order_release);
  }
  /// Its process is no more, and had completed so many; 0: nobody knows.
  void die(int rank, std::uint64_t calls) {
    std::uint64_t there = 0;
    if (word(rank).compare_exchange_strong(there, (calls + 1) << 1 | 1)) any_->store(1, std::memory_order_release);
  }
  void back(int rank) { word(rank).store(0); }  ///< it makes some after all
  bool left(int rank) const { return after_[static_cast<std::size_t>(rank)]->load() != 0; }

  /// Will a rank not come to this call? A look at one line while all are there. What a rank reported before it left can be
  /// seen afterwards.
  bool concerns(std::uint64_t call) const {
    return any_->load(std::memory_order_acquire) != 0 && first_for(call) < after_.size();
  }
  /// Who. REQUIRES concerns(call), unless that rank is back.
  [[noreturn]] void fail(std::uint64_t call) const {
    const std::size_t rank = first_for(call);
    const std::uint64_t found = rank < after_.size() ? after_[rank]->load() : 2, calls = (found >> 1) - 1;
    const std::string after = fmt::format("after {} collective{}, ", calls, calls == 1 ? "" : "s");
    const std::string name = rank < names_.size() ? names_[rank] : fmt::format("rank {}", rank);
    if ((found & 1) != 0) {
      throw Error("{}: its process has ended, or was killed, {}and will not come to number {}", name,
                  calls == 0 ? "" : after, call);
    }
    throw Error(
        "{} has ended, or given its communicator back, {}and will not come to number {}: all ranks must make the same "
        "calls",
        name, after, call);
  }

 private:
  Word& word(int rank) { return *after_[static_cast<std::size_t>(rank)]; }
  std::size_t first_for(std::uint64_t call) const {
    std::size_t rank = 0;
    for (; rank < after_.size(); ++rank) {
      const std::uint64_t after = after_[rank]->load(std::memory_order_acquire) >> 1;
      if (after != 0 && call >= after) break;
    }
    return rank;
  }

  std::vector<Word> own_;
  Word* any_;
  std::vector<Word*> after_;  ///< its calls and one, twice, and 1 more if its process died; 0: it is there
  std::vector<std::string> names_;
};

}  // namespace chasqui::run
