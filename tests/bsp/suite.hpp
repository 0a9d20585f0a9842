// SPDX-License-Identifier: MIT
// One suite, every engine: programs that check themselves on any number of processors, and programs that
// misuse the machine, with the fault they must end in.
#pragma once

#include <span>

#include "chasqui/bsp/run.hpp"

namespace chasqui::bsp::suite {

struct Case {
  const char* name;
  void (*program)(World&);
};

struct Misuse {
  const char* name;
  Fault fault;
  const char* says;  ///< a part of the message
  int at_least;      ///< processors it needs
  void (*program)(World&);
};

std::span<const Case> cases();
std::span<const Misuse> misuses();

}  // namespace chasqui::bsp::suite
