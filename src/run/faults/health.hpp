// SPDX-License-Identifier: MIT
// How one rank's communicator fares: which call has which number, who refused one, who failed, left or retired. Asked
// while waiting. docs/faults.md draws the states.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "run/faults/call_history.hpp"
#include "run/faults/departures.hpp"
#include "run/faults/fault_channel.hpp"
#include "run/faults/gossip.hpp"

namespace chasqui::run {

class Health {
 public:
  /// What ranks hear of each other by. Any of the three may be missing.
  struct Channels {
    FaultChannel* node = nullptr;  ///< the memory of this rank's node
    bool node_has_all = false;     ///< all ranks are on it
    FaultChannel* messages = nullptr;
    Departures* departures = nullptr;
  };

  Health(int rank, int size, Patience patience, const Channels& channels)
      : rank_(rank), size_(size), channels_(channels), gossip_(rank, size, patience) {}

  // --- numbers of calls, from 1
  std::uint64_t next() { return ++number_; }              ///< of a call that begins
  std::uint64_t last() const { return number_; }          ///< of the last call begun
  void skip_to(std::uint64_t calls) { number_ = calls; }  ///< as if so many had been
  void moved() { gossip_.moved(); }                       ///< something did: whoever waits begins to wait again
  /// Remembers a call, where no board does.
  void note(std::uint64_t number, const Signature& call) {
    if (!channels_.node_has_all) history_.note(number, call);
  }
  const CallHistory& history() const { return history_; }

  // --- this rank's state
  bool usable() const { return why_.empty(); }  ///< neither failed, nor left, nor retired
  [[noreturn]] void throw_unusable() const;
  [[noreturn]] void refuse(std::uint64_t number,
                           const std::string& why);  ///< bad arguments: tells the others, and throws
  /// A collective failed here: this communicator is of no use any more, anywhere. REQUIRES the exception being handled.
  void fail(std::uint64_t number);
  void leave(const std::string& why);                     ///< tells the others that this rank will not come back
  void retire(const std::string& why) { unusable(why); }  ///< tells nobody
  void rest();                                            ///< no further call before resume()
  void resume();

  // --- while waiting
  void limit(double seconds) { limit_ = seconds; }  ///< a call in which nothing moves for longer fails; 0: never
  /// Throws what others said of call `number`: that it failed, that a rank refused it, or will not come to it. True: nothing
  /// has moved for long, and calls are to be compared.
  bool look(std::uint64_t number);
  /// Compares calls with the other ranks; tells all of what is found. Empty: nothing.
  std::string compare(const CallHistory& calls, std::uint64_t last, const std::vector<std::uint64_t>& waiting,
                      bool leaves);
  bool earlier() const { return earlier_; }  ///< what look() threw was said of a call before `number`
  bool may_answer() { return usable() && channels_.messages != nullptr && gossip_.due(); }

 private:
  void unusable(const std::string& why) {
    if (why_.empty()) why_ = why;
  }
  void report(std::uint64_t first, const std::string& why);
  void throw_failure(FaultChannel& channel, std::uint64_t number);

  int rank_;
  int size_;
  Channels channels_;
  std::uint64_t number_ = 0;
  unsigned looks_ = 0;
  bool earlier_ = false;
  CallHistory history_{};
  Gossip gossip_;
  double limit_ = 0;
  std::string why_;                     ///< this communicator is of no use any more; empty: it is
  std::vector<std::uint64_t> refused_;  ///< collectives whose arguments this rank refused, ascending
};

}  // namespace chasqui::run
