// SPDX-License-Identifier: MIT
#include "chasqui/run/call.hpp"

#include <cstring>

#include "chasqui/base/error.hpp"
#include "run/call/exchanged.hpp"
#include "run/call/in_range.hpp"

namespace chasqui::run {

std::string_view to_string(Method method) {
  switch (method) {
    case Method::slots: return "slots";
    case Method::relay: return "relay";
    case Method::grouped_fold: return "grouped-fold";
    case Method::level_fold: return "level-fold";
    case Method::shared_fold: return "shared-fold";
    case Method::exposed_fold: return "exposed-fold";
    case Method::staged: return "staged";
    case Method::direct: return "direct";
    case Method::cross_memory: return "cross-memory";
    case Method::tree: return "tree";
    case Method::items: return "items";
    case Method::exchange: return "exchange";
    case Method::windows: return "windows";
    case Method::messages: return "messages";
    case Method::two_level: return "two-level";
    case Method::native: return "native";
  }
  return "?";
}

namespace {

/// Both arrays are there, all blocks fit in memory, and there is a buffer for them.
void validate_blocks(std::string_view name, const char* which, const Call& call, const Blocks& blocks,
                     const void* buffer, int size) {
  if (blocks.counts == nullptr || blocks.first == nullptr)
    throw Error("{}: {} has {}: pass both, for every rank", name, which,
                blocks.counts == nullptr ? "no counts" : "counts and no places");
  const std::int64_t most = (std::int64_t{1} << 46) / static_cast<std::int64_t>(call.element);
  for (int r = 0; r < size; ++r) {
    const std::int64_t count = blocks.counts[r];
    if (count < 0) throw Error("{}: negative count {} in {} for rank {}: pass 0 or more", name, count, which, r);
    if (count > 0 && buffer == nullptr) throw Error("{}: no buffer for {}", name, which);
    if (count <= most && blocks.first[r] >= 0 && blocks.first[r] <= most) continue;
    throw Error("{}: block {} in {} of {} elements of {} bytes from element {} on does not fit in memory", name, r,
                which, count, call.element, blocks.first[r]);
  }
}

void validate_uneven(const Call& call, int rank, int size) {
  const auto name = to_string(call.kind);
  if (!call.exchanges()) throw Error("{}: only alltoall and reduce-scatter have blocks of different lengths", name);
  if (call.count != 0) throw Error("{}: a count of {} besides the counts of its blocks: pass 0", name, call.count);
  if (!call.contiguous()) throw Error("{}: blocks of different lengths have no layout: pack them first", name);
  if (call.element < 1) throw Error("{}: elements of no bytes", name);
  const bool in_place = (call.in == nullptr || call.in == call.out) && !gives_nothing(call, size);
  const bool all_to_all = call.kind == Kind::alltoall;
  const void* in = in_place ? call.out : call.in;
  if (!all_to_all || !in_place) validate_blocks(name, "in_blocks", call, call.in_blocks, in, size);
  if (all_to_all) return validate_blocks(name, "out_blocks", call, call.out_blocks, call.out, size);
  if (call.op.combine == nullptr) throw Error("{}: no operator", name);
  if (call.out == nullptr && call.in_blocks.counts[rank] != 0)
    throw Error("{}: no output buffer on rank {}", name, rank);
}

}  // namespace

void validate(const Call& call, int rank, int size) {
  if (call.uneven()) return validate_uneven(call, rank, size);
  const auto name = to_string(call.kind);
  if (call.kind > Kind::barrier) {
    throw Error("{}: this kind is not called through a buffer (sum has its own call)", name);
  }
  const bool layouts = call.in_layout.whole() && call.out_layout.whole();
  const bool empty = call.kind == Kind::barrier || call.count == 0;
  if (in_range(call, rank, size) && (empty || layouts)) return;
  if (call.count < 0) throw Error("{}: negative count {}: pass 0 or more", name, call.count);
  if (has_root(call.kind) && (call.root < 0 || call.root >= size)) {
    throw Error("{}: root {} is not in 0..{}", name, call.root, size - 1);
  }
  constexpr std::int64_t most = std::int64_t{1} << 46;
  const std::int64_t element = static_cast<std::int64_t>(call.element);
  if (element < 1 || call.count > most / element / size) {
    throw Error("{}: {} elements of {} bytes on {} ranks do not fit in memory", name, call.count, element, size);
  }
  for (const Layout& layout : {call.in_layout, call.out_layout}) {
    if (layout.whole()) continue;
    throw Error("{}: the layout has {} and no {}: set both, or neither", name,
                layout.pack != nullptr ? "pack" : "unpack", layout.pack != nullptr ? "unpack" : "pack");
  }
  const unsigned lacks = lacking(call, rank);
  if ((lacks & kOp) != 0) throw Error("{}: no operator", name);
  throw Error("{}: no {} buffer on rank {}", name, (lacks & kOut) != 0 ? "output" : "input", rank);
}

void pack(const Layout& layout, std::size_t element, const void* from, std::size_t first, std::size_t count,
          void* packed) {
  if (count == 0) return;
  if (layout.pack != nullptr) return layout.pack(layout.context, from, first, count, packed);
  const auto* source = static_cast<const std::byte*>(from);
  auto* target = static_cast<std::byte*>(packed);
  if (layout.contiguous(element)) {
    std::memcpy(target, source + first * element, count * element);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(target + i * element, source + static_cast<std::ptrdiff_t>(first + i) * layout.stride, element);
  }
}

void unpack(const Layout& layout, std::size_t element, void* to, std::size_t first, std::size_t count,
            const void* packed) {
  if (count == 0) return;
  if (layout.unpack != nullptr) return layout.unpack(layout.context, to, first, count, packed);
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(packed);
  if (layout.contiguous(element)) {
    std::memcpy(target + first * element, source, count * element);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(target + static_cast<std::ptrdiff_t>(first + i) * layout.stride, source + i * element, element);
  }
}

}  // namespace chasqui::run
