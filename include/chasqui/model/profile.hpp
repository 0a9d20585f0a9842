// SPDX-License-Identifier: MIT
// What was measured of a machine: per transport level the parameters of LogGP with confidence intervals, what
// publishing to all costs, and the native collectives' times. A JSON file; docs/measure.md describes it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "chasqui/model/nearness.hpp"

namespace chasqui {

/// Times of messages or calls: bytes and nanoseconds, bytes ascending.
using Times = std::vector<std::pair<std::int64_t, double>>;

/// A measured value with the interval that holds it in 95 of 100 measurements.
struct Estimate {
  double value = 0;  ///< the median
  double low = 0;    ///< lower end of the interval
  double high = 0;   ///< upper end of the interval

  static Estimate exactly(double value) { return {value, value, value}; }  ///< a number without an interval
  friend bool operator==(const Estimate&, const Estimate&) = default;
};

/// Some ranks of every node send to other nodes at the same time: from one message of a node to its next, and the same a byte.
struct LaneGap {
  std::int64_t lanes = 0;  ///< ranks of a node that send
  Estimate g, G;

  friend bool operator==(const LaneGap&, const LaneGap&) = default;
};

/// One way that ranks can talk. Times in nanoseconds, per-byte gaps in nanoseconds a byte.
struct Level {
  std::string name;                    ///< "node" (slots in shared memory) or "network" (messages)
  std::int64_t ranks = 0;              ///< that took part in the measurement
  Estimate L, o_s, o_r, g;             ///< latency, send and receive overhead, gap
  Estimate G;                          ///< gap per byte, in a collective
  Estimate publish;                    ///< node: one line from its writer to all readers
  Estimate publish_per_rank;           ///< node: reading the line of each further rank
  Estimate copy;                       ///< node: nanoseconds a byte when all copy at once
  Estimate B;                          ///< bytes from which a message's size costs more than its start
  std::vector<std::int64_t> switches;  ///< message sizes where the protocol changes (eager to rendezvous)
  bool shares_bandwidth = false;       ///< messages under way from one rank share the bandwidth instead of queueing
  bool receives_in_parallel = false;   ///< messages from many senders to one rank do not wait for each other's bytes
  bool threads = false;                ///< node: measured between threads, who read each other's buffers
  bool assumed = false;                ///< nothing of it was measured: the other level's values stand in, or guesses
  Estimate node_g{};                   ///< network: from one message of a node to its next, whichever rank sends it
  Estimate node_G{};                   ///< network: gap per byte of a whole node; both 0: not measured
  /// node: what a line between ranks that share so much takes of `publish`, by Shared; 0: not measured
  std::array<Estimate, kSharedKinds> near{};
  Estimate write{};  ///< node: how long the writer of a line is busy; 0: not measured
  Estimate read{};   ///< node: how long a reader who finds it there is; 0: not measured
  std::vector<LaneGap>
      lane_gaps{};  ///< network: with 1, 2, 4 … all ranks of a node; node_g and node_G are the least of them

  /// Of ranks that share so much.
  const Estimate& near_of(Shared what) const { return near[static_cast<std::size_t>(what)]; }
  /// Of `publish`, the reader's part: from 0 to 1; half of it where nobody has measured `write` and `read`.
  double read_share() const;
  /// network: from one message of a node to its next. Where nobody has measured it, a quarter of `port`, what lies between two messages of one
  /// rank: adapters of today carry the messages of more than four.
  double node_gap(double port) const;

  friend bool operator==(const Level&, const Level&) = default;
};
/// What is known of a machine, and how: the file of `chasqui measure`.
struct Profile {
  std::string host;           ///< where it was measured
  std::string when;           ///< UTC, ISO 8601
  std::string how;            ///< the command
  std::vector<Level> levels;  ///< innermost first; never empty in a measured profile
  Estimate bsp_g, bsp_L;      ///< BSP: nanoseconds a word in an h-relation, and a superstep
  Estimate bsp_G;             ///< nanoseconds a byte where everybody sends long messages; 0: not known
  /// Native collectives: kind -> (bytes, nanoseconds), bytes ascending. Used to call them where they win.
  std::map<std::string, Times> native;

  /// The same for Chasqui's own, measured in the same run.
  std::map<std::string, Times> measured;

  /// Those of them that processes can do by each other's memory, done so; `measured` is without.
  std::map<std::string, Times> cross_memory;

  const Level* level(std::string_view name) const;  ///< the level of this name, nullptr where there is none
  bool knows_network() const;  ///< is there a network level of its own, not one node's messages in its place?
  friend bool operator==(const Profile&, const Profile&) = default;
};

/// A machine nobody has measured: order-of-magnitude values for cores of one node and a cluster network.
Profile default_profile();

/// Throws an Error naming place and key: unknown keys, missing keys, negative or non-finite numbers, crossed intervals.
Profile profile_from_json(std::string_view text, std::string_view place);
std::string to_json(const Profile& profile);    ///< the file's text
Profile read_profile(const std::string& path);  ///< throws an Error that names the file and what is wrong with it
void write_profile(const std::string& path, const Profile& profile);  ///< throws an Error where it cannot be written

}  // namespace chasqui
