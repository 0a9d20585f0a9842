// SPDX-License-Identifier: MIT
// What the page asks for, read strictly: unknown words and numbers out of range are an Error.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "chasqui/plan/collectives.hpp"

namespace chasqui::explorer {

using Json = nlohmann::ordered_json;

/// How the schedule is played.
struct Play {
  std::string latency = "exact";  ///< exact, uniform, two-level, adversarial
  std::int64_t low = 1;           ///< uniform, adversarial: the least latency; two-level: inside a group
  std::uint64_t seed = 1;
  std::int64_t group = 4;
  bool event_driven = false;
  std::int64_t late_rank = -1;  ///< -1: nobody
  std::int64_t late_by = 0;
};

struct Question {
  std::string action;
  plan::Request request;
  std::int64_t N = 0, n = 0;   ///< a cluster: nodes and ranks of each; 0: a plain LogP machine
  std::string shape = "plan";  ///< plan, a plain tree, or on a cluster leaders
  Play play;
  std::int64_t of = 0;  ///< the tree of which item, or into which rank
  std::string name;     ///< load: the file's name …
  std::string text;     ///< … and what is in it
};

Question read_question(const std::string& text);

}  // namespace chasqui::explorer
