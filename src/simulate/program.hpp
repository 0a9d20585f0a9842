// SPDX-License-Identifier: MIT
// What each rank does, in the form the engine steps through: its actions (sends and additions) in planned order, and for
// each what it must have received before. Made from a whole schedule, or rank by rank from local forms.
// Messages are numbered rank by rank, so that what one rank does lies together in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::simulate {

class Program {
 public:
  static constexpr std::uint32_t kAdd = 0x80000000;  ///< an action with this bit is an addition, the rest its index
  static constexpr std::int32_t kNothing = -1;       ///< an action that needs nothing
  static constexpr std::int32_t kImpossible = 0x7fffffff;  ///< an action that needs what never comes

  struct Actions {
    std::uint32_t first = 0;
    std::uint32_t end = 0;
  };

  explicit Program(Schedule schedule);
  Program(const LogP& machine, const Problem& problem, std::function<LocalForm(Rank)> local);

  /// The schedule as far as it is known; its messages sorted by sender, then time.
  const Schedule& schedule() const { return schedule_; }
  const Send& send(std::uint32_t message) const { return schedule_.sends[message]; }
  Schedule take_schedule() { return std::move(schedule_); }
  std::int64_t ranks() const { return schedule_.machine.P; }
  /// True once the rank's part is known. Ranks of a schedule are known from the start.
  bool known(Rank rank) const { return known_.empty() || known_[index(rank)]; }
  bool all_known() const { return known_.empty(); }
  /// Asks for the rank's part. REQUIRES !known(rank).
  void learn(Rank rank);
  /// Ranks that may act before anything has been received.
  std::vector<Rank> starters() const;

  /// The rank's actions; known ranks only.
  Actions actions_of(Rank rank) const;
  /// Frees what only actions_of needs.
  void forget_actions() { first_action_ = {}; }
  std::uint32_t action(std::uint32_t at) const { return actions_.empty() ? at : actions_[at]; }
  /// What the action needs. Prefix kinds: that many of the rank's first receptions; else: the reception with this number,
  /// and as many after it as needs_also() says.
  std::int32_t needs(std::uint32_t action) const;
  /// Reductions of several items: all receptions of the item planned before the send; they are numbered one by one.
  std::int32_t needs_also(std::uint32_t action) const { return more_needs_.empty() ? 0 : more_needs_[action]; }
  bool needs_prefix() const { return prefix_; }
  /// Every rank needs but the one message it receives, if any: nothing to look up.
  bool single() const { return single_; }
  /// The place of a message among the planned receptions of its receiver.
  std::uint32_t reception_number(std::uint32_t message) const;
  /// Where the receiver's flags begin, one for each planned reception.
  std::uint32_t first_reception(Rank rank) const { return first_reception_[index(rank)]; }
  std::size_t receptions() const { return receptions_; }
  std::size_t receptions_of(Rank rank) const {
    return all_known() ? first_reception_[index(rank) + 1] - first_reception_[index(rank)]
                       : planned_[index(rank)].size();
  }

 private:
  using ByItem = std::vector<std::pair<std::int64_t, std::int32_t>>;

  static std::size_t index(Rank rank) { return static_cast<std::size_t>(rank.index); }
  void require_ranks() const;
  void sort_by_sender();
  void number_receptions();
  void find_needs();
  bool holds_initially(Rank rank, std::int64_t item) const;
  std::int32_t need_of_send(const Send& send, const std::vector<Send>& receives, const ByItem& by_item) const;
  void add_needs_of_item(const Send& send, const std::vector<Send>& receives);
  bool planned_before(const Send& a, const Send& b) const;

  Schedule schedule_;
  std::function<LocalForm(Rank)> local_;
  bool prefix_;
  bool per_item_;  // a reduction of several items: receptions are numbered by item, then time
  bool single_ = false;
  std::vector<std::uint32_t> actions_;          // sums only: sends and additions in planned order, rank by rank
  std::vector<std::uint32_t> first_action_;     // by rank; of a schedule with one more entry
  std::vector<std::uint32_t> end_action_;       // local forms only
  std::vector<std::int32_t> send_needs_;        // by message
  std::vector<std::int32_t> more_needs_;        // by message; per_item_ only
  std::vector<std::int32_t> add_needs_;         // by addition
  std::vector<std::uint32_t> number_;           // schedule: by message
  std::vector<std::uint32_t> first_reception_;  // by rank
  std::size_t receptions_ = 0;
  std::vector<bool> known_;                 // local forms only
  std::vector<std::vector<Send>> planned_;  // local forms only: the rank's planned receptions
};

}  // namespace chasqui::simulate
