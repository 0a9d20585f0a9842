// SPDX-License-Identifier: MIT
// Ranks that wait in vain compare what they called. A wait in which nothing has moved for some seconds tells a few other
// ranks which call it is in; who hears of a call compares it with its own of the same number, now or when it gets there,
// and passes it on, once. So a call reaches every rank that waits, and two that differ meet somewhere. Nothing is sent
// before that, and a late rank harms nobody: it compares what it heard when it comes.
// Cost: at most 2 log2 P short messages a rank for each call that stalls; O(log P) steps until all have heard.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/faults/call_history.hpp"
#include "run/faults/fault_channel.hpp"

namespace chasqui::run {

/// Two ranks called different things.
struct Disagreement {
  std::uint64_t number = 0;  ///< the call
  std::string what;          ///< who called what
};

/// One rank's part in finding out.
class Gossip {
 public:
  Gossip(int rank, int size, Patience patience);  ///< sends nothing yet

  void moved() { since_ = 0; }  ///< something did: whoever waits begins to wait again
  double waited();              ///< seconds since nothing has moved, or since this was asked first
  /// Has nothing moved for long? To be asked again and again while waiting; often, it reads a clock.
  bool due();

  /// Hears what others told and tells them of `waiting`, the calls that this rank waits in. `last` is the number of the last
  /// call that it began; `leaves`: it begins no other. REQUIRES due().
  std::optional<Disagreement> look(FaultChannel& channel, const CallHistory& calls, std::uint64_t last,
                                   const std::vector<std::uint64_t>& waiting, bool leaves = false);

  /// The ranks that `rank` tells: those 1, 2, 4 … before and behind it, of `size` in a ring.
  static std::vector<int> peers_of(int rank, int size);

 private:
  /// Numbers that something was done for; only the last ones are kept, the ones before count as done.
  class Done {
   public:
    bool has(std::uint64_t number) const;
    void add(std::uint64_t number);

   private:
    std::vector<std::uint64_t> numbers_;  ///< in order
    std::uint64_t below_ = 0;
  };
  struct Peer {
    int rank = 0;
    Done told;
    std::int64_t unanswered = 0;  ///< told and not yet heard: who does not listen is not told more than a few
    std::optional<Told> last;
  };

  std::optional<Disagreement> compare(const Told& told, const CallHistory& calls);
  void tell(FaultChannel& channel, const CallHistory& calls, std::uint64_t number);
  bool told_everybody(std::uint64_t number) const;
  void notice(double waited, const CallHistory& calls, std::uint64_t number);

  int rank_;
  int size_;
  Patience patience_;
  double since_ = 0;   ///< when the present wait began; 0: it has not
  double looked_ = 0;  ///< when look() was due last
  double next_notice_ = 0;
  std::vector<Peer> peers_;            ///< made when first needed
  std::vector<Told> early_;            ///< of calls that this rank has not begun
  std::vector<std::uint64_t> agreed_;  ///< calls that were heard of and not yet told to everybody
};

}  // namespace chasqui::run
