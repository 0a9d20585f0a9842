// SPDX-License-Identifier: MIT
// What a rank called, as far as all ranks must agree: which collective, from or to which root, how many elements of which
// size. Every rank remembers its last calls, so that ranks that wait in vain can find out who called something else.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "chasqui/run/call.hpp"

namespace chasqui::run {

/// One call, or several alike in a row.
struct Signature {
  /// What there is to compare.
  enum class What : std::uint8_t {
    collective,  ///< everything below
    own,         ///< an operation of the program's own (Comm::launch)
    unknown      ///< forgotten, or refused for its arguments: agrees with everything
  };
  std::uint64_t number = 0;     ///< of the (first) call on its communicator, from 1
  std::int64_t count = 0;       ///< elements of one contribution
  std::uint64_t element = 0;    ///< bytes of one
  std::int32_t root = 0;        ///< kinds that have one
  What what = What::unknown;    ///< is it a collective at all?
  std::uint8_t kind = 0;        ///< Kind
  bool exclusive = false;       ///< scans
  bool commutative = true;      ///< folding kinds
};

/// As the caller passed it; an argument that its kind does not use may be anything.
inline Signature signature_of(const Call& call) {
  return {0, call.count, call.layout.element, static_cast<std::int32_t>(call.root), Signature::What::collective,
          static_cast<std::uint8_t>(call.kind), call.exclusive, call.op.commutative};
}

/// Do they agree in all that their kind uses?
bool agree(const Signature& a, const Signature& b);

/// "broadcast of 14 x 8 bytes from rank 0"
std::string to_text(const Signature& signature);

/// The last calls of one rank. Calls alike in a row take one place, and noting one more of them writes nothing.
class RecentCalls {
 public:
  /// REQUIRES a larger number than before, one larger for each call.
  void note(std::uint64_t number, const Signature& one) {
    const Signature& last = runs_[newest_ % kRuns];
    if (one.count == last.count && one.element == last.element && one.root == last.root && one.what == last.what &&
        one.kind == last.kind && one.exclusive == last.exclusive && one.commutative == last.commutative) {
      return;
    }
    Signature& next = runs_[++newest_ % kRuns];
    next = one;
    next.number = number;
  }
  /// REQUIRES number <= that of the last call. Unknown when it was too many different calls ago.
  Signature find(std::uint64_t number) const;

 private:
  static constexpr std::uint64_t kRuns = 32;
  std::array<Signature, kRuns> runs_{};
  std::uint64_t newest_ = 0;  ///< 0: the empty one, before all calls
};

}  // namespace chasqui::run
