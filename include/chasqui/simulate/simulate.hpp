// SPDX-License-Identifier: MIT
// Plays a schedule on a LogP machine whose latency varies. A message enters the receiver's pool when it arrives; a
// receiver takes the message that arrived first as soon as its port and its processor are free.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "chasqui/schedule/trace.hpp"
#include "chasqui/simulate/latency.hpp"

namespace chasqui::simulate {

/// When sends begin.
enum class Mode {
  timed,         ///< none before its planned time
  event_driven,  ///< as soon as allowed, in the planned order, as programs do
};

/// Who goes first of messages that arrive together.
enum class Ties {
  planned,   ///< as in the schedule
  reversed,  ///< the other way round
  given,     ///< as an adversary says
};

/// A rank that is not like the others.
struct Straggler {
  Rank rank;      ///< who is late
  Time start{0};  ///< it does nothing before
  Time o;         ///< its own overhead …
  Time g;         ///< … and gap
};
/// How a schedule is played.
struct Options {
  Mode mode = Mode::timed;              ///< planned times, or as soon as possible
  Ties ties = Ties::planned;            ///< which message is taken in first when several are there
  std::vector<std::uint32_t> order{};   ///< Ties::given: a priority for every message of Trace::schedule, least first
  std::vector<Straggler> stragglers{};  ///< ranks that start late or are slow
  bool critical_path = true;            ///< explain the finish (costs memory)
};

/// Time: O(messages · log(latency)), about 150 ns a message for a million ranks; memory: under 100 bytes a message, trace included.
Trace simulate(Schedule schedule, const Latency& latency, const Options& options = {});

/// The same from the parts of the ranks: `local(r)` is asked for when rank r first has something to do, so ranks that
/// are never reached cost nothing. Ranks that hold something at the start are asked first.
Trace simulate(const LogP& machine, const Problem& problem, const std::function<LocalForm(Rank)>& local,
               const Latency& latency, const Options& options = {});

}  // namespace chasqui::simulate
