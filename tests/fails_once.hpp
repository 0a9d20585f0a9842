// SPDX-License-Identifier: MIT
// One call of a class fails: the countdown says which. For tests that take failing_new.hpp, failing_memory.hpp or failing_mpi.hpp, in a
// process of one thread. (Among threads it matters whose calls count: those tests count for themselves.)
#pragma once

namespace {

enum class Class { open, reserve, map, allocate, call };
struct {
  Class which = Class::open;
  int countdown = 0;  ///< the call that fails; 0: none does
  int failed = 0;
  const char* name = "";  ///< of the one that failed
} fault;

bool fails(Class which, const char* name = "") {
  if (which != fault.which || fault.countdown == 0 || --fault.countdown != 0) return false;
  ++fault.failed;
  fault.name = name;
  return true;
}

}  // namespace

[[maybe_unused]] static bool allocation_fails() { return fails(Class::allocate, "new"); }
[[maybe_unused]] static bool reserving_fails() { return fails(Class::reserve, "posix_fallocate"); }
[[maybe_unused]] static bool mapping_fails() { return fails(Class::map, "mmap"); }
