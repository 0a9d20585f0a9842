// SPDX-License-Identifier: MIT
// Cliffs: where a larger message or more ranks take less time, where a call takes longer than several smaller ones, or longer than
// other collectives that do at least as much. Sources: Traeff, Gropp, Thakur, "Self-consistent MPI performance requirements"
// (2007); Hunold and Carpen-Amarie (PGMPI).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chasqui/model/kind.hpp"

namespace chasqui::tune {

/// What a collective took.
struct TimedCall {
  std::string who;  ///< "native", "chasqui"
  Kind kind = Kind::barrier;
  int ranks = 0;
  std::int64_t bytes = 0;  ///< of one rank's contribution
  double low = 0;          ///< nanoseconds: first quartile …
  double time = 0;         ///< … median …
  double high = 0;         ///< … third quartile; all three equal: predicted
  int of_node = 0;         ///< ranks of each of several nodes; 0: one node, or unknown
};

/// Where time does not grow as it should.
struct Cliff {
  /// What would be faster.
  enum class Remedy {
    larger,      ///< a larger message
    more_ranks,  ///< more ranks
    several,     ///< several calls of a smaller size: it switches badly
    others,      ///< other collectives in its place
  };
  Remedy remedy = Remedy::larger;
  TimedCall slow;       ///< what is slower …
  TimedCall fast;       ///< … than this; with `others` the first of them
  double factor = 1;    ///< slow / fast, or over what is to be done in its place
  std::string instead;  ///< a few words: "512 KiB", "4 calls of 8 KiB", "reduce + broadcast"
};

/// All cliffs in these times, the worst first. One counts where the lower quartile of the slow one is `tolerance` times the upper
/// quartile of the other. Time: O(n^2) for n calls.
std::vector<Cliff> find_cliffs(const std::vector<TimedCall>& calls, double tolerance = 1.1);

/// One line for people.
std::string to_string(const Cliff& cliff);
/// "12.5 us", "3.20 ms".
std::string duration(double nanoseconds);
/// "8 B", "64 KiB".
std::string bytes_in_words(std::int64_t bytes);

}  // namespace chasqui::tune
