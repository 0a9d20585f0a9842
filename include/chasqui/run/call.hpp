// SPDX-License-Identifier: MIT
// One collective call, type-erased: kind, buffers, layout, operator; and the methods that there are to run it. The typed
// interface of Comm and the preload library both end here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "chasqui/model/kind.hpp"
#include "chasqui/run/operator.hpp"

namespace chasqui::run {

/// How the elements of one buffer lie in the caller's memory. Contiguous by default; strided when `stride` is set; anything
/// when the two functions are set, both: they copy elements first .. first+count-1 to and from packed form, always whole
/// contributions (`first` and `count` are multiples of Call::count).
struct Layout {
  std::ptrdiff_t stride = 0;  ///< bytes from one element to the next; 0: contiguous
  void (*pack)(void* context, const void* from, std::size_t first, std::size_t count, void* packed) = nullptr;
  void (*unpack)(void* context, void* to, std::size_t first, std::size_t count, const void* packed) = nullptr;
  void* context = nullptr;  ///< handed to both

  /// Contiguous whatever the elements are. No branches: every call asks.
  bool nothing_set() const { return (stride == 0) & (pack == nullptr) & (unpack == nullptr); }
  /// Neither of the two functions is set, or both are.
  bool whole() const { return (pack == nullptr) == (unpack == nullptr); }
  /// Nothing needs to be copied for elements of so many bytes.
  bool contiguous(std::size_t element) const {
    return pack == nullptr && unpack == nullptr && (stride == 0 || stride == static_cast<std::ptrdiff_t>(element));
  }
  bool operator==(const Layout&) const = default;
};

/// Blocks of different lengths: block r is elements first[r] .. first[r] + counts[r] - 1 of its buffer.
struct Blocks {
  const std::int64_t* counts = nullptr;  ///< one for each rank
  const std::int64_t* first = nullptr;   ///< one for each rank
};

/// REQUIRES: kind is neither sum nor stream. `count` is the number of elements that one rank contributes or gets, or those
/// of one block.
///   broadcast            out (in is ignored)
///   reduce               in, out at the root                in place: in == nullptr or in == out
///   allreduce, scan      in, out                            in place: in == nullptr or in == out
///   gather               in, out of P*count at the root     in place at the root: in == nullptr
///   allgather            in, out of P*count                 in place: in == nullptr
///   scatter              in of P*count at the root, out     in place at the root: out == nullptr
///   alltoall             in of P*count, out of P*count      in place: in == nullptr or in == out
///   reduce_scatter       in of P*count, out                 in place: the same; the result at the beginning of `out`
///   barrier              nothing
/// Blocks of different lengths (alltoall: both sides; reduce_scatter: in_blocks, the same on all ranks) lie side by side in
/// elements, without a layout; `count` is 0 then. In place alltoall reads out_blocks; where all in_blocks have nothing it is not
/// in place, whatever `in` is: this rank gives nothing.
/// In place with in == out the two layouts may differ: all is read before anything is written.
/// A pointer that does not count on this rank may be anything, and nothing is done through it; nor is its layout looked at.
struct Call {
  Kind kind = Kind::barrier;  ///< which collective
  const void* in = nullptr;   ///< what this rank gives
  void* out = nullptr;        ///< what this rank gets
  std::int64_t count = 0;     ///< elements of one contribution
  std::size_t element = 1;    ///< bytes of one element, packed
  Layout in_layout{};         ///< how elements lie in `in`
  Layout out_layout{};        ///< how they lie in `out`; in place by nullptr, what is read there too
  Operator op{};              ///< folding kinds
  std::int64_t root = 0;      ///< kinds that have one
  bool exclusive = false;     ///< scan: rank 0 keeps what it had in `out`
  Blocks in_blocks{};         ///< alltoall, reduce_scatter: nothing for P blocks of `count`
  Blocks out_blocks{};        ///< alltoall: likewise

  std::size_t bytes() const { return static_cast<std::size_t>(count) * element; }  ///< of one contribution
  bool contiguous() const { return in_layout.contiguous(element) && out_layout.contiguous(element); }  ///< no packing
  bool exchanges() const { return kind == Kind::alltoall || kind == Kind::reduce_scatter; }  ///< a block for each rank
  bool uneven() const { return in_blocks.counts != nullptr || out_blocks.counts != nullptr; }  ///< blocks not alike
  /// Its data can be used where it lies: contiguous, blocks alike, and what is read is not what is written to.
  bool plain() const {
    const bool in_usual = in_layout.nothing_set(), out_usual = out_layout.nothing_set();
    const bool nothing_set = in_usual & out_usual & (in_blocks.counts == nullptr) & (out_blocks.counts == nullptr);
    return (nothing_set || (contiguous() && !uneven())) && !(exchanges() && (in == nullptr || in == out));
  }
};

/// The methods to run a collective. Board: shared memory of a node.
enum class Method : std::uint8_t {
  slots,         ///< board: whoever has something publishes it once, whoever needs it reads it
  relay,         ///< board: a broadcast that one rank of each cache or socket publishes again for the others there
  grouped_fold,  ///< board: folds of up to 19 lines in groups whose members fold some of them each
  level_fold,   ///< board: the same lines up the levels of a node, sockets and caches, and perhaps the total down again
  shared_fold,  ///< board: longer folds; contributions are published, some ranks fold a share each
  exposed_fold,  ///< threads: the same, contributions stay in their owners' buffers
  staged,        ///< board: long data in rounds through a stage of each rank
  direct,        ///< threads: straight from buffer to buffer
  cross_memory,  ///< processes of a node: from memory to memory, by the kernel
  tree,          ///< messages along the optimal tree or windows of the plan for one item
  items,         ///< messages: the buffer cut into items that travel along the k-item plan
  exchange,      ///< messages: reduce-scatter, then all-gather, on circulant windows
  windows,       ///< messages: all-gather by growing windows; exchanges by the digits of the distance
  messages,      ///< messages: every block straight to where it is needed
  two_level,     ///< a board inside each node, messages between one rank of each or several
  native,        ///< the MPI library's own collective
};
std::string_view to_string(Method method);  ///< as `chasqui explain` prints it

/// Does it run on a board that spans all ranks?
constexpr bool on_board(Method method) { return method <= Method::cross_memory; }

/// Throws an Error naming the argument for which the call is not acceptable.
void validate(const Call& call, int rank, int size);

/// Copies `count` elements of `element` bytes between the caller's memory and packed bytes.
void pack(const Layout& layout, std::size_t element, const void* from, std::size_t first, std::size_t count,
          void* packed);
void unpack(const Layout& layout, std::size_t element, void* to, std::size_t first, std::size_t count,
            const void* packed);  ///< the inverse of pack

/// How patient the wait in a call is, in seconds; 0: for ever.
struct Patience {
  double compare = 2;  ///< nothing moved for so long: the ranks compare their calls
  double notice = 0;   ///< and for so long, then twice as long …: a line on standard error says who waits for whom
};
/// CHASQUI_STALL_SECONDS and CHASQUI_STALL_NOTICE, where they are set. Throws an Error for anything but a number of 0 or more.
Patience patience_from_environment(Patience otherwise = {});

}  // namespace chasqui::run
