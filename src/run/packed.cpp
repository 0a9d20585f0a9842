// SPDX-License-Identifier: MIT
#include "packed.hpp"

namespace chasqui::run {
namespace {

/// How many elements of user memory a rank's call reads or writes: the blocks of all ranks, or its own.
std::size_t extent(const Call& call, int size, bool all) {
  return static_cast<std::size_t>(call.count) * (all ? static_cast<std::size_t>(size) : 1);
}

bool reads_all(const Call& call, int rank) { return call.kind == Kind::scatter && rank == static_cast<int>(call.root); }
bool writes_all(const Call& call, int rank) {
  return call.kind == Kind::allgather || (call.kind == Kind::gather && rank == static_cast<int>(call.root));
}

}  // namespace

Packed::Packed(const Call& given, int rank, int size) : call(given), user(given) {
  if (user.layout.contiguous() || user.kind == Kind::barrier) return;
  call.layout = {.element = user.layout.element};
  const bool folds = user.kind == Kind::reduce || user.kind == Kind::allreduce || user.kind == Kind::scan;
  const bool in_place = user.in == nullptr || user.kind == Kind::broadcast || (folds && user.in == user.out);
  if (!in_place) {
    const std::size_t count = extent(user, size, reads_all(user, rank));
    in = room_for(count * user.layout.element);
    pack(user.layout, user.in, 0, count, in.data());
    call.in = in.data();
  } else {
    call.in = nullptr;
  }
  if (user.out != nullptr) {
    const std::size_t count = extent(user, size, writes_all(user, rank));
    out = room_for(count * user.layout.element);
    pack(user.layout, user.out, 0, count, out.data());
    call.out = out.data();
  }
}

void Packed::deliver(int rank, int size) const {
  if (out.size() != 0) unpack(user.layout, user.out, 0, extent(user, size, writes_all(user, rank)), out.data());
}

}  // namespace chasqui::run
