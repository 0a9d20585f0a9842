// SPDX-License-Identifier: MIT
// What went wrong on a board, where all of its ranks see it. Whoever waits long looks there.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "run/board/counters.hpp"

namespace chasqui::run {

/// In the memory of the board, zeroed at first; written by whoever comes first.
struct alignas(2 * kLine) NoticeWords {
  std::atomic<std::uint32_t> state;  ///< 0 none, 1 being written, 2 there
  std::atomic<std::uint64_t> first;
  std::atomic<std::uint64_t> last;
  std::atomic<std::uint64_t> elsewhere;  ///< calls of who said so that had gone another way
  std::atomic<std::uint64_t> withdrawn;  ///< the first collective from which a rank took its buffers back; 0: none
  std::atomic<std::uint64_t> ended;      ///< has any rank ended? As Departures writes it
  char why[400];
};

/// One rank's view: which collectives failed, and who refused the arguments of one.
class Notice {
 public:
  Notice() = default;
  Notice(NoticeWords* words, Counters* counters, int ranks, int rank)
      : words_(words), counters_(counters), own_(counters + rank), ranks_(ranks) {}

  /// Collectives first .. last failed here, of a rank that had made so many calls another way.
  void report(std::uint64_t first, std::uint64_t last, const std::string& why, std::uint64_t elsewhere);
  /// This rank refused its arguments for a collective. Harmless if all ranks did.
  void refuse(std::uint64_t number);

  bool broken() const { return words_->state.load(std::memory_order_acquire) == 2; }  ///< did any collective fail?
  /// Did a collective up to `number` fail elsewhere, or did a rank refuse one that is not in `own`? REQUIRES own is sorted
  bool failed(std::uint64_t number, const std::vector<std::uint64_t>& own) const;
  std::string why() const;                                              ///< as the rank said that reported it
  std::uint64_t first() const { return words_->first.load(); }          ///< collective that failed. REQUIRES broken()
  std::uint64_t elsewhere() const { return words_->elsewhere.load(); }  ///< as report() had it. REQUIRES broken()

 private:
  NoticeWords* words_ = nullptr;
  Counters* counters_ = nullptr;
  Counters* own_ = nullptr;
  int ranks_ = 0;
  std::size_t refusals_ = 0;  ///< ranges of them, of this rank
};

}  // namespace chasqui::run
