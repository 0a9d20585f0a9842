// SPDX-License-Identifier: MIT
// From samples to parameters with intervals. A machine is measured in rounds, each with a communicator made anew; a
// round gives one value of every parameter, and the interval comes from the spread of the rounds, so that drift and the
// luck of placement are inside it (docs/measure.md). Nothing here reads a clock: tests feed it simulated machines.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "chasqui/model/profile.hpp"

namespace chasqui::measure {

/// The median, and the order statistics that hold the true one in at least 95 of 100 cases whatever the distribution
/// (fewer than six values: all of them). REQUIRES values not empty.
Estimate median_of(std::vector<double> values);

/// The same of one value a round. Fewer than six rounds: Student's interval of their mean, as if they were normal, and
/// all of them; one round: anything from 0 to twice its value. REQUIRES values not empty and not negative.
Estimate median_of_rounds(std::vector<double> values);

/// Sizes after which the time jumps: by a quarter above what the slopes on both sides announce (protocol switches).
std::vector<std::int64_t> switches_in(const Times& times);

/// Messages between two ranks, as seen by the first; each call is one sample in nanoseconds.
class Probe {
 public:
  virtual ~Probe() = default;
  virtual double half_trip(std::size_t bytes) = 0;       ///< half a round trip
  virtual double send_overhead() = 0;                    ///< inside the call that posts a short message
  virtual double receive_overhead(double patience) = 0;  ///< completing a receive whose message has arrived
  virtual double burst(int messages) = 0;                ///< a burst of short messages and its acknowledgement
};

/// Takes samples for a share of a round's time; their median.
using Median = std::function<double(double share, const std::function<double()>& sample)>;

/// One round's values, each the median of its samples.
struct MessageParameters {
  double trip = 0;                 ///< half a round trip of 8 bytes
  double o_s = 0, o_r = 0, g = 0;  ///< send overhead, receive overhead, gap
  Times times;                     ///< half a round trip of longer messages
};
/// Together the shares make 1.
MessageParameters message_parameters(Probe& probe, const Median& median);

/// Long messages of several nodes to one rank, from a common start to the last arrival.
struct FanIn {
  int senders = 0;         ///< fewer than two: not measured
  std::int64_t bytes = 0;  ///< of each message
  double one = 0;          ///< nanoseconds with one sender
  double all = 0;          ///< with all of them at once
};
/// Does the receiver's port let them in side by side? In most rounds a further sender costs less than a quarter of the
/// time of its bytes.
bool receives_in_parallel(const std::vector<FanIn>& rounds, double G);

/// Some ranks of every node send to other nodes at the same time, from a common start to the last arrival. Nanoseconds.
struct NodeBurst {
  int lanes = 0;                       ///< ranks of a node that send
  double few = 0, many = 0;            ///< kShortBurst and kLongBurst short messages each
  double one_long = 0, more_long = 0;  ///< one message of kLongBytes each, and kLongMessages
};
inline constexpr int kShortBurst = 16, kLongBurst = 80, kLongMessages = 5;
inline constexpr std::int64_t kLongBytes = 65'536;

/// Nodes whose ranks send to other nodes; each call is one sample.
class NodeProbe {
 public:
  virtual ~NodeProbe() = default;
  virtual double burst(int lanes, int messages, std::int64_t bytes) = 0;  ///< so many messages of each lane
};
/// One round: 1, 2, 4 … all ranks of the node. Together the shares make 1.
std::vector<NodeBurst> node_bursts(NodeProbe& probe, int ranks, const Median& median);

/// From one message of the node to its next, and the same a byte, for each number of lanes. REQUIRES rounds not empty and alike.
std::vector<LaneGap> lane_gaps(const std::vector<std::vector<NodeBurst>>& rounds);
/// At the number of lanes at which the node carries most. It is chosen by what all rounds say: the least of each round would be too small, by
/// the luck of that round. REQUIRES gaps not empty.
Estimate node_gap(const std::vector<LaneGap>& gaps);
Estimate node_gap_per_byte(const std::vector<LaneGap>& gaps);
/// A rank's time a byte in a collective. `alone`: that of a message while all others are silent. With one lane a rank of every node sends and
/// receives at once, as those do that pass on; the first and the last do one of both. Midway, if it is longer. REQUIRES gaps not empty.
Estimate gap_per_byte_among_others(const Estimate& alone, const std::vector<LaneGap>& gaps);

/// The board of a node; each call is one sample in nanoseconds.
class BoardProbe {
 public:
  virtual ~BoardProbe() = default;
  virtual double line() = 0;                      ///< from its writer to the last of all readers, from a common start
  virtual double write() = 0;                     ///< inside the call of its writer
  virtual double late_read(double patience) = 0;  ///< inside the call of a reader who comes so much later
  virtual double all_lines() = 0;                 ///< everybody's line to everybody
  virtual double copy(std::int64_t bytes) = 0;    ///< a long value to all readers
};
/// One round's values.
struct BoardParameters {
  double publish = 0;      ///< a line to all readers
  double write = 0;        ///< its writer is busy
  double read = 0;         ///< a reader is, once it is there
  double publish_all = 0;  ///< everybody's line to everybody
  double copy = 0;         ///< a byte
};
/// Together the shares make 1.
BoardParameters board_parameters(BoardProbe& probe, const Median& median);

/// L, o_s, o_r, g, G, B and the switches from the rounds of one level. REQUIRES rounds not empty.
Level level_of(const std::string& name, const std::vector<MessageParameters>& rounds);

/// The interval of a function of the rounds.
template <typename Parameters, typename Value>
Estimate over_rounds(const std::vector<Parameters>& rounds, Value value) {
  std::vector<double> values;
  for (const Parameters& round : rounds) values.push_back(value(round));
  return median_of_rounds(std::move(values));
}

}  // namespace chasqui::measure
