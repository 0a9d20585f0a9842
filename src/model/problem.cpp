// SPDX-License-Identifier: MIT
#include "chasqui/model/problem.hpp"

#include <algorithm>
#include <array>

#include "chasqui/base/error.hpp"

namespace chasqui {
namespace {

/// In the order of Kind.
constexpr std::array<std::string_view, 12> kNames = {"broadcast", "scatter", "gather",    "allgather",
                                                     "alltoall",  "reduce",  "allreduce", "reduce-scatter",
                                                     "scan",      "barrier", "sum",       "stream"};

}  // namespace

std::string_view to_string(Kind kind) {
  const auto place = static_cast<std::size_t>(kind);
  return place < kNames.size() ? kNames[place] : "unknown";
}

std::optional<Kind> kind_from(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  return found == kNames.end() ? std::nullopt : std::optional(static_cast<Kind>(found - kNames.begin()));
}

void validate(const Problem& problem, const LogP& machine) {
  if (problem.root.index < 0 || problem.root.index >= machine.P) {
    throw Error("root={} does not exist: ranks are 0..{}", problem.root.index, machine.P - 1);
  }
  if (problem.items < 1) throw Error("items={} is too small: it must be at least 1", problem.items);
}

}  // namespace chasqui
