// SPDX-License-Identifier: MIT
// One call of a class fails: the countdown says which. For tests that take failing_new.hpp and failing_memory.hpp, in a process of one
// thread.
#pragma once

namespace {

enum class Class { open, reserve, map, allocate };
struct {
  Class which = Class::open;
  int countdown = 0;  ///< the call that fails; 0: none does
  bool failed = false;
} fault;

bool fails(Class which) {
  if (which != fault.which || fault.countdown == 0 || --fault.countdown != 0) return false;
  return fault.failed = true;
}

}  // namespace

static bool allocation_fails() { return fails(Class::allocate); }
static bool reserving_fails() { return fails(Class::reserve); }
static bool mapping_fails() { return fails(Class::map); }
