// SPDX-License-Identifier: MIT
// One collective call, type-erased: kind, buffers, layout, operator. The typed interface of Comm and the preload
// library both end here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chasqui/model/problem.hpp"
#include "chasqui/run/operator.hpp"

namespace chasqui::run {

/// How elements lie in the caller's memory. Contiguous by default; strided when `stride` is set; anything when the
/// two functions are set, both (they copy elements first .. first+count-1 to and from packed form).
struct Layout {
  std::size_t element = 1;    ///< bytes of one packed element
  std::ptrdiff_t stride = 0;  ///< bytes from one element to the next; 0: contiguous
  void (*pack)(void* context, const void* from, std::size_t first, std::size_t count,
               void* packed) = nullptr;  ///< copies elements out of the caller's memory
  void (*unpack)(void* context, void* to, std::size_t first, std::size_t count,
                 const void* packed) = nullptr;  ///< copies elements into the caller's memory
  void* context = nullptr;                       ///< handed to both

  /// No copying is needed.
  bool contiguous() const {
    return pack == nullptr && unpack == nullptr && (stride == 0 || stride == static_cast<std::ptrdiff_t>(element));
  }
};

/// REQUIRES: kind is neither sum nor stream. `count` is the number of elements that one rank contributes or gets.
///   broadcast            out (in is ignored)
///   reduce               in, out at the root                in place: in == nullptr or in == out
///   allreduce, scan      in, out                            in place: in == nullptr or in == out
///   gather               in, out of P*count at the root     in place at the root: in == nullptr
///   allgather            in, out of P*count                 in place: in == nullptr
///   scatter              in of P*count at the root, out     in place at the root: out == nullptr
///   barrier              nothing
/// A pointer that does not count on this rank may be anything, and nothing is done through it.
struct Call {
  Kind kind = Kind::barrier;  ///< which collective
  const void* in = nullptr;   ///< what this rank gives
  void* out = nullptr;        ///< what this rank gets
  std::int64_t count = 0;     ///< elements of one contribution
  Layout layout{};            ///< how they lie in memory
  Operator op{};              ///< folding kinds
  std::int64_t root = 0;      ///< kinds that have one
  bool exclusive = false;     ///< scan: rank 0 keeps what it had in `out`

  std::size_t bytes() const { return static_cast<std::size_t>(count) * layout.element; }  ///< of one contribution
};

/// Are the arguments in range? Purely local, a few instructions.
inline bool acceptable(const Call& call, int rank, int size) {
  const auto bit = [](Kind kind) { return 1u << static_cast<unsigned>(kind); };
  const unsigned kind = bit(call.kind);
  constexpr std::int64_t usual = std::int64_t{1} << 15, most = std::int64_t{1} << 46;
  const auto element = static_cast<std::int64_t>(call.layout.element);
  if (call.kind > Kind::barrier || call.count < 0 || element < 1) return false;
  if ((call.count | element | size) >= usual && call.count > most / element / size) return false;
  const bool at_root = call.root == rank;
  const unsigned rooted = bit(Kind::broadcast) | bit(Kind::scatter) | bit(Kind::gather) | bit(Kind::reduce);
  if ((kind & rooted) != 0 && static_cast<std::uint64_t>(call.root) >= static_cast<std::uint64_t>(size)) return false;
  if (call.kind == Kind::barrier || call.count == 0) return true;
  if (!call.layout.contiguous() && (call.layout.pack == nullptr) != (call.layout.unpack == nullptr)) return false;
  const unsigned writes = bit(Kind::broadcast) | bit(Kind::allreduce) | bit(Kind::scan) | bit(Kind::allgather) |
                          (at_root ? bit(Kind::reduce) | bit(Kind::gather) : bit(Kind::scatter));
  const unsigned reads = at_root ? bit(Kind::scatter) : bit(Kind::reduce) | bit(Kind::gather);
  const unsigned folds = bit(Kind::reduce) | bit(Kind::allreduce) | bit(Kind::scan);
  return ((kind & writes) == 0 || call.out != nullptr) && ((kind & reads) == 0 || call.in != nullptr) &&
         ((kind & folds) == 0 || call.op.combine != nullptr);
}

/// Throws an Error naming the argument for which the call is not acceptable.
void validate(const Call& call, int rank, int size);

/// Copies `count` elements between the caller's memory and packed bytes.
void pack(const Layout& layout, const void* from, std::size_t first, std::size_t count, void* packed);
void unpack(const Layout& layout, void* to, std::size_t first, std::size_t count,
            const void* packed);  ///< the inverse of pack

}  // namespace chasqui::run
