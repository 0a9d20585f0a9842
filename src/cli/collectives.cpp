// SPDX-License-Identifier: MIT
#include "cli/collectives.hpp"

#include <utility>

#include "chasqui/base/error.hpp"
#if __has_include("chasqui/plan/broadcast.hpp")
#include "chasqui/plan/broadcast.hpp"
#define CHASQUI_HAS_BROADCAST
#endif

namespace chasqui::cli {
namespace {

using plan::PlanPtr;

}  // namespace

const std::vector<Collective>& collectives() {
  static const std::vector<Collective> table = {
#ifdef CHASQUI_HAS_BROADCAST
      {"broadcast", "one item from the root to all", kRoot,
       [](const Request& r) -> PlanPtr { return plan::broadcast(r.machine, r.root); }},
#endif
  };
  return table;
}

}  // namespace chasqui::cli
