// SPDX-License-Identifier: MIT
#include "run/call/packed.hpp"

#include <algorithm>

#include "run/call/exchanged.hpp"

namespace chasqui::run {
namespace {

/// What a rank's call reads and writes, in elements. What does not count on this rank is not touched: its pointer may be anything.
struct Extent {
  std::size_t in = 0;         ///< read from `in`
  std::size_t out = 0;        ///< room in `out`
  std::size_t kept_from = 0;  ///< of which these are read too:
  std::size_t kept = 0;       ///< data that is given in place
  bool delivers = true;       ///< `out` gets something
  bool aside = false;  ///< in place, and others may come for what `out` holds: it is read into a copy, as if from `in`
};

Extent extent_of(const Call& call, int rank, int size) {
  const auto own = static_cast<std::size_t>(call.count);
  const auto all = own * static_cast<std::size_t>(size);
  const auto first = own * static_cast<std::size_t>(rank);
  const bool at_root = rank == static_cast<int>(call.root);
  const bool given = call.in != nullptr;
  switch (call.kind) {
    case Kind::broadcast: return {.out = own, .kept = at_root ? own : 0, .delivers = !at_root};
    case Kind::reduce:
      if (!at_root) return {.in = own, .delivers = false};
      [[fallthrough]];
    case Kind::allreduce:
    case Kind::scan: {
      const bool in_place = !given || (call.in == call.out && call.in_layout == call.out_layout);
      const bool keeps = call.kind == Kind::scan && call.exclusive && rank == 0;
      return {.in = in_place ? 0 : own, .out = own, .kept = in_place ? own : 0, .delivers = !keeps};
    }
    case Kind::gather:
      if (!at_root) return {.in = own, .delivers = false};
      [[fallthrough]];
    case Kind::allgather: return {.in = given ? own : 0, .out = all, .kept_from = first, .kept = given ? 0 : own};
    case Kind::scatter:
      return {.in = at_root ? all : 0, .out = call.out != nullptr ? own : 0, .delivers = call.out != nullptr};
    case Kind::alltoall: return {.in = all, .out = all, .aside = !given || call.in == call.out};
    case Kind::reduce_scatter: return {.in = all, .out = own, .aside = !given || call.in == call.out};
    default: return {};
  }
}

/// Elements from the first of the buffer to the last of any block.
std::size_t reach(const Blocks& blocks, int size) {
  std::int64_t end = 0;
  for (int r = 0; r < size; ++r) {
    if (blocks.counts[r] != 0) end = std::max(end, blocks.first[r] + blocks.counts[r]);
  }
  return static_cast<std::size_t>(end);
}

}  // namespace

Packed::Packed(const Call& given, int rank, int size) : call(given), user(given) {
  if (user.plain() || user.kind == Kind::barrier) return;
  const std::size_t element = user.element;
  if (user.uneven()) {
    if (user.in != nullptr && user.in != user.out) return;
    if (user.kind == Kind::alltoall && !gives_nothing(user, size)) call.in_blocks = user.out_blocks;
    in = AlignedBuffer(reach(call.in_blocks, size) * element);
    copy_bytes(in.data(), user.out, in.size());
    call.in = in.data();
    return;
  }
  const Extent extent = extent_of(user, rank, size);
  call.in_layout = call.out_layout = {};
  if (extent.in == 0) call.in = nullptr;
  if (extent.out == 0) call.out = nullptr;
  // The input of an exchange is never missing afterwards: that would be in place again.
  const bool stands_in = user.exchanges() && (extent.aside || extent.in == 0);
  if (stands_in || (extent.in != 0 && !user.in_layout.contiguous(element))) {
    in = AlignedBuffer(extent.in * element);
    pack(extent.aside ? user.out_layout : user.in_layout, element, extent.aside ? user.out : user.in, 0, extent.in,
         in.data());
    call.in = in.data();
  }
  if (extent.out != 0 && !user.out_layout.contiguous(element)) {
    out = AlignedBuffer(extent.out * element);
    pack(user.out_layout, element, user.out, extent.kept_from, extent.kept, out.data() + extent.kept_from * element);
    call.out = out.data();
  }
}

void Packed::deliver(int rank, int size) const {
  if (out.size() == 0) return;
  const Extent extent = extent_of(user, rank, size);
  if (extent.delivers) unpack(user.out_layout, user.element, user.out, 0, extent.out, out.data());
}

}  // namespace chasqui::run
