// SPDX-License-Identifier: MIT
#include "chasqui/model/problem.hpp"

#include <array>
#include <utility>

#include "chasqui/base/error.hpp"

namespace chasqui {
namespace {

constexpr std::array kNames = {
    std::pair{Kind::broadcast, "broadcast"},
    std::pair{Kind::scatter, "scatter"},
    std::pair{Kind::gather, "gather"},
    std::pair{Kind::allgather, "allgather"},
    std::pair{Kind::reduce, "reduce"},
    std::pair{Kind::allreduce, "allreduce"},
    std::pair{Kind::scan, "scan"},
    std::pair{Kind::barrier, "barrier"},
    std::pair{Kind::sum, "sum"},
    std::pair{Kind::stream, "stream"},
};

}  // namespace

std::string_view to_string(Kind kind) {
  for (const auto& [candidate, name] : kNames) {
    if (candidate == kind) return name;
  }
  return "unknown";
}

std::optional<Kind> kind_from(std::string_view name) {
  for (const auto& [kind, candidate] : kNames) {
    if (candidate == name) return kind;
  }
  return std::nullopt;
}

void validate(const Problem& problem, const LogP& machine) {
  if (problem.root.index < 0 || problem.root.index >= machine.P) {
    throw Error("root={} does not exist: ranks are 0..{}", problem.root.index, machine.P - 1);
  }
  if (problem.items < 1) throw Error("items={} is too small: it must be at least 1", problem.items);
}

}  // namespace chasqui
