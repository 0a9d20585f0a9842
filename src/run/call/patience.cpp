// SPDX-License-Identifier: MIT
#include "run/call/patience.hpp"

#include <cstdlib>

#include "base/number.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/run/call.hpp"

namespace chasqui::run {

double seconds_of_variable(const char* name, double otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return otherwise;
  if (const auto value = number_from(text); value && *value >= 0 && *value < 1e9) return *value;
  throw Error("{}={}: expected seconds, 0 or more (0: never)", name, text);
}

Patience patience_from_environment(Patience otherwise) {
  return {seconds_of_variable("CHASQUI_STALL_SECONDS", otherwise.compare),
          seconds_of_variable("CHASQUI_STALL_NOTICE", otherwise.notice)};
}

}  // namespace chasqui::run
