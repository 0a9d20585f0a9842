// SPDX-License-Identifier: MIT
// Times for a program that has none: who sends to whom and what must come before what are given, and every message is sent as
// early as the rules of a LogP machine allow, in the order in which they become ready. The result is a legal use of the ports
// (rules 2 to 5 of docs/model.md), not the best one.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "chasqui/model/logp.hpp"
#include "chasqui/model/units.hpp"

namespace chasqui::translate {

/// What one rank does, without a time.
struct Action {
  enum class Kind { send, receive, compute };

  Kind kind = Kind::compute;
  Rank rank;
  std::int64_t ticks = 0;                    ///< compute: how long the processor is busy
  std::optional<std::uint32_t> partner{};    ///< send: the reception of its message; receive: the send
  std::vector<std::uint32_t> after{};        ///< these have ended
  std::vector<std::uint32_t> after_begin{};  ///< these have begun
};

/// When an action begins and ends. A reception ends when its message is available and all that must come before it has ended.
struct Span {
  Time begin;
  Time end;
};

struct Placement {
  std::vector<Span> spans;           ///< of each action that could be played
  std::vector<std::uint32_t> order;  ///< those, each after all that must come before it

  /// An action that waits for ever, for itself in the end.
  std::optional<std::uint32_t> stuck;
};

/// REQUIRES a valid machine; ranks below P; partners that point at each other. Throws Error that names `file` beyond 2^62 ticks.
Placement place(const LogP& machine, const std::vector<Action>& actions, std::string_view file);

}  // namespace chasqui::translate
