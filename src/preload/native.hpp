// SPDX-License-Identifier: MIT
// A collective has the names by which it is called, and one by which a call that is passed on goes to the MPI library. In the
// drop-in library it is called MPI_X or PMPI_X, with large counts MPI_X_c or PMPI_X_c: whatever binding a rank comes by
// ends in one of them, and all of them must be seen, because ranks may reach one collective by different ones. The MPI
// library's own is the next PMPI_X behind this library. In the component of Open MPI (component/) a collective is called by
// what its module offers, and goes to the module below it.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>

#include "preload/names.hpp"
#include "preload/this_thread.hpp"

/// May collectives go on after their call? In the component, and in MPICH's progress.
#if defined(CHASQUI_COMPONENT) || defined(MPICH)
#define CHASQUI_GOES_ON
#endif

#ifdef CHASQUI_COMPONENT
#define CHASQUI_CALLED(name) chasqui_called_##name
#define CHASQUI_NATIVE(name) chasqui_below_##name
#define CHASQUI_LIBRARY(name) PMPI_##name
#define CHASQUI_NAMES(name)
#define CHASQUI_CALLER
#define CHASQUI_DECLARE(Name, name, parameters, arguments) \
  extern "C" decltype(MPI_##Name) chasqui_called_##Name, chasqui_below_##Name;
CHASQUI_COLLECTIVES(CHASQUI_DECLARE)
#undef CHASQUI_DECLARE
#else
#define CHASQUI_CALLED(name) MPI_##name
#define CHASQUI_NATIVE(name) ::chasqui::preload::next::name
#define CHASQUI_LIBRARY(name) ::chasqui::preload::next::name
/// The other name of a function that is defined here.
#define CHASQUI_NAMES(name) extern "C" decltype(MPI_##name) PMPI_##name [[gnu::alias("MPI_" #name)]];
#if defined(MPICH) && MPI_VERSION >= 4
#define CHASQUI_LARGE_COUNTS
#endif
#ifdef MPICH
/// Begins a function: what MPICH calls itself (for files, holding its lock) is passed on.
#define CHASQUI_CALLER const ::chasqui::preload::CallerInside caller_inside(__builtin_return_address(0));
#else
#define CHASQUI_CALLER
#endif

namespace chasqui::preload {

/// Where the next library has the function.
void* next_function(const char* name);
/// It, looked for at its first call: constructors of the program's libraries run before those of a preloaded one, and may call MPI.
template <typename Function>
class Next;
template <typename... Arguments>
class Next<int (*)(Arguments...)> {
 public:
  explicit constexpr Next(const char* name) : name_(name) {}
  int operator()(Arguments... arguments) const {
    Function function = found_.load(std::memory_order_relaxed);
    if (function == nullptr) {
      function = reinterpret_cast<Function>(next_function(name_));
      found_.store(function, std::memory_order_relaxed);
    }
    return function(arguments...);
  }

 private:
  using Function = int (*)(Arguments...);
  const char* name_;
  mutable std::atomic<Function> found_{nullptr};
};
namespace next {
#define CHASQUI_NEXT(name) inline constinit const Next<decltype(&MPI_##name)> name("PMPI_" #name);
#define CHASQUI_NEXT_OF(Name, name, parameters, arguments) CHASQUI_NEXT(Name) CHASQUI_NEXT(I##name)
#define CHASQUI_NEXT_C(Name, name, parameters, arguments) CHASQUI_NEXT(Name##_c) CHASQUI_NEXT(I##name##_c)
CHASQUI_COLLECTIVES(CHASQUI_NEXT_OF)
CHASQUI_NEXT(Init)
CHASQUI_NEXT(Init_thread)
CHASQUI_NEXT(Finalize)
CHASQUI_NEXT(Comm_free)
CHASQUI_NEXT(Comm_disconnect)
#ifdef CHASQUI_LARGE_COUNTS
CHASQUI_WITH_COUNTS(CHASQUI_NEXT_C)
#endif
#undef CHASQUI_NEXT_C
#undef CHASQUI_NEXT_OF
#undef CHASQUI_NEXT
}  // namespace next

/// Where the MPI library lies; `bytes` is 0 until somebody has looked.
struct LibraryMemory {
  std::atomic<std::uintptr_t> begin, bytes;
};
extern LibraryMemory library_memory;
void find_library();
/// Does the MPI library itself call?
inline bool within_library(const void* caller) {
  if (library_memory.bytes.load(std::memory_order_acquire) == 0) find_library();
  return reinterpret_cast<std::uintptr_t>(caller) - library_memory.begin.load(std::memory_order_relaxed) <
         library_memory.bytes.load(std::memory_order_relaxed);
}
/// While this lives, a call counts as one from inside, if the MPI library makes it.
class CallerInside {
 public:
  explicit CallerInside(const void* caller) : inside_(within_library(caller)) {
    if (inside_) ++this_thread().inside;
  }
  ~CallerInside() {
    if (inside_) --this_thread().inside;
  }
  CallerInside(const CallerInside&) = delete;
  CallerInside& operator=(const CallerInside&) = delete;

 private:
  bool inside_;
};

}  // namespace chasqui::preload
#endif

namespace chasqui::preload {

/// Who calls the program's error handler when a collective returns an error? In a component, whoever called it.
#ifdef CHASQUI_COMPONENT
inline constexpr bool kCallsHandlers = false;
#else
inline constexpr bool kCallsHandlers = true;
#endif

}  // namespace chasqui::preload
