// SPDX-License-Identifier: MIT
#include "chasqui/run/call.hpp"

#include <cstring>

#include "chasqui/base/error.hpp"

namespace chasqui::run {

std::string_view to_string(Method method) {
  switch (method) {
    case Method::slots: return "slots";
    case Method::grouped_fold: return "grouped-fold";
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

void validate(const Call& call, int rank, int size) {
  if (acceptable(call, rank, size)) return;
  const auto name = to_string(call.kind);
  if (call.kind == Kind::alltoall || call.kind == Kind::reduce_scatter || call.kind > Kind::barrier) {
    throw Error("{}: this kind is not called through a buffer (sum has its own call)", name);
  }
  if (call.count < 0) throw Error("{}: negative count {}: pass 0 or more", name, call.count);
  if (has_root(call.kind) && (call.root < 0 || call.root >= size)) {
    throw Error("{}: root {} is not in 0..{}", name, call.root, size - 1);
  }
  constexpr std::int64_t most = std::int64_t{1} << 46;
  const std::int64_t element = static_cast<std::int64_t>(call.element);
  if (element < 1 || call.count > most / element / size) {
    throw Error("{}: {} elements of {} bytes on {} ranks do not fit in memory", name, call.count, element, size);
  }
  if (call.kind == Kind::barrier || call.count == 0) return;
  for (const Layout& layout : {call.in_layout, call.out_layout}) {
    if (layout.whole()) continue;
    throw Error("{}: the layout has {} and no {}: set both, or neither", name,
                layout.pack != nullptr ? "pack" : "unpack", layout.pack != nullptr ? "unpack" : "pack");
  }
  const bool at_root = has_root(call.kind) && rank == static_cast<int>(call.root);
  const bool needs_out = call.kind == Kind::broadcast || call.kind == Kind::allreduce || call.kind == Kind::scan ||
                         call.kind == Kind::allgather || (call.kind == Kind::scatter && !at_root) ||
                         ((call.kind == Kind::reduce || call.kind == Kind::gather) && at_root);
  if (needs_out && call.out == nullptr) throw Error("{}: no output buffer on rank {}", name, rank);
  const bool needs_in =
      (call.kind == Kind::scatter && at_root) || ((call.kind == Kind::reduce || call.kind == Kind::gather) && !at_root);
  if (needs_in && call.in == nullptr) throw Error("{}: no input buffer on rank {}", name, rank);
  if ((call.kind == Kind::reduce || call.kind == Kind::allreduce || call.kind == Kind::scan) &&
      call.op.combine == nullptr) {
    throw Error("{}: no operator", name);
  }
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
