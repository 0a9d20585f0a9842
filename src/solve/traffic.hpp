// SPDX-License-Identifier: MIT
// The traffic of an all-gather: when each rank sends and receives, whatever it is. Every legal schedule has one, so a finish time without
// traffic is impossible; and ranks without items are all alike, so there is little to count (docs/solve.md, Traffic).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "chasqui/schedule/schedule.hpp"
#include "chasqui/solve/instance.hpp"
#include "solve/search.hpp"

namespace chasqui::solve {

/// Begins of the messages that each rank sends and receives, both on the sender's clock.
struct Traffic {
  std::vector<std::vector<Time>> sends;
  std::vector<std::vector<Time>> receives;
};

/// Goes through the moments that a schedule finishing by `finish` can pass, tick by tick: the multiset of what the ranks may do next,
/// and how many messages are in flight. Every rank receives `receptions` messages.
/// Verdicts: satisfiable, unsatisfiable, or unknown if there are more than `most_moments` of them (or too many bits in one), or `stop`.
class TrafficCount {
 public:
  /// REQUIRES o > 0.
  TrafficCount(const LogP& machine, std::int64_t receptions, Time finish, std::int64_t most_moments,
               const Stop& stop = {});

  Verdict verdict() const { return verdict_; }
  std::int64_t moments() const { return moments_; }
  /// A random traffic that finishes in time. REQUIRES satisfiable.
  Traffic sample(std::mt19937_64& random) const;

 private:
  /// What one rank may do: ticks until it can send and until it can receive, and how much it has received.
  struct RankState {
    std::int64_t until_send = 0, until_receive = 0, received = 0;
    friend auto operator<=>(const RankState&, const RankState&) = default;
  };
  /// The same with where it leads by the next tick; -1: it cannot.
  struct Step {
    RankState state;
    int idle = -1, send = -1, receive = -1;
  };
  struct Moment {
    std::uint64_t ranks = 0;   ///< numbers of their states, in order
    std::uint64_t flight = 0;  ///< messages begun 1, 2, … o+L ticks ago, the oldest lowest
    friend auto operator<=>(const Moment&, const Moment&) = default;
  };
  enum class Act : std::uint8_t { idle, send, receive };
  using Level = std::vector<Moment>;

  void make_states();
  void bound_sends();
  void go(const Stop& stop);
  void drop_dead_ends();
  template <typename Visit>
  void each_successor(const Moment& moment, std::int64_t tick, Visit visit) const;
  std::vector<int> ranks_of(const Moment& moment) const;
  Moment moment_of(std::vector<int> ranks, std::uint64_t flight) const;

  LogP machine_;
  std::int64_t receptions_, finish_, most_moments_;
  std::int64_t moments_ = 0;
  int rank_bits_ = 0, flight_bits_ = 0;
  Verdict verdict_ = Verdict::unknown;
  std::vector<Step> states_;
  std::vector<std::vector<int>> most_sends_;  ///< by tick and state: what it can still send; -1: it cannot receive all
  std::vector<Level> levels_;                 ///< by tick
};

/// Enough for every instance of the atlas; about a minute and 500 MB at worst.
inline constexpr std::int64_t kMostMoments = 30'000'000;

/// Has the instance a traffic that can be counted? All-gather with overhead, and all-to-all, which needs no less (exchange.md, Theorem 16).
bool has_traffic(const Instance& instance);

/// Can the ports alone finish by T?
TrafficCount count_traffic(const Instance& instance, Time T, const Stop& stop = {});

/// A schedule with this traffic: senders matched with receivers, and an item for every message. Empty: there is none, or `conflicts` of the
/// SAT solver were not enough.
std::optional<Schedule> schedule_with(const Instance& instance, const Traffic& traffic, std::int64_t conflicts,
                                      const Stop& stop);

/// Raises the bound as long as there is no traffic, then looks for a schedule that meets it among random traffics. Leaves the search as it is
/// where that does not help.
void search_by_traffic(Search& search);

}  // namespace chasqui::solve
