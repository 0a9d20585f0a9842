// SPDX-License-Identifier: MIT
// An algorithm of some library as what it sends: rounds of messages with the items they carry. The predicted time is found by
// playing the rounds, and a schedule for small machines comes from the same description.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "chasqui/model/loggp.hpp"
#include "chasqui/model/profile.hpp"
#include "chasqui/schedule/schedule.hpp"

namespace chasqui::tune {

/// One message of a round.
struct Message {
  std::int32_t from = 0, to = 0;
  bool folds = false;               ///< the receiver folds what comes with what it has; otherwise it keeps it
  double bytes = 0;                 ///< of all its items together
  std::vector<std::int32_t> items;  ///< none: a mere sign
};

/// In a round a rank sends in the order of the list, and receives what this round has for it as it comes; nothing that it sends
/// depends on that. It begins a round when it has ended its part in the one before; nobody waits for others.
using Round = std::vector<Message>;

/// What an algorithm sends. Items: segments or chunks of the message (broadcast, reduce, allreduce), the block of rank i
/// (gather, scatter, allgather, reduce-scatter), the block from p to q is pP + q (all-to-all), the one value (scan, barrier).
struct Rounds {
  Kind kind = Kind::broadcast;
  int ranks = 1;
  std::vector<double> item_bytes;
  std::vector<Round> list;
  /// All-reduce by chunks: from this round on results are spread; before, chunk i is folded at rank i. 0: not by chunks.
  std::size_t spread = 0;
};

/// What messages cost, in nanoseconds or ticks.
struct Network {
  double o_s = 0, o_r = 0;                      ///< what a processor spends on a message
  double fold = 0;                              ///< … and on folding a byte
  std::function<double(double)> latency;        ///< by bytes: from the end of the send overhead to the arrival
  std::function<double(double)> send, receive;  ///< by bytes: from one message to the next at a port
};

Network network_of(const LogGP& machine);  ///< in ticks
/// In nanoseconds. `everybody`: all ranks send at once, and share what the profile says they share.
Network network_of(const Level& level, const Profile& profile, bool everybody);

/// When the last rank has ended. `begins`: for each round, when each of its messages begins to be sent.
/// Time: O(messages · log(messages of a round)).
double play(const Rounds& rounds, const Network& network, std::vector<std::vector<double>>* begins = nullptr);

/// The predicted nanoseconds on a profile's level for messages between all ranks.
double predict(const Rounds& rounds, const Profile& profile);

/// Which ranks' contributions each rank has of each item at the end: `has[rank][item]`, bit r for rank r. REQUIRES ranks <= 64.
std::vector<std::vector<std::uint64_t>> contributions(const Rounds& rounds, std::size_t first = 0,
                                                      std::size_t end = ~std::size_t{0});

/// The rounds as a schedule, or why there is none. A message of several items is sent item by item, which takes the same time
/// where o = 0 and g = G only; other machines need one item in each message. All items must have the same size, and there
/// must be no folding cost. `phase` 1: of an all-reduce by chunks its reduce-scatter, 2: its all-gather.
std::variant<Schedule, std::string> schedule_of(const Rounds& rounds, const LogGP& machine, int phase = 0);

}  // namespace chasqui::tune
