// SPDX-License-Identifier: MIT
// How the calls of one communicator go: by the method that was forced, by the table of a board that spans all ranks, or by the one
// that is predicted fastest, which is remembered. Decides and does nothing else; all ranks decide alike.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "chasqui/run/choose.hpp"
#include "run/choose/board_methods.hpp"
#include "run/choose/remembered.hpp"

namespace chasqui::run {

class Selection {
 public:
  /// `methods`: of the board on this rank's node.
  Selection(const Topology& topology, BoardMethods methods, std::shared_ptr<const Profile> profile);

  const Topology& topology() const { return topology_; }
  const Profile& profile() const { return *profile_; }
  const BoardMethods& board_methods() const { return methods_; }

  /// A board spans several ranks, all of them, and no method is forced.
  bool by_table() const { return by_table_; }
  /// What the table says of a blocking call; nothing where its elements are too large for the board. REQUIRES a board that spans all.
  std::optional<Method> look_up(const Call& call) const {
    return call.op.in_order ? in_order(call) : methods_.of(call.kind, call.bytes(), call.element);
  }

  void force(std::optional<Choice> choice);
  bool forced() const { return forced_.has_value(); }
  /// Why a call cannot go by the forced method, in words; empty if it can.
  std::string objection(const Call& call, Among among) const;

  /// The method of a call. REQUIRES that there is no objection.
  Choice choose(const Call& call, Among among);
  /// All that apply, the chosen one first.
  std::vector<Choice> choices_for(const Call& call) const;
  /// How the leaders of the nodes talk to each other, in two levels.
  const Choice& between_leaders(const Call& call);

  /// A fold in rank order that no board does: whoever wants the result gathers all contributions (Gathered).
  bool gathers(const Call& call) const;

 private:
  using Key = std::tuple<Kind, std::size_t, std::size_t, bool, Among>;  ///< kind, bytes, element, commutative

  std::optional<Method> in_order(const Call& call) const;

  const Topology topology_;
  const BoardMethods methods_;
  const std::shared_ptr<const Profile> profile_;
  std::optional<Choice> forced_;
  bool by_table_;
  Remembered<Key, Choice> choices_;
  Remembered<Key, Choice> leaders_;
};

}  // namespace chasqui::run
