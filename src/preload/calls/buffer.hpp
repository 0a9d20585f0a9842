// SPDX-License-Identifier: MIT
// The arguments of a collective as one side of a call, and what a look at them says. Data travels as bytes in the order of
// the type map, so ranks may describe the same data with different types; derived types are packed by the call's layout.
#pragma once

#include <cstddef>

#include "preload/serve.hpp"

namespace chasqui::preload {

inline constexpr std::size_t kMostMoved = std::size_t{1} << 28;  ///< bytes of all blocks together

inline constexpr auto nothing = [](ServedCall&) {};

/// Blocks of `count` elements each, one after another, in the program's memory.
struct BufferArgument {
  void* where;
  MPI_Aint count;
  TypePacker packer;
  std::size_t unit = 1;  ///< bytes of an element of the call

  BufferArgument(const void* where_, MPI_Aint count_, TypePacker packer_)
      : where(const_cast<void*>(where_)), count(count_), packer(packer_) {}
  BufferArgument(const void* where_, MPI_Aint count_, MPI_Datatype type)
      : BufferArgument(where_, count_, TypePacker{type, facts_of(type)}) {}

  std::size_t bytes() const { return static_cast<std::size_t>(count) * packer.facts.size; }
  bool good() const {
    return count >= 0 && packer.facts.valid && where != MPI_IN_PLACE &&
           !(where == nullptr && packer.facts.dense && bytes() != 0);
  }
  run::Layout layout() {
    return {.pack =
                [](void* self, const void*, std::size_t first, std::size_t n, void* packed) {
                  const auto& it = *static_cast<const BufferArgument*>(self);
                  it.packer.pack(it.at(first), it.elements(n), packed);
                },
            .unpack =
                [](void* self, void*, std::size_t first, std::size_t n, const void* packed) {
                  const auto& it = *static_cast<const BufferArgument*>(self);
                  it.packer.unpack(it.at(first), it.elements(n), packed);
                },
            .context = this};
  }

 private:
  MPI_Aint elements(std::size_t n) const { return static_cast<MPI_Aint>(n * unit / packer.facts.size); }
  void* at(std::size_t first) const { return moved(where, elements(first) * packer.facts.extent); }
};

inline bool negative(const Numbers& counts, int ranks) {
  for (int r = 0; r < ranks; ++r) {
    if (counts[r] < 0) return true;
  }
  return false;
}

/// The buffer as input or output: as bytes where they lie, or packed. It must stay in place while the call runs. Its
/// address stands for data with gaps, which may well lie at absolute addresses from nullptr on.
inline void read_from(run::Call& call, BufferArgument& buffer) {
  buffer.unit = call.element;
  call.in = buffer.packer.facts.dense ? buffer.where : &buffer;
  if (!buffer.packer.facts.dense) call.in_layout = buffer.layout();
}
inline void write_to(run::Call& call, BufferArgument& buffer) {
  buffer.unit = call.element;
  call.out = buffer.packer.facts.dense ? buffer.where : &buffer;
  if (!buffer.packer.facts.dense) call.out_layout = buffer.layout();
}

inline bool overlap_is_an_error(const void* a, const void* b, std::size_t bytes) {
#ifdef MPICH
  return a == b && bytes != 0;
#else
  return static_cast<void>(a), static_cast<void>(b), static_cast<void>(bytes), false;
#endif
}

inline CallFacts movement_of(Kind kind, std::size_t bytes, int ranks) {
  CallFacts facts;
  facts.bytes = bytes;
  facts.shape.kind = kind;
  if (bytes == 0) facts.reason = Reason::empty;
  if (bytes > kMostMoved / static_cast<std::size_t>(ranks)) facts.reason = Reason::too_long;
  return facts;
}

inline CallFacts bad() {
  CallFacts facts;
  facts.reason = Reason::argument;
  return facts;
}

inline void returns(CallFacts& facts, const BufferArgument& buffer, int blocks) {
  facts.output = {.where = buffer.where, .count = buffer.count * blocks, .type = buffer.packer.type};
}

inline run::Call call_of(Kind kind, std::size_t bytes, int root) {
  run::Call call;
  call.kind = kind;
  call.count = static_cast<std::int64_t>(bytes);
  call.root = root;
  return call;
}

}  // namespace chasqui::preload
