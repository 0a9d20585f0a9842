// SPDX-License-Identifier: MIT
// A machine with weak memory that runs real sources. They are compiled as for ThreadSanitizer, which turns every atomic
// operation, and every look at plain memory, into a call; those calls end here instead of in its library. A few threads,
// as fibers, run the same body again and again until every execution that C++ permits them has been seen.
//
// THE MODEL (release and acquire of C++20, without promises)
//  - Every atomic word has a history of stores, the first of them a zero. A thread sees of each word all from some store on: its view. A load may read
//    any store that is not older than that, and moves the view there.
//  - A release store carries the view of its thread, an acquire load that reads it joins the two. Of a read-modify-write the
//    store follows the one read, and carries on what that carried.
//  - Sequentially consistent operations happen one after another; such a load reads no store older than the last such store
//    to its word. Nothing else is promised of them: C++ promises a little more.
//  - Plain memory has no history. Two accesses, one of them a write, that no release and acquire put in order are a race.
//
// WHAT IS EXPLORED
//  - A store takes nothing away from others, so it is done at once. (Not so a sequentially consistent one: those are tried in
//    every order in which it matters.) Each load reads each store that it may read; if another thread stores there later,
//    and would have without that load, the load is tried again, waiting for that. So each way for loads to meet stores is
//    tried, and hardly any twice, however the threads take turns.
//  - A thread that looks in vain calls spin(), and goes on when something that it read has been stored anew. Where it
//    could have read what is newer that is another path: this one is brought to its end, everybody reading what is newest.
//    So is one on which nobody may go on; if nobody gets on then either, it is a deadlock.
//
// LIMITS. No fences; no loads that read stores which depend on them (load buffering of relaxed operations, which real
// processors and compilers may do and the board does not rely on). Two threads that store to one word must be in order, or
// do it by read-modify-write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace chasqui::weak {

inline constexpr int kLost = -1;
enum class Access { load, store, change };  ///< change: read-modify-write

struct Program {
  int threads = 2;
  std::function<void()> reset;                        ///< before every execution
  std::function<void(int)> body;                      ///< of each thread
  std::vector<std::pair<void*, std::size_t>> memory;  ///< what they share; everything else is each thread's own
  /// Makes a memory order weaker, to see whether anybody notices; may be missing. Orders are as __ATOMIC_… are; kLost: a store
  /// that is not made.
  std::function<int(const void* word, Access access, int order)> weaken;
  std::uint64_t most = 1'000'000;  ///< executions
};

struct Found {
  std::string violation;         ///< the first one; empty: none
  std::uint64_t executions = 0;  ///< that were tried
  std::uint64_t ended = 0;       ///< in which nobody looked in vain
  bool all = false;              ///< there are no others
};

Found explore(const Program& program);

/// For the body of a thread.
void spin();  ///< it has looked in vain
void expect(bool holds, const std::string& otherwise);

/// The shared words that `action` stores to.
std::vector<const void*> stored_by(const std::function<void()>& action, void* memory, std::size_t bytes);

}  // namespace chasqui::weak
