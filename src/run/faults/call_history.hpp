// SPDX-License-Identifier: MIT
// What a rank called, as far as all ranks must agree: which collective, from or to which root, how many elements of which
// size. Every rank remembers its last calls, so that ranks that read a line of another call, or wait in vain, can find out
// who called something else.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "chasqui/run/call.hpp"

namespace chasqui::run {

/// One call. What its kind does not use is 0: calls that agree are equal.
struct Called {
  std::uint64_t count = 0;    ///< elements of one contribution; a barrier has none
  std::uint64_t element = 0;  ///< bytes of one, where there are any
  std::uint64_t what = 0;     ///< 0: unknown. Kind + 1, whether exclusive, whether in rank order; above 8 bits the root

  static constexpr std::uint64_t kKind = 31, kOwn = kKind, kExclusive = 32, kInOrder = 64;  ///< parts of `what`
  static Called own() { return {0, 0, kOwn}; }  ///< an operation of the program's own (Comm::launch)

  friend bool operator==(const Called&, const Called&) = default;
  bool known() const { return what != 0; }  ///< neither forgotten nor refused for its arguments
  Kind kind() const { return static_cast<Kind>((what & kKind) - 1); }  ///< REQUIRES a collective
  std::uint64_t root() const { return what >> 8; }                     ///< of kinds that have one

  /// What the call adds to the sum over all calls.
  std::uint64_t word() const { return count + (element << 24) + (what << 40); }
  /// The sum over all calls so far. Its top 20 bits tell calls apart that differ in the count alone, by less than 514 229,
  /// or in kind and root alone, roots below 2 000: multiples of the golden ratio keep their distance from integers. Any
  /// others but for one case in 2^19.
  static std::uint64_t sum(std::uint64_t before, std::uint64_t word) { return (before + word) * 0x9e3779b97f4a7c15; }
};

/// As the caller passed it.
inline Called called(const Call& call) {
  const std::uint64_t count = call.kind == Kind::barrier ? 0 : static_cast<std::uint64_t>(call.count);
  std::uint64_t what = static_cast<std::uint64_t>(call.kind) + 1;
  if (has_root(call.kind)) what |= static_cast<std::uint64_t>(call.root) << 8;
  if (call.kind == Kind::scan && call.exclusive) what |= Called::kExclusive;
  if (combines(call.kind) && count != 0 && !call.op.commutative) what |= Called::kInOrder;
  return {count, count != 0 ? call.element : 0, what};
}

/// May two ranks have called these as the same collective? What is unknown agrees with everything.
inline bool agree(const Called& a, const Called& b) { return a == b || !a.known() || !b.known(); }

/// "broadcast of 14 x 8 bytes from rank 0"
std::string to_text(const Called& call);

/// Who called what where; `which` call it was, in words.
std::string disagreement(int one, const Called& ones, int other, const Called& others, const std::string& which);

/// The last calls of one rank; alike ones in a row take one place. That rank writes, others may read meanwhile. Zeroed
/// memory is an empty one.
class RecentCalls {
 public:
  /// REQUIRES a larger number than before, one larger for each call.
  void note(std::uint64_t number, const Called& call);
  /// REQUIRES that the rank has begun that call. Unknown when it was too many different calls ago.
  Called find(std::uint64_t number) const;
  /// Its first call, and those that were different from the ones before them, as far as they are remembered; in order.
  std::vector<std::uint64_t> changes() const;
  std::uint64_t latest_change() const;  ///< the last of them; 0: no call yet

 private:
  static constexpr std::uint64_t kRuns = 32;
  struct Run {
    std::atomic<std::uint64_t> first;  ///< call; 0 while it is written
    std::atomic<std::uint64_t> count, element, what;
  };
  const Run& run(std::uint64_t which) const { return runs_[which % kRuns]; }
  std::atomic<std::uint64_t> newest_;  ///< 0: the empty one, before all calls
  Run runs_[kRuns];
};

}  // namespace chasqui::run
