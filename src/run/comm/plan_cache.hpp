// SPDX-License-Identifier: MIT
// What a communicator remembers between calls: choices and scripts, so that planning is paid once.
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <tuple>

#include "chasqui/run/comm.hpp"
#include "run/messages/player.hpp"

namespace chasqui::run {

struct Comm::Cached {
  static constexpr std::size_t kMost = 512;  ///< entries of each; then the table is emptied

  using ChoiceKey = std::tuple<Kind, std::size_t, std::size_t, bool, bool>;  ///< kind, bytes, element, commutative, own
  /// kind, method, bytes, parts, root, group size, group rank, commutative, exclusive
  using ScriptKey = std::tuple<Kind, Method, std::size_t, std::int64_t, int, int, int, bool, bool>;

  static ScriptKey script_key(const Group& group, const Call& call, const Choice& choice) {
    return {call.kind,
            choice.method,
            call.kind == Kind::barrier ? 0 : call.bytes(),
            choice.parts,
            static_cast<int>(call.root),
            group.size,
            group.rank,
            call.op.combine == nullptr || call.op.commutative,
            call.exclusive};
  }

  using BetweenKey = std::tuple<Kind, std::size_t, std::size_t, bool>;  ///< kind, bytes, element, commutative
  std::map<ChoiceKey, Choice> choices;
  std::map<BetweenKey, Choice> between;  ///< how the leaders of nodes talk
  std::map<ScriptKey, Script> scripts;
  std::map<ScriptKey, std::shared_ptr<const Moves>> moves;

  /// A blocking call that was made before, with the memory that it needs.
  struct Rehearsed {
    struct Key {
      Kind kind;
      bool commutative, exclusive;
      std::int32_t root;
      std::size_t bytes, element;
      auto operator<=>(const Key&) const = default;
    };
    static constexpr std::size_t kMostRoom = std::size_t{1} << 16;  ///< bytes that are kept from call to call

    Key key{};
    std::shared_ptr<const Moves> moves;  ///< none: this call goes another way
    Stage stage;
  };
  std::map<Rehearsed::Key, Rehearsed> rehearsed;
  Rehearsed* latest = nullptr;  ///< the entry of the call before
};

}  // namespace chasqui::run
