// SPDX-License-Identifier: MIT
// Builds an all-gather of few items instant by instant: who may send and who may receive at t are matched,
// the neediest receiver first, and each message carries the rarest item its receiver lacks. Every message
// keeps rules 1 to 6.
#pragma once

#include <cstdint>
#include <vector>

#include "chasqui/schedule/schedule.hpp"
#include "plan/exchange/send_times.hpp"

namespace chasqui::plan {

inline constexpr std::int64_t kMostMatched = 64;  ///< items in all: a set of items is one word

class SlotMatcher {
 public:
  /// REQUIRES P * items <= kMostMatched.
  SlotMatcher(const LogP& machine, std::int64_t items);

  /// Forgets all messages.
  void reset();

  /// Matches `from` with `to` (ties in need: in the order given) for sends that begin at t. REQUIRES that t
  /// does not decrease from call to call.
  void slot(std::int64_t t, const std::vector<int>& from, std::vector<int> to);

  bool done() const { return missing_ == 0; }
  /// Surely not done by sends that begin in [t, end): a receiver, or all senders together, have too little
  /// time left.
  bool hopeless(std::int64_t t, std::int64_t end) const;
  /// The messages taken so far, by begin.
  const std::vector<Send>& sends() const { return sends_; }

 private:
  using Set = std::uint64_t;
  struct Arrival {
    std::int64_t at;
    Set item;
  };
  struct Processor {
    Set has = 0;       ///< available at the instant looked at
    Set expected = 0;  ///< available or on its way
    std::vector<Arrival> arriving;
    std::vector<std::int64_t> sent, received;  ///< begins of the overheads, ascending
  };

  bool can_send(int rank, std::int64_t t) const;
  bool can_receive(int rank, std::int64_t t) const;
  Set useful(int from, int to) const;
  bool augment(int to);
  void commit(std::int64_t t, int from, int to);

  Spacing spacing_;
  std::int64_t o_;
  int P_;
  int items_;
  int all_;
  int missing_ = 0;
  std::vector<Processor> processors_;
  std::vector<int> copies_;
  std::vector<int> senders_, serves_;  ///< this slot's: who may send, and whom each rank serves (-1: nobody)
  Set tried_ = 0;
  std::vector<Send> sends_;
};

}  // namespace chasqui::plan
