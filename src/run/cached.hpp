// SPDX-License-Identifier: MIT
// What a communicator remembers between calls: choices and scripts, so that planning is paid once.
#pragma once

#include <map>
#include <tuple>

#include "chasqui/run/comm.hpp"

namespace chasqui::run {

struct Comm::Cached {
  static constexpr std::size_t kMost = 512;  ///< entries of each; then the table is emptied

  using ChoiceKey = std::tuple<Kind, std::size_t, std::size_t, bool>;
  /// kind, method, bytes, parts, root, group size, group rank, commutative, exclusive
  using ScriptKey = std::tuple<Kind, Method, std::size_t, std::int64_t, int, int, int, bool, bool>;

  std::map<ChoiceKey, Choice> choices;
  std::map<ScriptKey, Script> scripts;
};

}  // namespace chasqui::run
