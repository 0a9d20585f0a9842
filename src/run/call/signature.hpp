// SPDX-License-Identifier: MIT
// What a rank called, as far as all ranks must agree: which collective, from or to which root, how many elements of which
// size.
#pragma once

#include <cstdint>
#include <string>

#include "chasqui/run/call.hpp"

namespace chasqui::run {

/// One call. What its kind does not use is 0: calls that agree are equal.
struct Signature {
  std::uint64_t count = 0;    ///< elements of one contribution; a barrier has none
  std::uint64_t element = 0;  ///< bytes of one, where there are any
  std::uint64_t what =
      0;  ///< 0: unknown. Kind + 1, whether exclusive, in rank order, of uneven blocks; above 8 bits the root

  static constexpr std::uint64_t kKind = 31, kOwn = kKind, kExclusive = 32, kInOrder = 64,
                                 kUneven = 128;  ///< parts of `what`
  /// Part of `what`: the root is a rank of the communicator, where other calls of its board have a place on the board.
  static constexpr std::uint64_t kOfCommunicator = std::uint64_t{1} << 63;
  static Signature own() { return {0, 0, kOwn}; }  ///< an operation of the program's own (run::launch)

  friend bool operator==(const Signature&, const Signature&) = default;
  bool known() const { return what != 0; }  ///< neither forgotten nor refused for its arguments
  Kind kind() const { return static_cast<Kind>((what & kKind) - 1); }    ///< REQUIRES a collective
  std::uint64_t root() const { return (what & ~kOfCommunicator) >> 8; }  ///< of kinds that have one

  /// What the call adds to the sum over all calls.
  std::uint64_t word() const { return count + (element << 24) + (what << 40); }
  /// The sum over all calls so far. Its top 20 bits tell calls apart that differ in the count alone, by less than 514 229,
  /// or in kind and root alone, roots below 2 000: multiples of the golden ratio keep their distance from integers. Any
  /// others but for one case in 2^19.
  static std::uint64_t sum(std::uint64_t before, std::uint64_t word) { return (before + word) * 0x9e3779b97f4a7c15; }
};

/// As the caller passed it.
inline Signature signature_of(const Call& call) {
  const std::uint64_t count = call.kind == Kind::barrier ? 0 : static_cast<std::uint64_t>(call.count);
  std::uint64_t what = static_cast<std::uint64_t>(call.kind) + 1;
  if (has_root(call.kind)) what |= static_cast<std::uint64_t>(call.root) << 8;
  if (call.kind == Kind::scan && call.exclusive) what |= Signature::kExclusive;
  if (combines(call.kind) && count != 0 && (!call.op.commutative || call.op.in_order)) what |= Signature::kInOrder;
  const bool uneven = call.exchanges() && call.uneven();
  if (uneven) what |= Signature::kUneven;
  return {count, count != 0 || uneven ? call.element : 0, what};
}

/// May two ranks have called these as the same collective? What is unknown agrees with everything.
inline bool agree(const Signature& a, const Signature& b) { return a == b || !a.known() || !b.known(); }

/// "broadcast of 14 x 8 bytes from rank 0"
std::string to_text(const Signature& call);

}  // namespace chasqui::run
