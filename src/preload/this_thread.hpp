// SPDX-License-Identifier: MIT
// What each thread that calls has of its own. A library that is loaded before the program starts finds it at a fixed place. A component
// that is loaded late must ask a function for it at every use, and there is no room for all of it at fixed places (glibc keeps some hundred
// bytes for all such libraries together, and does not load one for which they are too few). But unless the program has MPI_THREAD_MULTIPLE,
// its threads call one after another, and what they have is one and the same.
#pragma once

#include <cstdint>

#include "preload/names.hpp"

namespace chasqui::preload {

/// May several threads call at the same time? Known before anything is served.
extern constinit bool several_threads;

/// The T of this thread.
template <typename T>
class OfThread {
 public:
#ifdef CHASQUI_COMPONENT
  static T& here() { return several_threads ? own_ : common_; }
#else
  static T& here() { return own_; }
#endif

 private:
  static inline constinit thread_local T own_{};
#ifdef CHASQUI_COMPONENT
  static inline constinit T common_{};
#endif
};

/// What this thread serves now, for who waits long in it.
struct UnderWay {
  std::uint64_t number = 0;  ///< grows
  Collective what{};
};

struct ThisThread {
  int inside = 0;            ///< > 0: the MPI library or we ourselves are calling
  bool in_engine = false;    ///< it runs or advances collectives of ours: the progress of Open MPI must not
  double compared_time = 0;  ///< nanoseconds inside calls that were compared, and in agreeing about them
  UnderWay under_way{};
};
inline ThisThread& this_thread() { return OfThread<ThisThread>::here(); }

/// While this lives, calls that come from inside are passed on.
class Inside {
 public:
  explicit Inside(ThisThread& thread = this_thread()) : thread_(thread) { ++thread_.inside; }
  ~Inside() { --thread_.inside; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  ThisThread& thread_;
};

}  // namespace chasqui::preload
