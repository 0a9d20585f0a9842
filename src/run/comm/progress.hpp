// SPDX-License-Identifier: MIT
// The communicators of a thread that have collectives in flight. A wait in one of them advances the others too, so it does
// not matter in which order the requests of several communicators are waited for.
#pragma once

#include <memory>

namespace chasqui::run {

class InFlight;

/// A communicator's place among those that its thread keeps going. A communicator may change its thread between two calls:
/// the next call takes it along.
class ThreadProgress {
 public:
  explicit ThreadProgress(InFlight& calls) : calls_(calls) {}  ///< listed nowhere
  ~ThreadProgress() { leave(); }
  ThreadProgress(const ThreadProgress&) = delete;
  ThreadProgress& operator=(const ThreadProgress&) = delete;

  /// False: nothing is in flight. True: something may be.
  bool listed() const { return list_ != nullptr; }
  void claim();  ///< this thread uses the communicator now: no other one advances it any more
  void join();   ///< something is in flight: this thread's waits are to advance it
  void leave();  ///< nothing is

  /// Advances the other communicators of this thread. True if something moved.
  static bool advance_beside(const InFlight& waiting);

 private:
  struct List;
  static const std::shared_ptr<List>& of_this_thread();

  InFlight& calls_;
  std::shared_ptr<List> list_;  ///< written by who uses the communicator, never by who advances it
};

}  // namespace chasqui::run
