// SPDX-License-Identifier: MIT
// The collectives of a communicator that were begun and have not ended, in the order of their numbers. A look at one of
// them takes along the oldest, for which all ranks may be waiting, and a few others in turn: the work of a look does not
// grow with how many there are.
#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <list>
#include <memory>
#include <vector>

#include "run/comm/operation.hpp"
#include "run/comm/progress.hpp"
#include "run/faults/health.hpp"

namespace chasqui::run {

/// INVARIANTS: `pending_` holds what has not ended, and what fail() or end_all() has ended and nobody has forgotten yet; `for_board_`
/// those of them that use the board, which goes on with the first alone.
class InFlight {
 public:
  /// waits_block: a wait of this thread stops it, so that other communicators may be other ranks of the same thread.
  InFlight(Health& health, int rank, int size, bool waits_block)
      : health_(health), rank_(rank), size_(size), waits_block_(waits_block) {}
  /// Ends what is still there, as long as the messages and the board that it uses are. Its requests may outlive this: an exception on
  /// its way meets a communicator before the requests that were declared before it.
  ~InFlight();
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

  static constexpr std::size_t kOthersAtATime = 4;  ///< that a look takes along, besides the oldest

  /// Nothing is there. A look at one word while that is so.
  bool none() { return !progress_.listed() || look(); }
  std::size_t size() const { return pending_.size(); }
  const std::shared_ptr<Operation>& oldest() const { return pending_.front(); }  ///< REQUIRES size() != 0
  std::vector<std::uint64_t> numbers() const;                                    ///< of their calls, ascending

  void add(std::shared_ptr<Operation> operation);  ///< and goes on with it as far as it can

  // --- true if something moved
  bool advance_all();
  bool advance_some(Operation& first);  ///< this one before the others
  bool advance_beside();                ///< all, in a wait of another communicator of the thread that uses this one
  bool advance_others() const { return ThreadProgress::advance_beside(*this); }  ///< of such communicators, all

  /// The operation failed with the exception being handled, and the communicator with it.
  void fail(Operation& operation);
  /// REQUIRES that it is finished and has not been forgotten.
  void forget(Operation& operation) { forget(operation.place); }
  void end_all(const std::exception_ptr& error);  ///< none goes on
  void keep_all();                                ///< none goes on, nor is it ended
  void leave_thread() { progress_.leave(); }      ///< waits of other communicators advance nothing here any more

 private:
  using Pending = std::list<std::shared_ptr<Operation>>;

  bool look();
  bool advance(Operation& operation);
  bool advance_each();
  bool advance_at(Pending::iterator& at);
  bool may_go_on(const Operation& operation) const;
  void forget(Pending::iterator at);

  Health& health_;
  const int rank_, size_;
  const bool waits_block_;
  Pending pending_;
  Pending::iterator turn_ = pending_.end();           ///< whose turn it is, of those that are advanced a few at a time
  std::deque<std::shared_ptr<Operation>> for_board_;  ///< in order
  ThreadProgress progress_{*this};                    ///< listed while pending_ is not empty
};

}  // namespace chasqui::run
